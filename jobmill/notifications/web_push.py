"""Messages for the push service of a browser: encrypted (RFC 8291) and signed (VAPID, RFC 8292)."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import hmac
import json
import os
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from jobmill.errors import Invalid

CURVE = ec.SECP256R1()
RECORD_SIZE = 4096
TTL = dt.timedelta(days=1)
"""How long the service keeps a message for a browser that is not running."""
TOKEN_LIFETIME = dt.timedelta(hours=12)


def make_key() -> bytes:
    """A new signing key, as it is stored."""
    return ec.generate_private_key(CURVE).private_bytes(
        serialization.Encoding.DER,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def public_key(stored: bytes) -> str:
    """The key that browsers subscribe with."""
    return _encode(_point(_load(stored).public_key()))


def check_subscription(p256dh: str, auth: str) -> None:
    """Invalid if no message could be encrypted for this subscription."""
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(CURVE, _decode(p256dh))
        if len(_decode(auth)) == 16:
            return
    except (ValueError, binascii.Error):
        pass
    raise Invalid("The browser sent an incomplete subscription. Reload the page and try again.")


def encrypt(
    payload: bytes,
    p256dh: str,
    auth: str,
    *,
    salt: bytes | None = None,
    sender: ec.EllipticCurvePrivateKey | None = None,
) -> bytes:
    """Encrypt a message for one browser; `salt` and `sender` are new for each message."""
    salt, sender = salt or os.urandom(16), sender or ec.generate_private_key(CURVE)
    receiver_point, sender_point = _decode(p256dh), _point(sender.public_key())
    receiver = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, receiver_point)
    shared = hmac.digest(_decode(auth), sender.exchange(ec.ECDH(), receiver), "sha256")
    info = b"WebPush: info\0" + receiver_point + sender_point
    key = hmac.digest(salt, hmac.digest(shared, info + b"\1", "sha256"), "sha256")
    content_key = hmac.digest(key, b"Content-Encoding: aes128gcm\0\1", "sha256")[:16]
    nonce = hmac.digest(key, b"Content-Encoding: nonce\0\1", "sha256")[:12]
    header = salt + RECORD_SIZE.to_bytes(4, "big") + bytes([len(sender_point)]) + sender_point
    # 2 marks the last record.
    return header + AESGCM(content_key).encrypt(nonce, payload + b"\2", None)


def make_headers(
    endpoint: str, stored: bytes, contact: str, topic: str, at: dt.datetime
) -> list[tuple[str, str]]:
    """`topic`: of two messages with the same topic, a browser that was not running gets one."""
    token = _sign(
        stored,
        {
            "aud": "{0.scheme}://{0.netloc}".format(urlsplit(endpoint)),
            "exp": int((at + TOKEN_LIFETIME).timestamp()),
            "sub": contact,
        },
    )
    return [
        ("Authorization", f"vapid t={token}, k={public_key(stored)}"),
        ("Content-Encoding", "aes128gcm"),
        ("Content-Type", "application/octet-stream"),
        ("TTL", str(int(TTL.total_seconds()))),
        ("Topic", topic),
    ]


def _sign(stored: bytes, claims: dict[str, str | int]) -> str:
    parts = [{"typ": "JWT", "alg": "ES256"}, claims]
    signed = ".".join(_encode(json.dumps(part).encode()) for part in parts)
    signature = _load(stored).sign(signed.encode(), ec.ECDSA(hashes.SHA256()))
    numbers = b"".join(number.to_bytes(32, "big") for number in decode_dss_signature(signature))
    return f"{signed}.{_encode(numbers)}"


def _load(stored: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_der_private_key(stored, None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
    )


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
