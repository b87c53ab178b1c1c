"""Sessions of signed-in people, stored as rows so that they can be ended."""

from __future__ import annotations

import datetime as dt
import secrets
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all, fetch_one
from jobmill.errors import NotFound, Unauthenticated
from jobmill.people import persons
from jobmill.people.persons import Person, Role, StoredCredentials
from jobmill.people.secrets import digest

SESSION_LIFETIME = dt.timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Session:
    person_id: int
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session that has not expired."""

    person_id: int
    created_at: dt.datetime
    expires_at: dt.datetime
    is_current: bool
    """Whether this is the caller's own session."""


async def create(tx: Tx, person: StoredCredentials) -> str:
    """Create a session and return its id, which is not stored in plain form; refused if the
    account changed in the meantime."""
    id = secrets.token_urlsafe(32)
    cursor = await tx.execute(
        """
        INSERT INTO people.session (digest, person_id, expires_at)
        SELECT %s, id, now() + %s FROM people.person
         WHERE id = %s AND password = %s AND ended_at IS NULL
           FOR SHARE
        """,
        [digest(id), SESSION_LIFETIME, person.id, person.password],
    )
    if cursor.rowcount == 0:
        raise Unauthenticated("This account has just changed. Sign in again.")
    return id


async def create_after_password_change(tx: Tx, person: Person) -> str:
    """Create a session in the transaction that changes the password."""
    credentials = await persons.find_credentials(tx, person.email)
    if credentials is None:
        raise NotFound("person", person.email)
    return await create(tx, credentials)


async def find(tx: Tx, id: str) -> Session | None:
    """The person of a session, with the current role."""
    return await fetch_one(
        tx,
        Session,
        """
        SELECT person.id AS person_id, person.name, person.role
          FROM people.session JOIN people.person ON person.id = session.person_id
         WHERE session.digest = %s AND session.expires_at > now() AND person.ended_at IS NULL
        """,
        [digest(id)],
    )


async def delete(tx: Tx, id: str) -> None:
    await tx.execute("DELETE FROM people.session WHERE digest = %s", [digest(id)])


async def find_open(
    tx: Tx, person_id: int | None = None, current_id: str = ""
) -> list[OpenSession]:
    """Sessions of one person or all, newest first. `current_id`: the caller's session."""
    return await fetch_all(
        tx,
        OpenSession,
        """
        SELECT person_id, created_at, expires_at, digest = %(current)s AS is_current FROM people.session
         WHERE expires_at > now() AND (%(id)s::bigint IS NULL OR person_id = %(id)s)
         ORDER BY created_at DESC
        """,
        {"current": digest(current_id), "id": person_id},
    )


async def delete_all(tx: Tx, person_id: int, except_id: str = "") -> int:
    """End all sessions of a person except one."""
    cursor = await tx.execute(
        "DELETE FROM people.session WHERE person_id = %s AND digest <> %s",
        [person_id, digest(except_id)],
    )
    return cursor.rowcount


async def prune(tx: Tx) -> int:
    """Delete expired sessions."""
    cursor = await tx.execute("DELETE FROM people.session WHERE expires_at <= now()")
    return cursor.rowcount
