"""People with an account."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, LiteralString, TypeAlias

from jobmill.db import Tx, fetch_all, fetch_one, fetch_or_raise, fetch_value
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.people import passwords, second_factors

Role = Literal["seeker", "viewer", "recruiter", "admin"]

Owner: TypeAlias = int | None
"""The owner of a job search: the id of a person, or `LOCAL`."""
LOCAL: Owner = None
"""The local user of this machine: the command line, and the browser without an account."""

COLUMNS: LiteralString = "id, name, email, role, created_at, ended_at"
SELECT: LiteralString = f"SELECT {COLUMNS} FROM people.person"
SELECT_CREDENTIALS: LiteralString = (
    "SELECT id, name, email_key, role, password FROM people.person WHERE ended_at IS NULL"
)
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
class StoredCredentials:
    """An active account and its password hash."""

    id: int
    name: str
    email_key: str
    role: Role
    password: str


class LastAdmin(Conflict):
    """The change would leave no admin."""


async def add(tx: Tx, name: str, email: str, role: Role, password: str) -> Person:
    """Create an account or reopen a closed one; raises Conflict if the address is taken."""
    if not name.strip():
        raise Invalid("Enter a name.")
    key, password_hash = email_key(email), await passwords.hash_password(password)
    return await fetch_or_raise(
        tx,
        Person,
        f"""
        INSERT INTO people.person (name, email, email_key, role, password)
        VALUES (%s, %s, %s, %s, %s)
        ON CONFLICT (email_key) DO UPDATE
           SET name = excluded.name, email = excluded.email, role = excluded.role,
               password = excluded.password, ended_at = NULL
         WHERE person.ended_at IS NOT NULL
        RETURNING {COLUMNS}
        """,
        [name.strip(), email.strip(), key, role, password_hash],
        Conflict(
            f"There is already an account with the address {email.strip()}. "
            "Choose another address, or change that account."
        ),
    )


async def find_by_ids(tx: Tx, ids: Collection[int]) -> list[Person]:
    """These accounts, including closed ones."""
    return await fetch_all(
        tx,
        Person,
        f"{SELECT} WHERE id = ANY (%s)",
        [list(ids)],
    )


async def find_all(tx: Tx) -> list[Person]:
    """All accounts, including closed ones."""
    return await fetch_all(tx, Person, f"{SELECT} ORDER BY id")


async def get(tx: Tx, id: int) -> Person:
    """Return one account, also if closed; raises NotFound."""
    return await fetch_or_raise(
        tx,
        Person,
        f"{SELECT} WHERE id = %s",
        [id],
        NotFound("person", id),
    )


async def get_active(tx: Tx, email: str) -> Person:
    """The person with this address; raises NotFound without access."""
    return await _fetch(tx, f"{SELECT} WHERE email_key = %s AND ended_at IS NULL", email)


async def get_by_email(tx: Tx, email: str) -> Person:
    """The person with this address, also if their account is closed; raises NotFound."""
    return await _fetch(tx, f"{SELECT} WHERE email_key = %s", email)


async def find_credentials(tx: Tx, email: str) -> StoredCredentials | None:
    """The active account with this address."""
    sql: LiteralString = f"{SELECT_CREDENTIALS} AND email_key = %s"
    return await fetch_one(tx, StoredCredentials, sql, [email_key(email)])


async def find_credentials_by_id(tx: Tx, id: int) -> StoredCredentials | None:
    """The active account with this id."""
    return await fetch_one(tx, StoredCredentials, f"{SELECT_CREDENTIALS} AND id = %s", [id])


async def has_admin(tx: Tx) -> bool:
    exists = await fetch_value(
        tx,
        bool,
        "SELECT EXISTS (SELECT FROM people.person WHERE role = 'admin' AND ended_at IS NULL)",
    )
    return bool(exists)


async def require_other_admin(tx: Tx, id: int) -> None:
    """Raise LastAdmin if there is no other admin. The lock makes concurrent removals wait for each
    other."""
    cursor = await tx.execute(
        """
        SELECT id FROM people.person WHERE role = 'admin' AND ended_at IS NULL
         ORDER BY id FOR UPDATE
        """
    )
    if await cursor.fetchall() == [(id,)]:
        raise LastAdmin("This is the last admin. Make another person an admin first.")


async def set_role(tx: Tx, email: str, role: Role) -> Person:
    """Change the role; it takes effect with the next request."""
    return await _fetch(
        tx,
        f"""
        UPDATE people.person SET role = %s WHERE email_key = %s AND ended_at IS NULL
        RETURNING {COLUMNS}
        """,
        email,
        role,
    )


async def set_password(tx: Tx, email: str, password: str) -> Person:
    """Change the password and end all sessions."""
    password_hash = await passwords.hash_password(password)
    person = await _fetch(
        tx,
        f"""
        UPDATE people.person SET password = %s WHERE email_key = %s AND ended_at IS NULL
        RETURNING {COLUMNS}
        """,
        email,
        password_hash,
    )
    await _end_sessions(tx, person.id)
    return person


async def deactivate(tx: Tx, email: str) -> Person:
    """Close the account; its sessions, API keys and second factor end."""
    person = await _fetch(
        tx,
        f"""
        UPDATE people.person SET ended_at = now() WHERE email_key = %s AND ended_at IS NULL
        RETURNING {COLUMNS}
        """,
        email,
    )
    await _end_sessions(tx, person.id)
    await _revoke_keys(tx, person.id)
    await second_factors.reset(tx, person.id)
    return person


async def _end_sessions(tx: Tx, id: int) -> None:
    await tx.execute("DELETE FROM people.session WHERE person_id = %s", [id])


async def _revoke_keys(tx: Tx, owner_id: int) -> None:
    await tx.execute(
        "UPDATE people.api_key SET ended_at = now() WHERE owner_id = %s AND ended_at IS NULL",
        [owner_id],
    )


def email_key(email: str) -> str:
    """The address in lower case; raises Invalid if it is not an email address."""
    key = email.strip().lower()
    if not EMAIL.fullmatch(key):
        raise Invalid(f"{email!r} is not an email address")
    return key


async def _fetch(tx: Tx, sql: LiteralString, email: str, *values: str) -> Person:
    """The person that the statement finds or changes by the key of the address, its last parameter;
    raises NotFound."""
    return await fetch_or_raise(
        tx, Person, sql, [*values, email_key(email)], NotFound("person", email)
    )
