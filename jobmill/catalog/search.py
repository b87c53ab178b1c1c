"""Finding listings: by words and by facts, page by page."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import json
from dataclasses import dataclass
from typing import Any, Literal

from jobmill.catalog.listings import ListingId
from jobmill.catalog.posting import Arrangement
from jobmill.db import Tx, rows
from jobmill.errors import Invalid


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for; every part that is given must hold."""

    words: str | None = None
    """As people write it: words, "phrases", or, -not."""
    company: str | None = None
    location: str | None = None
    arrangement: Arrangement | None = None
    platform: str | None = None
    source_id: int | None = None
    company_id: int | None = None
    seniority: str | None = None
    employment_type: str | None = None
    least_pay: float | None = None
    """Per year, in whatever currency it is offered."""
    since: dt.datetime | None = None
    """First seen since then."""
    state: Literal["open", "closed", "all"] = "open"
    duplicates: bool = False
    """Also those that are linked to another that fits."""
    sort: Literal["newest", "best"] = "newest"


@dataclass(frozen=True, slots=True)
class Hit:
    """A listing as a list shows it."""

    id: ListingId
    title: str | None
    company: str | None
    location: str | None
    locations: list[str]
    arrangement: Arrangement | None
    seniority: str | None
    employment_type: str | None
    salary_min: float | None
    salary_max: float | None
    salary_currency: str | None
    salary_period: str | None
    posted_at: dt.datetime | None
    first_seen_at: dt.datetime
    last_seen_at: dt.datetime
    closed_at: dt.datetime | None
    url: str
    platform: str | None
    via: str | None
    others: int
    """How many are linked to it."""
    rank: float


@dataclass(frozen=True, slots=True)
class Hits:
    hits: list[Hit]
    next: str | None
    """What to ask for to see the next page; None on the last one."""


async def find(tx: Tx, query: Query, *, after: str | None = None, limit: int = 50) -> Hits:
    """One page. Pages are stable: what comes and goes meanwhile moves nothing twice into view."""
    if query.sort == "best" and not query.words:
        raise Invalid("say what to look for: there is no best without words")
    place = _read_cursor(after, query.sort)
    best = query.sort == "best"
    found = await rows(
        tx,
        Hit,
        """
        WITH asked AS (
            SELECT websearch_to_tsquery('english', catalog.searchable(%(words)s)) AS words
        ), fitting AS (
            SELECT listing.*,
                   CASE WHEN %(words)s::text IS NULL THEN 0
                        ELSE ts_rank(search, asked.words) END AS rank
              FROM catalog.listing, asked
             WHERE (%(words)s::text IS NULL OR search @@ asked.words)
               AND (%(company)s::text IS NULL
                    OR position(lower(%(company)s) IN lower(company)) > 0)
               AND (%(location)s::text IS NULL
                    OR position(lower(%(location)s) IN
                                lower(concat_ws(' ', location, array_to_string(locations, ' ')))) > 0)
               AND (%(arrangement)s::text IS NULL OR arrangement = %(arrangement)s)
               AND (%(platform)s::text IS NULL OR platform = %(platform)s)
               AND (%(source_id)s::bigint IS NULL OR source_id = %(source_id)s)
               AND (%(company_id)s::bigint IS NULL OR company_id = %(company_id)s)
               AND (%(seniority)s::text IS NULL OR seniority = %(seniority)s)
               AND (%(employment_type)s::text IS NULL OR employment_type = %(employment_type)s)
               AND (%(least_pay)s::float8 IS NULL
                    OR coalesce(salary_max, salary_min) * CASE salary_period
                           WHEN 'hour' THEN 2080 WHEN 'day' THEN 260 WHEN 'week' THEN 52
                           WHEN 'month' THEN 12 ELSE 1 END >= %(least_pay)s)
               AND (%(since)s::timestamptz IS NULL OR first_seen_at >= %(since)s)
               AND (%(state)s = 'all' OR (closed_at IS NULL) = (%(state)s = 'open'))
               -- Of linked ones the first that fits: a post is not hidden by one that is closed,
               -- or somewhere else.
               AND (%(duplicates)s OR duplicate_of IS NULL OR NOT EXISTS (
                    SELECT 1 FROM catalog.listing AS first
                     WHERE (first.id = listing.duplicate_of
                            OR first.duplicate_of = listing.duplicate_of AND first.id < listing.id)
                       AND (%(location)s::text IS NULL
                            OR position(lower(%(location)s) IN
                                        lower(concat_ws(' ', first.location,
                                              array_to_string(first.locations, ' ')))) > 0)
                       AND (%(state)s = 'all' OR (first.closed_at IS NULL) = (%(state)s = 'open'))))
        )
        SELECT id, title, company, location, locations, arrangement, seniority, employment_type,
               salary_min, salary_max, salary_currency, salary_period, posted_at, first_seen_at,
               last_seen_at, closed_at, url, platform, via,
               (SELECT count(*)::int FROM catalog.listing AS linked
                 WHERE linked.duplicate_of = fitting.id) AS others,
               rank
          FROM fitting
         WHERE %(after_id)s::bigint IS NULL
            OR CASE WHEN %(best)s
                    THEN (rank, id) < (%(after_rank)s::float4, %(after_id)s)
                    ELSE (first_seen_at, id) < (%(after_at)s::timestamptz, %(after_id)s) END
         ORDER BY
        """
        # Two orders rather than a CASE, which no index could serve.
        + ("rank DESC, id DESC" if best else "first_seen_at DESC, id DESC")
        + " LIMIT %(limit)s",
        {
            "words": query.words,
            "company": query.company,
            "location": query.location,
            "arrangement": query.arrangement,
            "platform": query.platform,
            "source_id": query.source_id,
            "company_id": query.company_id,
            "seniority": query.seniority,
            "employment_type": query.employment_type,
            "least_pay": query.least_pay,
            "since": query.since,
            "state": query.state,
            "duplicates": query.duplicates,
            "best": best,
            "limit": limit + 1,
            **place,
        },
    )
    more = len(found) > limit
    return Hits(found[:limit], _cursor(found[limit - 1], query.sort) if more else None)


def _cursor(hit: Hit, sort: str) -> str:
    place = [sort, hit.rank if sort == "best" else hit.first_seen_at.isoformat(), hit.id]
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _read_cursor(cursor: str | None, sort: str) -> dict[str, Any]:
    empty = {"after_id": None, "after_rank": None, "after_at": None}
    if cursor is None:
        return empty
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        kind, place, id = json.loads(base64.urlsafe_b64decode(padded))
        if kind != sort:
            raise Invalid(f"this page belongs to a list sorted by {kind}, not by {sort}")
        if not 0 < int(id) < 2**63:
            raise ValueError(id)
        if sort == "best":
            return empty | {"after_id": int(id), "after_rank": float(place)}
        return empty | {"after_id": int(id), "after_at": dt.datetime.fromisoformat(place)}
    except (ValueError, TypeError, binascii.Error):
        raise Invalid("not a page that was given out: start from the first one") from None
