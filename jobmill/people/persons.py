"""Those who work here and sign in."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Literal

from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.people import passwords

Role = Literal["viewer", "recruiter", "admin"]

EMAIL = re.compile(r"[^@\s\x00]{1,64}@[^@\s\x00]{1,189}")


@dataclass(frozen=True, slots=True)
class Person:
    id: int
    name: str
    email: str
    role: Role
    created_at: dt.datetime
    ended_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Credentials:
    """One who may sign in, and what their password is kept as."""

    id: int
    name: str
    role: Role
    password: str


@dataclass(frozen=True, slots=True)
class _AdminId:
    id: int


class LastAdmin(Conflict):
    """Nobody could let others in any more."""


async def add(tx: Tx, name: str, email: str, role: Role, password: str) -> Person:
    """Let somebody sign in, also one who ended; Conflict if the address is taken."""
    if not name.strip():
        raise Invalid("A person needs a name.")
    key, kept = email_key(email), await passwords.hash_password(password)
    made = await fetch_one(
        tx,
        Person,
        """
        INSERT INTO people.person (name, email, email_key, role, password)
        VALUES (%s, %s, %s, %s, %s)
        ON CONFLICT (email_key) DO UPDATE
           SET name = excluded.name, email = excluded.email, role = excluded.role,
               password = excluded.password, ended_at = NULL
         WHERE person.ended_at IS NOT NULL
        RETURNING id, name, email, role, created_at, ended_at
        """,
        [name.strip(), email.strip(), key, role, kept],
    )
    if made is None:
        raise Conflict(f"there is a person with the address {email.strip()} already")
    return made


async def find_all(tx: Tx) -> list[Person]:
    """All there are and were."""
    return await fetch_all(
        tx,
        Person,
        "SELECT id, name, email, role, created_at, ended_at FROM people.person ORDER BY id",
    )


async def get(tx: Tx, id: int) -> Person:
    """One there is or was."""
    found = await fetch_one(
        tx,
        Person,
        "SELECT id, name, email, role, created_at, ended_at FROM people.person WHERE id = %s",
        [id],
    )
    if found is None:
        raise NotFound("person", id)
    return found


async def find_credentials(tx: Tx, email: str) -> Credentials | None:
    """Whoever may sign in with this address."""
    return await fetch_one(
        tx,
        Credentials,
        """
        SELECT id, name, role, password FROM people.person
         WHERE email_key = %s AND ended_at IS NULL
        """,
        [email_key(email)],
    )


async def has_admin(tx: Tx) -> bool:
    found = await fetch_value(
        tx,
        bool,
        "SELECT EXISTS (SELECT FROM people.person WHERE role = 'admin' AND ended_at IS NULL)",
    )
    return bool(found)


async def require_other_admin(tx: Tx, id: int) -> None:
    """LastAdmin if without this person there would be none; of two who leave at once, one waits."""
    admins = await fetch_all(
        tx,
        _AdminId,
        """
        SELECT id FROM people.person WHERE role = 'admin' AND ended_at IS NULL
         ORDER BY id FOR UPDATE
        """,
    )
    if [one.id for one in admins] == [id]:
        raise LastAdmin("There would be no admin left. Make somebody else one first.")


async def set_role(tx: Tx, email: str, role: Role) -> Person:
    """Counts from the next request on, also in sessions that are open."""
    return _there(
        await fetch_one(
            tx,
            Person,
            """
            UPDATE people.person SET role = %s WHERE email_key = %s AND ended_at IS NULL
            RETURNING id, name, email, role, created_at, ended_at
            """,
            [role, email_key(email)],
        ),
        email,
    )


async def set_password(tx: Tx, email: str, password: str) -> Person:
    """Their sessions end: whoever has one must know the new password."""
    kept = await passwords.hash_password(password)
    person = _there(
        await fetch_one(
            tx,
            Person,
            """
            UPDATE people.person SET password = %s WHERE email_key = %s AND ended_at IS NULL
            RETURNING id, name, email, role, created_at, ended_at
            """,
            [kept, email_key(email)],
        ),
        email,
    )
    await _end_sessions(tx, person.id)
    return person


async def deactivate(tx: Tx, email: str) -> Person:
    """They can no longer sign in, and are signed out."""
    person = _there(
        await fetch_one(
            tx,
            Person,
            """
            UPDATE people.person SET ended_at = now() WHERE email_key = %s AND ended_at IS NULL
            RETURNING id, name, email, role, created_at, ended_at
            """,
            [email_key(email)],
        ),
        email,
    )
    await _end_sessions(tx, person.id)
    return person


async def _end_sessions(tx: Tx, id: int) -> None:
    await tx.execute("DELETE FROM people.session WHERE person_id = %s", [id])


def email_key(email: str) -> str:
    """One address, whatever its case; Invalid if it is none."""
    key = email.strip().lower()
    if not EMAIL.fullmatch(key):
        raise Invalid(f"{email!r} is not an e-mail address")
    return key


def _there(person: Person | None, email: str) -> Person:
    if person is None:
        raise NotFound("person", email)
    return person
