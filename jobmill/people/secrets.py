"""What personal links are signed with, and how other secrets are kept."""

from __future__ import annotations

import hashlib
import os

from jobmill.db import Tx, fetch_value

BYTES = 32


async def get_signing_key(tx: Tx) -> bytes:
    """The one secret of all hosts, made when it is first asked for."""
    found = await _find(tx)
    if found is None:
        await _make(tx)
        found = await _find(tx)
    assert found is not None
    return found


async def _find(tx: Tx) -> bytes | None:
    return await fetch_value(tx, bytes, "SELECT key FROM people.secret")


async def _make(tx: Tx) -> None:
    """Of two who make it at once, the second waits, and keeps what the first has made."""
    await tx.execute(
        "INSERT INTO people.secret (key) VALUES (%s) ON CONFLICT DO NOTHING", [os.urandom(BYTES)]
    )


def digest(secret: str) -> bytes:
    """What is kept of a secret that is long and random: whoever reads it cannot use it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
