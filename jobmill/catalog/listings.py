"""Listings: stored postings, their changes, and the marks of people."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NewType, cast
from uuid import UUID

from psycopg.types.json import Json

from jobmill.catalog import history, posting_identity
from jobmill.catalog.duplicates import DuplicateKind
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.catalog.posting import (
    Arrangement,
    Period,
    Posting,
    Salary,
    Seniority,
    limit_lengths,
)
from jobmill.db import Tx, fetch_all, fetch_single_value, fetch_value
from jobmill.errors import Invalid, NotFound

ListingId = NewType("ListingId", int)

MAX_TITLE_LENGTH = 500
MAX_REQUISITION_ID_LENGTH = 200
"""A longer value is no requisition id, and does not fit into the index."""
BATCH_SIZE = 500
"""Listings per statement: a large board must not become one parameter of 500 MB."""
COMPARED_FIELDS = (
    "title", "url", "company", "location", "locations", "arrangement", "remote_from", "department",
    "employment_type", "seniority", "valid_through", "salary_min", "salary_max", "salary_currency",
    "salary_period", "description", "apply_url",
)  # fmt: skip
"""A listing has changed if one of these differs. Not `posted_at`: "3 days ago" moves by itself."""
FIELDS_NOT_JUDGED = frozenset({"apply_url", "valid_through"})
"""Fields that no rule judges by, and that some sites generate for every visitor."""


@dataclass(frozen=True, slots=True)
class Listing:
    id: ListingId
    source_id: int | None
    company_id: int | None
    identity: str
    url: str
    title: str | None
    company: str | None
    location: str | None
    locations: list[str]
    arrangement: Arrangement | None
    remote_from: list[str]
    department: str | None
    employment_type: str | None
    seniority: Seniority | None
    posted_at: dt.datetime | None
    site_updated_at: dt.datetime | None
    valid_through: dt.datetime | None
    salary_min: float | None
    salary_max: float | None
    salary_currency: str | None
    salary_period: Period | None
    salary_known: Literal["structured", "text", "predicted"] | None
    description: str | None
    requirements: str | None
    apply_url: str | None
    platform: str | None
    board: str | None
    vendor_id: str | None
    requisition_id: str | None
    language: str | None
    tags: list[str]
    via: str | None
    partial: bool
    listed_hash: UUID
    first_seen_at: dt.datetime
    last_seen_at: dt.datetime
    changed_at: dt.datetime
    closed_at: dt.datetime | None
    marked_at: dt.datetime | None
    duplicate_of: ListingId | None
    duplicate_kind: DuplicateKind | None
    duplicate_why: str | None
    private: bool = False
    """Whether it is visible only to people with an imported application for it."""


def is_minimal(listing: Listing | Posting) -> bool:
    """Enough to show: url, title, company and a text."""
    return bool(
        listing.url
        and listing.title
        and listing.company
        and listing.description
        and len(listing.description) > 100
    )


def is_good(listing: Listing | Posting) -> bool:
    """Enough to judge by: also a location, a date and requirements."""
    return is_minimal(listing) and bool(
        listing.location and listing.posted_at and listing.requirements
    )


def is_duplicate(listing: Listing) -> bool:
    """Whether another listing represents this one. The same role in another location is a separate
    job."""
    return listing.duplicate_of is not None and listing.duplicate_kind != "multi_location"


def completeness(listing: Listing | Posting) -> Literal["good", "minimal", "sparse"]:
    if is_good(listing):
        return "good"
    return "minimal" if is_minimal(listing) else "sparse"


_CONVERTED = frozenset({"title", "locations", "remote_from", "tags"})
_COPIED = tuple({*Posting.__slots__} & {*Listing.__slots__} - _CONVERTED)
"""Fields that a posting and its listing have in the same form."""


def to_posting(listing: Listing) -> Posting:
    salary = None
    if listing.salary_known:
        salary = Salary(
            listing.salary_min,
            listing.salary_max,
            listing.salary_currency,
            listing.salary_period,
            listing.salary_known,
        )
    facts: dict[str, Any] = {name: getattr(listing, name) for name in _COPIED}
    return Posting(
        **facts,
        title=listing.title or "",
        locations=tuple(listing.locations),
        remote_from=tuple(listing.remote_from),
        updated_at=listing.site_updated_at,
        salary=salary,
        tags=tuple(listing.tags),
    )


def to_columns(posting: Posting, platforms: PlatformRules) -> dict[str, Any]:
    facts: dict[str, Any] = {
        field.name: getattr(posting, field.name)
        for field in dataclasses.fields(posting)
        if field.name not in ("salary", "updated_at")
    }
    salary = posting.salary
    return facts | {
        "title": facts["title"][:MAX_TITLE_LENGTH],
        "locations": list(posting.locations),
        "remote_from": list(posting.remote_from),
        "tags": list(posting.tags),
        "requisition_id": _short_id(posting.requisition_id),
        "site_updated_at": posting.updated_at,
        "salary_min": salary and _finite(salary.min),
        "salary_max": salary and _finite(salary.max),
        "salary_currency": salary and salary.currency,
        "salary_period": salary and salary.period,
        "salary_known": salary and salary.known,
        "identity": posting_identity.identity(posting, platforms),
        "url_hash": url_hash(posting.url, platforms),
        "fingerprint": posting_identity.fingerprint(posting),
    }


def make_storable(posting: Posting) -> Posting:
    """The posting without characters that PostgreSQL rejects, so that it compares equal after a
    round trip, and with its facts and texts cut to a length."""
    posting = limit_lengths(posting)
    facts = {field.name: getattr(posting, field.name) for field in dataclasses.fields(posting)}
    return Posting(**{name: _storable_value(fact) for name, fact in facts.items()})


def _storable_value(fact: Any) -> Any:
    if isinstance(fact, str):
        # Remove NUL and lone surrogates.
        return fact.replace("\x00", "").encode("utf-8", "replace").decode()
    return (
        tuple(map(_storable_value, cast(tuple[str, ...], fact)))
        if isinstance(fact, tuple)
        else fact
    )


def _short_id(number: str | None) -> str | None:
    return number if number and len(number) <= MAX_REQUISITION_ID_LENGTH else None


def _finite(amount: float | None) -> float | None:
    return amount if amount is not None and abs(amount) < 1e300 and math.isfinite(amount) else None


def url_hash(url: str, platforms: PlatformRules) -> UUID:
    """The hash by which a listing is found by its page, for every spelling of the URL."""
    with contextlib.suppress(Invalid):  # A posting without a page is found by its identity.
        url = platforms.canonical(url)
    return UUID(hashlib.md5(url.encode("utf-8", "replace"), usedforsecurity=False).hexdigest())


def listed_hash(posting: Posting) -> UUID:
    """A hash of the posting as the list shows it. While it is unchanged, the detail page is not
    read again."""
    listed = dataclasses.replace(posting, posted_at=None)
    return UUID(hashlib.md5(repr(listed).encode(), usedforsecurity=False).hexdigest())


def diff(before: Listing, after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The changed fields with their old and new values."""
    pairs = {name: (getattr(before, name), after[name]) for name in COMPARED_FIELDS}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


async def get(tx: Tx, id: int) -> Listing:
    """Return one listing; raises NotFound."""
    listings = await by_ids(tx, [id])
    if not listings:
        raise NotFound("listing", id)
    return listings[0]


async def by_ids(tx: Tx, ids: Sequence[int]) -> list[Listing]:
    """The listings with these ids, in any order."""
    return await fetch_all(
        tx,
        Listing,
        """
        SELECT id, source_id, company_id, identity, url, title, company, location, locations,
               arrangement, remote_from, department, employment_type, seniority, posted_at,
               site_updated_at, valid_through, salary_min, salary_max, salary_currency,
               salary_period, salary_known, description, requirements, apply_url, platform, board,
               vendor_id, requisition_id, language, tags, via, partial, listed_hash, first_seen_at,
               last_seen_at, changed_at, closed_at, marked_at, duplicate_of, duplicate_kind,
               duplicate_why, private
          FROM catalog.listing WHERE id = ANY(%s)
        """,
        [list(ids)],
    )


@dataclass(frozen=True, slots=True)
class ListingState:
    """The state that decides whether a posting must be read again."""

    id: ListingId
    identity: str
    source_id: int | None
    listed_hash: UUID
    partial: bool
    closed: bool


async def find_by_identity(tx: Tx, identities: Sequence[str]) -> dict[str, ListingState]:
    """The states of the listings with these identities, by identity."""
    states = await fetch_all(
        tx,
        ListingState,
        """
        SELECT id, identity, source_id, listed_hash, partial, closed_at IS NOT NULL AS closed
          FROM catalog.listing
         WHERE identity_hash = ANY(SELECT md5(identity)::uuid FROM unnest(%s::text[]) AS identity)
        """,
        [list(map(_storable_value, identities))],
    )
    return {state.identity: state for state in states}


async def claim_for_update(
    tx: Tx, identities: Sequence[str], owner: int | None
) -> dict[str, ListingState]:
    """Lock the listings that the source `owner` may change: its own, closed ones, and those
    without an enabled source. `owner=None` leaves out the first."""
    states = await fetch_all(
        tx,
        ListingState,
        """
        SELECT id, identity, source_id, listed_hash, partial, closed_at IS NOT NULL AS closed
          FROM catalog.listing
         WHERE identity_hash = ANY(SELECT md5(identity)::uuid
                                     FROM unnest(%(identities)s::text[]) AS identity)
           AND (source_id = %(owner)s OR closed_at IS NOT NULL
                -- A subquery, not a join: PostgreSQL does not re-evaluate a join for a row that
                -- changed while it waited.
                OR NOT EXISTS (SELECT 1 FROM catalog.source
                                WHERE source.id = source_id AND status = 'active'))
         -- The same order as in `duplicate_links`, so that two transactions cannot deadlock.
         ORDER BY id
           FOR NO KEY UPDATE
        """,
        {"identities": list(identities), "owner": owner},
    )
    return {state.identity: state for state in states}


async def find_by_url(
    tx: Tx, url: str, platforms: PlatformRules, *, private: bool = False
) -> ListingId | None:
    """The listing of a page, preferably one that is not a duplicate. `private` includes listings that
    hold what one person typed, which nobody else may see."""
    return await fetch_value(
        tx,
        ListingId,
        """
        SELECT id FROM catalog.listing WHERE url_hash = %s AND (%s OR NOT private)
         ORDER BY private, duplicate_of IS NOT NULL, id LIMIT 1
        """,
        [url_hash(url, platforms), private],
    )


async def insert_all(tx: Tx, rows: Sequence[Mapping[str, Any]]) -> dict[str, ListingId]:
    """Insert listings; returns the ids of those that were new, by identity."""
    added: dict[str, ListingId] = {}
    # Sorted, so that two transactions with the same listings cannot deadlock.
    ordered = sorted(rows, key=lambda row: row["identity"])
    for start in range(0, len(ordered), BATCH_SIZE):
        added |= await _insert(tx, ordered[start : start + BATCH_SIZE])
    return added


async def _insert(tx: Tx, rows: Sequence[Mapping[str, Any]]) -> dict[str, ListingId]:
    added = await tx.execute(
        """
        INSERT INTO catalog.listing
               (source_id, company_id, identity, url, url_hash, title, company, location, locations,
                arrangement, remote_from, department, employment_type, seniority, posted_at,
                site_updated_at, valid_through, salary_min, salary_max, salary_currency,
                salary_period, salary_known, description, requirements, apply_url, platform, board,
                vendor_id, requisition_id, language, tags, via, partial, listed_hash, fingerprint,
                first_seen_at, last_seen_at, changed_at, private)
        SELECT source_id, company_id, identity, url, url_hash, title, company, location, locations,
               arrangement, remote_from, department, employment_type, seniority, posted_at,
               site_updated_at, valid_through, salary_min, salary_max, salary_currency,
               salary_period, salary_known, description, requirements, apply_url, platform, board,
               vendor_id, requisition_id, language, tags, via, partial, listed_hash, fingerprint,
               first_seen_at, last_seen_at, changed_at, coalesce(private, false)
          FROM json_populate_recordset(NULL::catalog.listing, %s)
         ORDER BY identity COLLATE "C"
        ON CONFLICT ON CONSTRAINT listing_once DO NOTHING
        RETURNING identity, id
        """,
        [Json(rows, dumps=_dumps)],
    )
    return dict(await added.fetchall())


async def update_all(tx: Tx, rows: Sequence[Mapping[str, Any]]) -> None:
    """Update listings; each row holds its `id`."""
    for start in range(0, len(rows), BATCH_SIZE):
        await _update(tx, rows[start : start + BATCH_SIZE])


async def _update(tx: Tx, rows: Sequence[Mapping[str, Any]]) -> None:
    await tx.execute(
        """
        UPDATE catalog.listing
           SET url = now.url, url_hash = now.url_hash, title = now.title, company = now.company,
               company_id = coalesce(now.company_id, listing.company_id),
               location = now.location, locations = now.locations, arrangement = now.arrangement,
               remote_from = now.remote_from, department = now.department,
               employment_type = now.employment_type, seniority = now.seniority,
               posted_at = coalesce(listing.posted_at, now.posted_at),
               site_updated_at = now.site_updated_at, valid_through = now.valid_through,
               salary_min = now.salary_min, salary_max = now.salary_max,
               salary_currency = now.salary_currency, salary_period = now.salary_period,
               salary_known = now.salary_known, description = now.description,
               requirements = now.requirements, apply_url = now.apply_url,
               requisition_id = now.requisition_id, language = now.language, tags = now.tags,
               partial = now.partial, listed_hash = now.listed_hash,
               fingerprint = now.fingerprint, changed_at = now.changed_at
          FROM json_populate_recordset(NULL::catalog.listing, %s) AS now
         WHERE listing.id = now.id
        """,
        [Json(rows, dumps=_dumps)],
    )


def _dumps(value: object) -> str:
    return json.dumps(value, default=_jsonable, ensure_ascii=False)


def _jsonable(value: object) -> str:
    return value.isoformat() if isinstance(value, dt.datetime) else str(value)


async def mark_seen(tx: Tx, id: ListingId, at: dt.datetime) -> None:
    """Record that the listing's page still exists, and reopen the listing if it was closed."""
    reopened = await fetch_value(
        tx,
        int,
        """
        WITH before AS (SELECT id, closed_at FROM catalog.listing WHERE id = %(id)s FOR NO KEY UPDATE)
        UPDATE catalog.listing
           SET last_seen_at = greatest(last_seen_at, %(at)s), closed_at = NULL
          FROM before WHERE listing.id = before.id
        RETURNING (before.closed_at IS NOT NULL)::int
        """,
        {"id": id, "at": at},
    )
    if reopened:
        await history.record(tx, "listing", id, "reopened")


async def publish(tx: Tx, id: ListingId) -> None:
    """Show a private listing to everyone."""
    await tx.execute("UPDATE catalog.listing SET private = false WHERE id = %s AND private", [id])


async def close(tx: Tx, id: ListingId, why: str) -> None:
    """Close the listing because its own page says so."""
    closed = await tx.execute(
        "UPDATE catalog.listing SET closed_at = now() WHERE id = %s AND closed_at IS NULL", [id]
    )
    if closed.rowcount:
        await history.record(tx, "listing", id, "closed", why=why)


async def mark(tx: Tx, id: int, *, actor: str | None = None) -> None:
    """Keep a listing forever because a person marked it."""
    await get(tx, id)
    await tx.execute(
        "UPDATE catalog.listing SET marked_at = coalesce(marked_at, now()) WHERE id = %s", [id]
    )
    await history.record(tx, "listing", id, "marked", actor=actor)


async def lock_duplicate_links(tx: Tx) -> None:
    """Allow one transaction at a time to change duplicate links, so that links never chain. Take
    this lock before locking rows of existing listings."""
    await tx.execute("SELECT pg_advisory_xact_lock(hashtext('jobmill.links'))")


async def prune(tx: Tx, keep: dt.timedelta, *, limit: int = 1_000) -> int:
    """Delete up to `limit` listings that closed more than `keep` ago, have no mark and no
    duplicates."""
    await lock_duplicate_links(tx)
    return await fetch_single_value(
        tx,
        int,
        """
        WITH old AS (
            SELECT id FROM catalog.listing
             WHERE closed_at < now() - %(keep)s AND marked_at IS NULL
               AND NOT EXISTS (SELECT 1 FROM catalog.listing AS linked
                                WHERE linked.duplicate_of = listing.id)
             ORDER BY closed_at LIMIT %(limit)s
               FOR UPDATE SKIP LOCKED
        ), events AS (
            DELETE FROM catalog.event USING old
             WHERE subject_type = 'listing' AND subject_id = old.id::text
        ), gone AS (
            DELETE FROM catalog.listing USING old WHERE listing.id = old.id RETURNING 1
        )
        SELECT count(*) FROM gone
        """,
        {"keep": keep, "limit": limit},
    )
