"""API keys for programs."""

from __future__ import annotations

import datetime as dt
import secrets
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all, fetch_one
from jobmill.errors import Invalid, NotFound
from jobmill.people.persons import Role
from jobmill.people.secrets import digest

PREFIX = "jm_"


@dataclass(frozen=True, slots=True)
class ApiKey:
    id: int
    name: str
    role: Role
    created_at: dt.datetime
    used_at: dt.datetime | None
    """To the minute."""
    ended_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class NewApiKey:
    id: int
    name: str
    role: Role
    key: str
    """Shown once: only its digest is stored."""


@dataclass(frozen=True, slots=True)
class KeyHolder:
    id: int
    name: str
    role: Role
    stale: bool


async def add(tx: Tx, name: str, role: Role) -> NewApiKey:
    if not name.strip():
        raise Invalid("Enter a name that says what the key is for.")
    key = PREFIX + secrets.token_urlsafe(32)
    made = await fetch_one(
        tx,
        NewApiKey,
        """
        INSERT INTO people.api_key (name, role, digest) VALUES (%s, %s, %s)
        RETURNING id, name, role, %s::text AS key
        """,
        [name.strip(), role, digest(key), key],
    )
    assert made is not None
    return made


async def find_all(tx: Tx) -> list[ApiKey]:
    """All keys, including revoked ones."""
    return await fetch_all(
        tx,
        ApiKey,
        "SELECT id, name, role, created_at, used_at, ended_at FROM people.api_key ORDER BY id",
    )


async def get(tx: Tx, id: int) -> ApiKey:
    """Return one key, also if revoked; raises NotFound."""
    key = await fetch_one(
        tx,
        ApiKey,
        "SELECT id, name, role, created_at, used_at, ended_at FROM people.api_key WHERE id = %s",
        [id],
    )
    if key is None:
        raise NotFound("key", id)
    return key


async def find_holder(tx: Tx, key: str) -> KeyHolder | None:
    """The holder of a key that is not revoked; records the use."""
    holder = await fetch_one(
        tx,
        KeyHolder,
        """
        SELECT id, name, role,
               used_at IS NULL OR used_at < now() - interval '1 minute' AS stale
          FROM people.api_key
         WHERE digest = %s AND ended_at IS NULL
        """,
        [digest(key)],
    )
    if holder and holder.stale:
        await _note_use(tx, holder.id)
    return holder


async def _note_use(tx: Tx, id: int) -> None:
    """Record the use; concurrent requests skip the row instead of waiting."""
    await tx.execute(
        """
        UPDATE people.api_key SET used_at = now()
         WHERE id = (SELECT id FROM people.api_key
                      WHERE id = %s AND (used_at IS NULL OR used_at < now() - interval '1 minute')
                        FOR NO KEY UPDATE SKIP LOCKED)
        """,
        [id],
    )


async def revoke(tx: Tx, id: int) -> ApiKey:
    """Revoke a key; revoking it again has no effect."""
    ended = await fetch_one(
        tx,
        ApiKey,
        """
        UPDATE people.api_key SET ended_at = coalesce(ended_at, now()) WHERE id = %s
        RETURNING id, name, role, created_at, used_at, ended_at
        """,
        [id],
    )
    if ended is None:
        raise NotFound("key", id)
    return ended
