"""Messages to browsers: encrypted for one of them, signed by this installation."""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import hmac
import json

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from jobmill.db import Database
from jobmill.notifications import push_keys, web_push
from jobmill.notifications.channel_requests import build_request
from jobmill.notifications.deliveries import OutgoingNotification
from jobmill.notifications.messages import EventLine, Message
from jobmill.settings import Settings
from tests.notifications.helpers import Notifier, add_channel, add_event, states
from tests.outside.site import open_site, reply

CURVE = ec.SECP256R1()


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
    )


def decrypt(body: bytes, key: ec.EllipticCurvePrivateKey, auth: bytes) -> bytes:
    """As a browser does it."""
    salt, sender, encrypted = body[:16], body[21:86], body[86:]
    public = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender)
    shared = hmac.digest(auth, key.exchange(ec.ECDH(), public), "sha256")
    info = b"WebPush: info\0" + point(key.public_key()) + sender + b"\1"
    secret = hmac.digest(salt, hmac.digest(shared, info, "sha256"), "sha256")
    content_key = hmac.digest(secret, b"Content-Encoding: aes128gcm\0\1", "sha256")[:16]
    nonce = hmac.digest(secret, b"Content-Encoding: nonce\0\1", "sha256")[:12]
    return AESGCM(content_key).decrypt(nonce, encrypted, None).removesuffix(b"\2")


def test_the_example_of_rfc_8291() -> None:
    number = int.from_bytes(decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), "big")
    body = web_push.encrypt(
        b"When I grow up, I want to be a watermelon",
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "BTBZMqHH6r4Tts7J_aSIgg",
        salt=decode("DGv6ra1nlYgDCS1FRnbzlw"),
        sender=ec.derive_private_key(number, CURVE),
    )
    assert encode(body) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS"
        "6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qu"
        "lcy4a-fN"
    )


async def test_a_browser_reads_its_message_and_its_service_checks_the_signature(
    database: Database,
) -> None:
    browser, auth = ec.generate_private_key(CURVE), b"sixteen bytes ok"
    async with open_site() as service:
        service.on("/1", reply(b"", status=201))
        settings = Settings.model_validate(
            {
                "host_overrides": {"push.example": service.place},
                "public_url": "https://jobs.example",
            }
        )
        async with database.transaction() as tx:
            await add_channel(
                tx,
                "push",
                settings=settings,
                endpoint="https://push.example/1",
                p256dh=encode(point(browser.public_key())),
                auth=encode(auth),
            )
            await add_event(tx)
        await Notifier(database, settings).send()
        [request] = service.requests_to("/1")
    assert [state for _, state, _ in await states(database)] == ["sent"]
    message = json.loads(decrypt(request.body, browser, auth))
    assert message["title"] == "Work queue alert: 12 items"
    assert message["url"] == "https://jobs.example/activity"
    assert message["tag"] == request.headers["topic"]
    token, key = request.headers["authorization"].removeprefix("vapid t=").split(", k=")
    head, claims, signature = token.split(".")
    assert json.loads(decode(claims))["aud"] == "https://push.example"
    numbers = [
        int.from_bytes(part, "big") for part in (decode(signature)[:32], decode(signature)[32:])
    ]
    ec.EllipticCurvePublicKey.from_encoded_point(CURVE, decode(key)).verify(
        encode_dss_signature(*numbers), f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256())
    )


def test_a_message_in_any_script_fits_into_what_services_must_take() -> None:
    browser, at = ec.generate_private_key(CURVE), dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    delivery = OutgoingNotification(
        1, 1, "push", "key", "daily", "queued", at, None, None, "admin", True, at, b""
    )
    config = {
        "endpoint": "https://push.example/1",
        "p256dh": encode(point(browser.public_key())),
        "auth": encode(b"sixteen bytes ok"),
    }
    message = Message("🧰" * 300, [EventLine("alert", "🧰" * 200, "", "/activity")] * 5)
    request = build_request(delivery, config, message, "https://x.example", web_push.make_key())
    assert len(request.body) <= 4096


async def test_two_processes_use_one_key(database: Database) -> None:
    async def read() -> bytes:
        async with database.transaction() as tx:
            return await push_keys.get_push_key(tx)

    assert len(set(await asyncio.gather(*(read() for _ in range(5))))) == 1
