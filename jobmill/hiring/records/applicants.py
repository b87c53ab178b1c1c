"""Applicants: one per address, whatever its case; no account is needed."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NewType

from psycopg.errors import UniqueViolation

from jobmill.db import Tx, fetch_all, fetch_one
from jobmill.errors import Conflict, Invalid, NotFound

ApplicantId = NewType("ApplicantId", int)

EMAIL = re.compile(
    r"[^\s@<>()\[\],;:\\\"]{1,64}@[^\s@<>()\[\],;:\\\".]+(\.[^\s@<>()\[\],;:\\\".]+)+"
)
MAX_EMAIL_LENGTH = 254
MAX_NAME_LENGTH = 200
IGNORES_DOTS = ("gmail.com", "googlemail.com")


class ApplicantNotFound(NotFound):
    def __init__(self, id: object) -> None:
        Exception.__init__(self, f"Applicant with id {id} not found")


class EmailTaken(Conflict):
    def __init__(self, email: str) -> None:
        super().__init__(f"An applicant with the address {email} is there already.")


@dataclass(frozen=True, slots=True)
class Applicant:
    id: ApplicantId
    name: str
    email: str
    link_version: int
    created_at: dt.datetime
    erased_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Contact:
    """Who applies, as they say it; checked."""

    name: str
    email: str
    key: str


def parse_contact(name: str, email: str, *, fold: bool = False) -> Contact:
    """A name and an address that can be right; `fold` takes aliases of a mailbox for one person."""
    name, email = " ".join(name.split()), email.strip()
    if not 0 < len(name) <= MAX_NAME_LENGTH or not name.isprintable():
        raise Invalid(f"The name should have 1 to {MAX_NAME_LENGTH} characters.")
    if len(email) > MAX_EMAIL_LENGTH or not email.isprintable() or not EMAIL.fullmatch(email):
        raise Invalid("The e-mail address should look like name@example.org.")
    return Contact(name, email, email_key(email, fold=fold))


def email_key(email: str, *, fold: bool = False) -> str:
    """What two spellings of one address have in common."""
    local, _, domain = email.strip().casefold().rpartition("@")
    if fold:
        local = local.partition("+")[0] or local
        local = local.replace(".", "") if domain in IGNORES_DOTS else local
    return f"{local}@{domain}"


async def add(tx: Tx, one: Contact) -> Applicant:
    """A new applicant; Taken where the address is known."""
    try:
        found = await fetch_one(
            tx,
            Applicant,
            """
            INSERT INTO hiring.applicant (name, email, email_key)
            VALUES (%(name)s, %(email)s, %(key)s)
            RETURNING id, name, email, link_version, created_at, erased_at
            """,
            {"name": one.name, "email": one.email, "key": one.key},
        )
    except UniqueViolation:
        raise EmailTaken(one.email) from None
    assert found
    return found


@dataclass(frozen=True, slots=True)
class ApplicantRef:
    """One of those who arrived; `fresh`: by this very request."""

    id: ApplicantId
    key: str
    fresh: bool = False


async def find_or_add_all(tx: Tx, people: Sequence[Contact]) -> dict[str, ApplicantRef]:
    """The applicants of these addresses, by key, locked in the order of their keys."""
    by_key = {one.key: one for one in people}
    keys = sorted(by_key)
    cursor = await tx.execute(
        """
        INSERT INTO hiring.applicant AS known (name, email, email_key)
        SELECT * FROM unnest(%s::text[], %s::text[], %s::text[])
        ON CONFLICT (email_key) DO UPDATE SET name = known.name
        RETURNING email_key, id, xmax = 0
        """,
        [[by_key[key].name for key in keys], [by_key[key].email for key in keys], keys],
    )
    return {key: ApplicantRef(id, key, fresh) async for key, id, fresh in cursor}


async def find_or_add(tx: Tx, one: Contact) -> Applicant:
    """The applicant of this address."""
    found = await find_or_add_all(tx, [one])
    return await get(tx, found[one.key].id)


async def delete(tx: Tx, ids: Sequence[ApplicantId]) -> None:
    """Those who became known by a request that was refused."""
    if ids:
        await tx.execute("DELETE FROM hiring.applicant WHERE id = ANY (%s)", [list(ids)])


async def lock_existing(
    tx: Tx, ids: Sequence[int], keys: Sequence[str] = ()
) -> dict[int, ApplicantRef]:
    """Which of these applicants exist, locked until `tx` ends, so that none is erased meanwhile.

    Every transaction locks applicants before openings and in the order of their keys, or two could
    wait for each other; `keys` are those that `find_or_add_all` locks next. The lock is weaker than
    FOR UPDATE: a foreign key check on an application must not wait for it while it holds an opening.
    """
    cursor = await tx.execute(
        """
        SELECT id, email_key FROM hiring.applicant
         WHERE (id = ANY (%(ids)s) OR email_key = ANY (%(keys)s)) AND erased_at IS NULL
         -- As Python sorts them in `find_or_add_all`, whatever the collation of the database.
         ORDER BY email_key COLLATE "C"
           FOR NO KEY UPDATE
        """,
        {"ids": list(ids), "keys": list(keys)},
    )
    wanted = set(ids)
    return {id: ApplicantRef(id, key) async for id, key in cursor if id in wanted}


async def get(tx: Tx, id: int) -> Applicant:
    found = await fetch_one(
        tx,
        Applicant,
        """
        SELECT id, name, email, link_version, created_at, erased_at
          FROM hiring.applicant
         WHERE id = %s
        """,
        [id],
    )
    if found is None:
        raise ApplicantNotFound(id)
    return found


async def find_by_email_key(tx: Tx, key: str) -> Applicant | None:
    return await fetch_one(
        tx,
        Applicant,
        """
        SELECT id, name, email, link_version, created_at, erased_at
          FROM hiring.applicant
         WHERE email_key = %s
        """,
        [key],
    )


async def list_applicants(tx: Tx, *, after: int = 0, limit: int | None = None) -> list[Applicant]:
    """Applicants, oldest first, from beyond `after` on."""
    return await fetch_all(
        tx,
        Applicant,
        """
        SELECT id, name, email, link_version, created_at, erased_at
          FROM hiring.applicant
         WHERE id > %s
         ORDER BY id
         LIMIT %s
        """,
        [after, limit],
    )
