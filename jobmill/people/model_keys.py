"""API keys of language models that an admin pasted; encrypted, and never shown again."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag

from jobmill.db import Tx, fetch_all
from jobmill.errors import Invalid, NotFound
from jobmill.people import encryption
from jobmill.people.secrets import get_signing_key

log = logging.getLogger(__name__)

MAX_LENGTH = 500


@dataclass(frozen=True, slots=True)
class StoredModelKey:
    variable: str
    """The environment variable that it stands in for."""
    changed_at: dt.datetime
    encrypted: bytes = field(repr=False)


async def find_all(tx: Tx) -> list[StoredModelKey]:
    return await fetch_all(
        tx,
        StoredModelKey,
        "SELECT variable, changed_at, encrypted FROM people.model_key ORDER BY variable",
    )


async def with_stored_keys(tx: Tx, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment, with stored keys in place of variables that are not set."""
    merged = dict(environ)
    for stored in await find_all(tx):
        if not environ.get(stored.variable, "").strip():
            merged[stored.variable] = await _decrypt(tx, stored)
    return merged


async def _decrypt(tx: Tx, stored: StoredModelKey) -> str:
    try:
        return encryption.decrypt(
            await get_signing_key(tx), _context(stored.variable), stored.encrypted
        ).decode()
    except InvalidTag:
        # It was encrypted with another signing key, as after a partial restore.
        log.warning("stored model key cannot be read", extra={"variable": stored.variable})
        return ""


def _context(variable: str) -> str:
    return f"model key {variable}"


async def save(tx: Tx, variable: str, key: str) -> None:
    """Store a key, or replace the stored one."""
    key = key.strip()
    if not key:
        raise Invalid("Paste the API key.")
    if len(key) > MAX_LENGTH or not key.isascii() or not key.isprintable() or " " in key:
        raise Invalid("This is not an API key. Copy it again, without spaces or line breaks.")
    encrypted = encryption.encrypt(await get_signing_key(tx), _context(variable), key.encode())
    await tx.execute(
        """
        INSERT INTO people.model_key (variable, encrypted) VALUES (%s, %s)
        ON CONFLICT (variable) DO UPDATE SET encrypted = excluded.encrypted, changed_at = now()
        """,
        [variable, encrypted],
    )


async def remove(tx: Tx, variable: str) -> None:
    cursor = await tx.execute("DELETE FROM people.model_key WHERE variable = %s", [variable])
    if not cursor.rowcount:
        raise NotFound("model key", variable)
