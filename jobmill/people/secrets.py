"""The key that signs personal links, and digests of other secrets."""

from __future__ import annotations

import hashlib
import os

from jobmill.db import Tx, fetch_value

BYTES = 32


async def get_signing_key(tx: Tx) -> bytes:
    """The signing key of this installation, created at the first call."""
    key = await _find(tx)
    if key is None:
        await _make(tx)
        key = await _find(tx)
    assert key is not None
    return key


async def _find(tx: Tx) -> bytes | None:
    return await fetch_value(tx, bytes, "SELECT key FROM people.secret")


async def _make(tx: Tx) -> None:
    """Of two concurrent transactions, the second waits and uses the key of the first."""
    await tx.execute(
        "INSERT INTO people.secret (key) VALUES (%s) ON CONFLICT DO NOTHING", [os.urandom(BYTES)]
    )


def digest(secret: str) -> bytes:
    """The stored form of a long random secret; the secret cannot be derived from it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
