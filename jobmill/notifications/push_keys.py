"""The key that signs requests to the push services of browsers; one per installation."""

from __future__ import annotations

from jobmill.db import Tx, fetch_value
from jobmill.notifications import web_push
from jobmill.people import encryption
from jobmill.people.secrets import get_signing_key

CONTEXT = "web push key"


async def get_push_key(tx: Tx) -> bytes:
    """The key, created at the first call. Subscriptions of browsers are bound to it."""
    signing_key = await get_signing_key(tx)
    encrypted = await _find(tx)
    if encrypted is None:
        # Of two concurrent transactions, the second waits and uses the key of the first.
        await tx.execute(
            "INSERT INTO notification.push_key (encrypted) VALUES (%s) ON CONFLICT DO NOTHING",
            [encryption.encrypt(signing_key, CONTEXT, web_push.make_key())],
        )
        encrypted = await _find(tx)
    assert encrypted is not None
    return encryption.decrypt(signing_key, CONTEXT, encrypted)


async def _find(tx: Tx) -> bytes | None:
    return await fetch_value(tx, bytes, "SELECT encrypted FROM notification.push_key")
