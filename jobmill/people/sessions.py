"""Sessions of signed-in people, stored as rows so that they can be listed and ended."""

from __future__ import annotations

import datetime as dt
import secrets
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.errors import NotFound, Unauthenticated
from jobmill.people import persons
from jobmill.people.devices import describe_device
from jobmill.people.persons import Person, Role, StoredCredentials
from jobmill.people.secrets import digest

SESSION_LIFETIME = dt.timedelta(days=14)
IDLE_LIFETIME = dt.timedelta(hours=24)
"""The default of the setting `session_idle_hours`."""
PASSWORD_LIFETIME = dt.timedelta(minutes=10)
"""How long after entering the password a person may do what needs it."""
MAX_USER_AGENT_LENGTH = 400


@dataclass(frozen=True, slots=True)
class Session:
    person_id: int
    name: str
    role: Role
    is_confirmed: bool
    """Whether the password was entered a short time ago."""
    stale: bool


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session that has not expired."""

    id: int
    person_id: int
    created_at: dt.datetime
    used_at: dt.datetime
    """To the minute."""
    expires_at: dt.datetime
    user_agent: str
    address: str
    is_current: bool
    """Whether this is the caller's own session."""

    @property
    def device(self) -> str:
        return describe_device(self.user_agent)


async def create(
    tx: Tx, person: StoredCredentials, *, user_agent: str = "", address: str = ""
) -> str:
    """Create a session and return its key, which is not stored in plain form; refused if the
    account changed in the meantime."""
    key = secrets.token_urlsafe(32)
    cursor = await tx.execute(
        """
        INSERT INTO people.session (digest, person_id, expires_at, user_agent, address)
        SELECT %s, id, now() + %s, %s, %s FROM people.person
         WHERE id = %s AND password = %s AND ended_at IS NULL
           FOR SHARE
        """,
        [
            digest(key),
            SESSION_LIFETIME,
            user_agent[:MAX_USER_AGENT_LENGTH],
            address,
            person.id,
            person.password,
        ],
    )
    if cursor.rowcount == 0:
        raise Unauthenticated("This account has just changed. Sign in again.")
    return key


async def create_after_password_change(
    tx: Tx, person: Person, *, user_agent: str = "", address: str = ""
) -> str:
    """Create a session in the transaction that changes the password."""
    credentials = await persons.find_credentials(tx, person.email)
    if credentials is None:
        raise NotFound("person", person.email)
    return await create(tx, credentials, user_agent=user_agent, address=address)


async def find(
    tx: Tx, key: str, *, idle: dt.timedelta = IDLE_LIFETIME, note_use: bool = True
) -> Session | None:
    """The person of a session, with the current role. `note_use`: whether a person asks, and not a
    page that reloads a part of itself."""
    session = await fetch_one(
        tx,
        Session,
        """
        SELECT person.id AS person_id, person.name, person.role,
               session.authenticated_at > now() - %(confirmed)s AS is_confirmed,
               session.used_at < now() - interval '1 minute' AS stale
          FROM people.session JOIN people.person ON person.id = session.person_id
         WHERE session.digest = %(digest)s AND session.expires_at > now() AND person.ended_at IS NULL
           AND session.used_at > now() - %(idle)s
        """,
        {"digest": digest(key), "idle": idle, "confirmed": PASSWORD_LIFETIME},
    )
    if session and session.stale and note_use:
        await _note_use(tx, key)
    return session


async def _note_use(tx: Tx, key: str) -> None:
    """Record the use; concurrent requests skip the row instead of waiting."""
    await tx.execute(
        """
        UPDATE people.session SET used_at = now()
         WHERE digest = (SELECT digest FROM people.session WHERE digest = %s
                            FOR NO KEY UPDATE SKIP LOCKED)
        """,
        [digest(key)],
    )


async def lock(tx: Tx, key: str) -> None:
    """Unauthenticated if the session has ended; otherwise ending it waits for this transaction."""
    active = await fetch_value(
        tx, bool, "SELECT true FROM people.session WHERE digest = %s FOR SHARE", [digest(key)]
    )
    if not active:
        raise Unauthenticated("You were signed out. Sign in again.")


async def confirm_password(tx: Tx, key: str) -> None:
    """Record that the person has just entered their password again."""
    await tx.execute(
        "UPDATE people.session SET authenticated_at = now() WHERE digest = %s", [digest(key)]
    )


async def delete(tx: Tx, key: str) -> None:
    await tx.execute("DELETE FROM people.session WHERE digest = %s", [digest(key)])


async def find_open(
    tx: Tx,
    person_id: int | None = None,
    current_key: str = "",
    *,
    idle: dt.timedelta = IDLE_LIFETIME,
) -> list[OpenSession]:
    """Sessions of one person or all, last used first. `current_key`: the caller's session."""
    return await fetch_all(
        tx,
        OpenSession,
        """
        SELECT id, person_id, created_at, used_at, least(expires_at, used_at + %(idle)s) AS expires_at,
               user_agent, address, digest = %(current)s AS is_current
          FROM people.session
         WHERE expires_at > now() AND used_at > now() - %(idle)s
           AND (%(id)s::bigint IS NULL OR person_id = %(id)s)
         ORDER BY digest = %(current)s DESC, used_at DESC, id DESC
        """,
        {"current": digest(current_key), "id": person_id, "idle": idle},
    )


async def delete_one(tx: Tx, person_id: int, id: int) -> None:
    """End one session of a person; has no effect if it has ended or is another person's."""
    await tx.execute("DELETE FROM people.session WHERE person_id = %s AND id = %s", [person_id, id])


async def delete_all(tx: Tx, person_id: int, except_key: str = "") -> int:
    """End all sessions of a person except one."""
    cursor = await tx.execute(
        "DELETE FROM people.session WHERE person_id = %s AND digest <> %s",
        [person_id, digest(except_key)],
    )
    return cursor.rowcount


async def prune(tx: Tx) -> int:
    """Delete expired sessions."""
    cursor = await tx.execute("DELETE FROM people.session WHERE expires_at <= now()")
    return cursor.rowcount
