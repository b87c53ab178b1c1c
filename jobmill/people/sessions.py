"""Who is signed in: rows, so that a session can be ended from here."""

from __future__ import annotations

import datetime as dt
import secrets
from dataclasses import dataclass

from jobmill.db import Tx, row
from jobmill.errors import Unauthenticated
from jobmill.people.persons import Known, Role
from jobmill.people.secrets import digest

LASTS = dt.timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Session:
    person_id: int
    name: str
    role: Role


async def begin(tx: Tx, person: Known) -> str:
    """The id of a new session, which is kept nowhere else; refused if they ended meanwhile."""
    id = secrets.token_urlsafe(32)
    cursor = await tx.execute(
        """
        INSERT INTO people.session (digest, person_id, expires_at)
        SELECT %s, id, now() + %s FROM people.person
         WHERE id = %s AND password = %s AND ended_at IS NULL
           FOR SHARE
        """,
        [digest(id), LASTS, person.id, person.password],
    )
    if cursor.rowcount == 0:
        raise Unauthenticated("This account has just changed. Sign in again.")
    return id


async def find(tx: Tx, id: str) -> Session | None:
    """Whose session this is, with the role they have now."""
    return await row(
        tx,
        Session,
        """
        SELECT person.id AS person_id, person.name, person.role
          FROM people.session JOIN people.person ON person.id = session.person_id
         WHERE session.digest = %s AND session.expires_at > now() AND person.ended_at IS NULL
        """,
        [digest(id)],
    )


async def end(tx: Tx, id: str) -> None:
    await tx.execute("DELETE FROM people.session WHERE digest = %s", [digest(id)])


async def prune(tx: Tx) -> int:
    """Forget those that expired."""
    cursor = await tx.execute("DELETE FROM people.session WHERE expires_at <= now()")
    return cursor.rowcount
