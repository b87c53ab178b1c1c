"""API keys for programs: each has a scope, and usually an owner and an expiry."""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, LiteralString

from jobmill.db import Tx, fetch_all, fetch_one, fetch_or_raise, fetch_single, fetch_value
from jobmill.errors import Invalid, NotFound, Unauthenticated
from jobmill.people.persons import Role
from jobmill.people.secrets import digest

PREFIX = "jm_"
DEFAULT_LIFETIME = dt.timedelta(days=365)

Scope = Literal["metrics", "read", "search", "hiring", "admin"]


@dataclass(frozen=True, slots=True)
class ApiKey:
    id: int
    name: str
    scope: Scope
    owner: str | None
    """The name of the person; None: the key belongs to the installation."""
    created_at: dt.datetime
    used_at: dt.datetime | None
    """To the minute."""
    expires_at: dt.datetime | None
    ended_at: dt.datetime | None
    is_active: bool


@dataclass(frozen=True, slots=True)
class NewApiKey:
    id: int
    name: str
    scope: Scope
    expires_at: dt.datetime | None
    key: str
    """Shown once: only its digest is stored."""


@dataclass(frozen=True, slots=True)
class KeyHolder:
    id: int
    name: str
    scope: Scope
    owner_id: int | None
    owner_role: Role | None
    """The owner's current role, which limits the key; None: no owner."""
    stale: bool


async def add(
    tx: Tx,
    name: str,
    scope: Scope,
    *,
    owner_id: int | None = None,
    lifetime: dt.timedelta | None = DEFAULT_LIFETIME,
) -> NewApiKey:
    """Create a key; NotFound if the owner has no access. `lifetime`: None for a key without expiry."""
    if not name.strip():
        raise Invalid("Enter a name that says what the key is for.")
    if owner_id is not None:
        await _lock_owner(tx, owner_id)
    key = PREFIX + secrets.token_urlsafe(32)
    return await fetch_single(
        tx,
        NewApiKey,
        """
        INSERT INTO people.api_key (name, scope, owner_id, expires_at, digest)
        VALUES (%s, %s, %s, now() + %s, %s)
        RETURNING id, name, scope, expires_at, %s::text AS key
        """,
        [name.strip(), scope, owner_id, lifetime, digest(key), key],
    )


async def _lock_owner(tx: Tx, id: int) -> None:
    """Removing the owner's access at the same time waits, and then ends the new key too."""
    active = await fetch_value(
        tx,
        bool,
        "SELECT true FROM people.person WHERE id = %s AND ended_at IS NULL FOR SHARE",
        [id],
    )
    if not active:
        raise NotFound("person", id)


API_KEYS: LiteralString = """
    SELECT api_key.id, api_key.name, scope, owner.name AS owner, api_key.created_at, used_at,
           expires_at, api_key.ended_at,
           api_key.ended_at IS NULL AND coalesce(expires_at > now(), true) AS is_active
      FROM people.api_key LEFT JOIN people.person AS owner ON owner.id = owner_id
"""


async def find_all(tx: Tx) -> list[ApiKey]:
    """All keys, including revoked and expired ones."""
    return await fetch_all(tx, ApiKey, f"{API_KEYS} ORDER BY api_key.id")


async def find_active_of(tx: Tx, owner_id: int) -> list[ApiKey]:
    """The keys of a person that can be used."""
    return await fetch_all(
        tx,
        ApiKey,
        f"""
        {API_KEYS}
         WHERE owner_id = %s AND api_key.ended_at IS NULL AND coalesce(expires_at > now(), true)
         ORDER BY api_key.id
        """,
        [owner_id],
    )


async def get(tx: Tx, id: int) -> ApiKey:
    """Return one key, also if revoked; raises NotFound."""
    return await fetch_or_raise(
        tx, ApiKey, f"{API_KEYS} WHERE api_key.id = %s", [id], NotFound("key", id)
    )


async def find_names(tx: Tx, ids: Collection[int]) -> dict[int, str]:
    """The names of keys, also of revoked ones, by id."""
    cursor = await tx.execute(
        "SELECT id, name FROM people.api_key WHERE id = ANY (%s)", [list(ids)]
    )
    return dict(await cursor.fetchall())


async def find_holder(tx: Tx, key: str) -> KeyHolder | None:
    """The holder of a key that is not revoked, expired or of a person without access; records the
    use."""
    holder = await fetch_one(
        tx,
        KeyHolder,
        """
        SELECT api_key.id, api_key.name, scope, owner_id, owner.role AS owner_role,
               used_at IS NULL OR used_at < now() - interval '1 minute' AS stale
          FROM people.api_key LEFT JOIN people.person AS owner ON owner.id = owner_id
         WHERE digest = %s AND api_key.ended_at IS NULL AND coalesce(expires_at > now(), true)
           AND owner.ended_at IS NULL
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


async def lock(tx: Tx, id: int) -> None:
    """Unauthenticated if the key has ended; otherwise revoking it waits for this transaction."""
    active = await fetch_value(
        tx,
        bool,
        "SELECT true FROM people.api_key WHERE id = %s AND ended_at IS NULL FOR SHARE",
        [id],
    )
    if not active:
        raise Unauthenticated("This API key was revoked.")


async def revoke(tx: Tx, id: int) -> ApiKey:
    """Revoke a key; revoking it again has no effect."""
    await tx.execute(
        "UPDATE people.api_key SET ended_at = coalesce(ended_at, now()) WHERE id = %s", [id]
    )
    return await get(tx, id)
