"""Signed links that switch off the letters to one address, without a sign-in."""

from __future__ import annotations

import hashlib
import re

from itsdangerous import BadData, URLSafeSerializer

from jobmill.errors import Invalid

TOKEN = re.compile(r"[A-Za-z0-9_.-]{20,200}")
SALT = "jobmill unsubscribe link"


def sign_link(signing_key: bytes, channel_id: int) -> str:
    return _serializer(signing_key).dumps([channel_id])


def read_link(signing_key: bytes, token: str) -> int:
    """The id of the channel; Invalid if the link is not complete."""
    try:
        # Checked first: the base64 decoder would ignore foreign characters.
        if TOKEN.fullmatch(token):
            [channel_id] = _serializer(signing_key).loads(token)
            return int(channel_id)
    except (BadData, ValueError):
        pass
    raise Invalid("This link is not valid. Copy the complete link from the message.")


def _serializer(signing_key: bytes) -> URLSafeSerializer:
    return URLSafeSerializer(
        signing_key,
        salt=SALT,
        signer_kwargs={"key_derivation": "hmac", "digest_method": hashlib.sha256},
    )
