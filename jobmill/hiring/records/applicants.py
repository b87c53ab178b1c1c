"""The applicant table: one row per email address, without regard to case. Applicants need no account."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import LiteralString, NewType

from psycopg.errors import UniqueViolation

from jobmill.db import Tx, fetch_all, fetch_one, fetch_single_value
from jobmill.errors import Conflict, Invalid, NotFound

ApplicantId = NewType("ApplicantId", int)

EMAIL = re.compile(
    r"[^\s@<>()\[\],;:\\\"]{1,64}@[^\s@<>()\[\],;:\\\".]+(\.[^\s@<>()\[\],;:\\\".]+)+"
)
MAX_EMAIL_LENGTH = 254
ADVERTISING = re.compile(
    r"https?:|//|\bwww\.|\S@\S|[^\W_]\.[a-z]{2,}\b|(?:\d[\s()./-]*){7,}", re.UNICODE
)
"""Letters greet people by the name that was entered, perhaps by a stranger for another address."""
MAX_NAME_LENGTH = 200
DOMAINS_IGNORING_DOTS = ("gmail.com", "googlemail.com")

COLUMNS: LiteralString = "id, name, email, link_version, created_at, erased_at, confirmed_at"


class ApplicantNotFound(NotFound):
    def __init__(self, id: object) -> None:
        Exception.__init__(self, f"Applicant with id {id} not found")


class EmailTaken(Conflict):
    def __init__(self, email: str) -> None:
        super().__init__(f"An applicant with the address {email} already exists.")


@dataclass(frozen=True, slots=True)
class Applicant:
    id: ApplicantId
    name: str
    email: str
    link_version: int
    created_at: dt.datetime
    erased_at: dt.datetime | None
    confirmed_at: dt.datetime | None
    """When the owner of the address followed a mailed link."""


@dataclass(frozen=True, slots=True)
class Contact:
    """A validated name and email address."""

    name: str
    email: str
    email_key: str
    language: str | None = None
    """Of letters, as the person's browser asked for it: `en`; None: not known."""


def parse_contact(
    name: str, email: str, *, fold: bool = False, language: str | None = None
) -> Contact:
    """Validate a name and an address; `fold` treats aliases of one mailbox as the same person."""
    name, email = " ".join(name.split()), email.strip()
    if not 0 < len(name) <= MAX_NAME_LENGTH or not name.isprintable():
        raise Invalid(f"The name should have 1 to {MAX_NAME_LENGTH} characters.")
    if ADVERTISING.search(name):
        raise Invalid("The name must not contain a link, an email address or a phone number.")
    if len(email) > MAX_EMAIL_LENGTH or not email.isprintable() or not EMAIL.fullmatch(email):
        raise Invalid("The email address should look like name@example.org.")
    return Contact(name, email, make_email_key(email, fold=fold), language)


def make_email_key(email: str, *, fold: bool = False) -> str:
    """A normalized address: equal for all spellings of one address."""
    local, _, domain = email.strip().casefold().rpartition("@")
    if fold:
        local = local.partition("+")[0] or local
        local = local.replace(".", "") if domain in DOMAINS_IGNORING_DOTS else local
    return f"{local}@{domain}"


async def add(tx: Tx, contact: Contact) -> Applicant:
    """Insert a new applicant for the company; raises EmailTaken if the address exists."""
    try:
        applicant = await fetch_one(
            tx,
            Applicant,
            f"""
            INSERT INTO hiring.applicant (name, email, email_key, entered_by_company)
            VALUES (%(name)s, %(email)s, %(key)s, true)
            RETURNING {COLUMNS}
            """,
            {"name": contact.name, "email": contact.email, "key": contact.email_key},
        )
    except UniqueViolation:
        raise EmailTaken(contact.email) from None
    assert applicant
    return applicant


@dataclass(frozen=True, slots=True)
class ApplicantRef:
    id: ApplicantId
    email_key: str
    is_new: bool = False
    """Inserted by the current request."""


async def find_or_add_all(
    tx: Tx, contacts: Sequence[Contact], *, by_company: Collection[str] = ()
) -> dict[str, ApplicantRef]:
    """The applicants with these addresses, by email key; locks them in the order of their keys.

    `by_company` are the keys of contacts that the company entered.
    """
    by_key = {contact.email_key: contact for contact in contacts}
    keys = sorted(by_key)
    cursor = await tx.execute(
        """
        INSERT INTO hiring.applicant AS existing
               (name, email, email_key, entered_by_company, language)
        SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::boolean[], %s::text[])
        ON CONFLICT (email_key) DO UPDATE SET name = existing.name
        RETURNING email_key, id, xmax = 0
        """,
        [
            [by_key[key].name for key in keys],
            [by_key[key].email for key in keys],
            keys,
            [key in by_company for key in keys],
            [by_key[key].language for key in keys],
        ],
    )
    return {key: ApplicantRef(id, key, is_new) async for key, id, is_new in cursor}


async def find_or_add(tx: Tx, contact: Contact) -> Applicant:
    refs = await find_or_add_all(tx, [contact])
    return await get(tx, refs[contact.email_key].id)


async def confirm_or_add(tx: Tx, contact: Contact) -> ApplicantId:
    """The applicant whose owner has confirmed the address, added if new; locks the row.

    The first confirmation sets the name: a stranger may have entered the one before.
    """
    id = await fetch_single_value(
        tx,
        int,
        """
        INSERT INTO hiring.applicant AS existing (name, email, email_key, language, confirmed_at)
        VALUES (%(name)s, %(email)s, %(key)s, %(language)s, now())
        ON CONFLICT (email_key) DO UPDATE
           SET name = CASE WHEN existing.confirmed_at IS NULL AND NOT existing.entered_by_company
                           THEN excluded.name ELSE existing.name END,
               -- Whoever applied under this address before its owner confirmed it loses their link.
               link_version = existing.link_version + (existing.confirmed_at IS NULL)::int,
               confirmed_at = coalesce(existing.confirmed_at, excluded.confirmed_at),
               language = coalesce(excluded.language, existing.language)
        RETURNING id
        """,
        {
            "name": contact.name,
            "email": contact.email,
            "key": contact.email_key,
            "language": contact.language,
        },
    )
    return ApplicantId(id)


async def confirm_owner_of(tx: Tx, application_id: int) -> Applicant | None:
    """Record that the applicant of an application confirmed the address; None if they were erased."""
    return await fetch_one(
        tx,
        Applicant,
        f"""
        UPDATE hiring.applicant
           SET link_version = link_version + (confirmed_at IS NULL)::int,
               confirmed_at = coalesce(confirmed_at, now())
         WHERE id = (SELECT applicant_id FROM hiring.application WHERE id = %s)
           AND erased_at IS NULL
        RETURNING {COLUMNS}
        """,
        [application_id],
    )


async def delete(tx: Tx, ids: Sequence[ApplicantId]) -> None:
    """Delete applicants that were inserted for a request which was then refused."""
    if ids:
        await tx.execute("DELETE FROM hiring.applicant WHERE id = ANY (%s)", [list(ids)])


async def lock_existing(
    tx: Tx, ids: Sequence[int], keys: Sequence[str] = ()
) -> dict[int, ApplicantRef]:
    """Lock those of these applicants that exist until `tx` ends, so that none is erased meanwhile.

    To prevent deadlocks every transaction locks applicants before openings, in the order of their keys;
    `keys` are those that `find_or_add_all` locks next. The lock is weaker than FOR UPDATE: a foreign
    key check on an application must not wait for it while its transaction holds an opening.
    """
    cursor = await tx.execute(
        """
        SELECT id, email_key FROM hiring.applicant
         WHERE (id = ANY (%(ids)s) OR email_key = ANY (%(keys)s)) AND erased_at IS NULL
         -- The order in which Python sorts keys in `find_or_add_all`, whatever the database's collation.
         ORDER BY email_key COLLATE "C"
           FOR NO KEY UPDATE
        """,
        {"ids": list(ids), "keys": list(keys)},
    )
    requested = set(ids)
    return {id: ApplicantRef(id, key) async for id, key in cursor if id in requested}


async def find_added_by(tx: Tx, application_ids: Sequence[int]) -> set[int]:
    """Those of these applications that added their applicant: neither the company nor another one did."""
    cursor = await tx.execute(
        """
        SELECT application.id
          FROM hiring.application JOIN hiring.applicant ON applicant.id = applicant_id
         WHERE application.id = ANY (%s::bigint[]) AND NOT entered_by_company
           AND NOT EXISTS (SELECT FROM hiring.application AS other
                            WHERE other.applicant_id = applicant.id AND other.id <> application.id)
        """,
        [list(application_ids)],
    )
    return {id for (id,) in await cursor.fetchall()}


async def get(tx: Tx, id: int) -> Applicant:
    applicant = await fetch_one(
        tx, Applicant, f"SELECT {COLUMNS} FROM hiring.applicant WHERE id = %s", [id]
    )
    if applicant is None:
        raise ApplicantNotFound(id)
    return applicant


async def find_by_email_key(tx: Tx, key: str) -> Applicant | None:
    return await fetch_one(
        tx, Applicant, f"SELECT {COLUMNS} FROM hiring.applicant WHERE email_key = %s", [key]
    )


async def list_applicants(tx: Tx, *, after: int = 0, limit: int | None = None) -> list[Applicant]:
    """Applicants with an id greater than `after`, oldest first."""
    return await fetch_all(
        tx,
        Applicant,
        f"SELECT {COLUMNS} FROM hiring.applicant WHERE id > %s ORDER BY id LIMIT %s",
        [after, limit],
    )


async def find_names(tx: Tx, application_ids: Collection[int]) -> dict[int, str]:
    """The applicants' names by application id."""
    cursor = await tx.execute(
        """
        SELECT application.id, name
          FROM hiring.application JOIN hiring.applicant ON applicant.id = applicant_id
         WHERE application.id = ANY (%s)
        """,
        [list(application_ids)],
    )
    return {id: name async for id, name in cursor}


async def find_applicant_names(tx: Tx, ids: Collection[int]) -> dict[int, str]:
    """The names by applicant id."""
    cursor = await tx.execute(
        "SELECT id, name FROM hiring.applicant WHERE id = ANY (%s)", [list(ids)]
    )
    return dict(await cursor.fetchall())
