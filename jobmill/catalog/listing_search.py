"""Search for listings by words and fields, page by page."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, LiteralString

from psycopg.errors import QueryCanceled

from jobmill.catalog.listings import ListingId
from jobmill.catalog.posting import Arrangement
from jobmill.db import Tx, fetch_all, fetch_one
from jobmill.errors import Invalid

MAX_RARE_HITS = 1_500
"""Up to this many listings with rare words are found regardless of age."""
MAX_RARE_SEARCH_TIME = dt.timedelta(milliseconds=60)
"""Words count as rare only if this is enough to find all listings with them."""


@dataclass(frozen=True, slots=True)
class ListingQuery:
    """Search criteria; all of them must hold."""

    words: str | None = None
    """Web search syntax: words, "phrases", or, -not. The last word also finds longer words."""
    company: str | None = None
    """Prefixes of the words in the company's name."""
    location: str | None = None
    """Prefixes of the words in a location."""
    arrangement: Arrangement | None = None
    platform: str | None = None
    source_id: int | None = None
    company_id: int | None = None
    seniority: str | None = None
    employment_type: str | None = None
    min_salary: float | None = None
    """Per year, in the currency of the posting."""
    since: dt.datetime | None = None
    """First seen at or after this time."""
    state: Literal["open", "closed", "all"] = "open"
    duplicates: bool = False
    """Include listings that are duplicates of another hit."""
    sort: Literal["newest", "best"] = "newest"


@dataclass(frozen=True, slots=True)
class ListingHit:
    """A listing in a list of results."""

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
    """The number of its duplicates."""
    rank: float


@dataclass(frozen=True, slots=True)
class ListingHits:
    hits: list[ListingHit]
    next: str | None
    """The cursor of the next page; None on the last page."""
    partial: bool = False
    """Whether only the newest `max_scanned` listings were searched; `next`, if set, continues
    behind them."""


async def find(
    tx: Tx,
    query: ListingQuery,
    *,
    after: str | None = None,
    limit: int = 50,
    max_scanned: int | None = None,
    max_duration: dt.timedelta = MAX_RARE_SEARCH_TIME,
) -> ListingHits:
    """Find one page. Paging is stable: a listing added or closed in between is never shown twice.

    `max_scanned`: search only this many of the newest listings, except for rare words, which are
    found at any age. A page may then hold fewer hits than `limit`.
    """
    best = query.sort == "best"
    if best and not query.words:
        raise Invalid('sorting by "best" needs search words')
    params = dataclasses.asdict(query) | _read_cursor(after, query.sort)
    params |= {"limit": limit + 1, "max_scanned": max_scanned}
    # A generic plan for any words is slow for most words.
    await tx.execute("SET LOCAL plan_cache_mode = force_custom_plan")
    if max_scanned is None:
        hits = await fetch_all(tx, ListingHit, build_select(query, params), params)
        return _build_page(hits, query, limit)
    hits = await fetch_all(tx, ListingHit, build_select(query, params, newest_only=True), params)
    if len(hits) > limit and not best:
        return _build_page(hits, query, limit)
    scan_end = await _find_scan_end(tx, query, params)
    if scan_end is None or len(hits) > limit:
        return _build_page(hits, query, limit, partial=best and scan_end is not None)
    ids = await find_rare(tx, query, max_duration=max_duration)
    if ids is not None:
        params |= {"ids": ids}
        return _build_page(
            await fetch_all(tx, ListingHit, build_select(query, params), params), query, limit
        )
    return ListingHits(hits, None if best else _cursor(scan_end, query.sort), partial=True)


def _build_page(
    hits: list[ListingHit], query: ListingQuery, limit: int, *, partial: bool = False
) -> ListingHits:
    more = len(hits) > limit
    next = _cursor(hits[limit - 1], query.sort) if more else None
    return ListingHits(hits[:limit], next, partial)


@dataclass(frozen=True, slots=True)
class _Position:
    """A position in the sorted results."""

    id: int
    first_seen_at: dt.datetime
    rank: float = 0


async def _find_scan_end(
    tx: Tx, query: ListingQuery, params: Mapping[str, Any]
) -> _Position | None:
    """The position at which a scan of `max_scanned` listings ends; None if it covers everything."""
    statement: LiteralString = f"""
        SELECT id, first_seen_at FROM catalog.listing WHERE {_time_bounds(query, params)}
         ORDER BY first_seen_at DESC, id DESC OFFSET %(max_scanned)s LIMIT 1
    """
    return await fetch_one(
        tx, _Position, statement, {**params, "max_scanned": params["max_scanned"] - 1}
    )


async def find_rare(
    tx: Tx, query: ListingQuery, *, max_duration: dt.timedelta = MAX_RARE_SEARCH_TIME
) -> list[ListingId] | None:
    """Ids of the listings that match the words, company and location. None if there are more than
    `MAX_RARE_HITS`, if the search takes too long, or if the query has no text."""
    texts = _text_conditions(query)
    if not texts:
        return None
    select: LiteralString = (
        f"SELECT id FROM catalog.listing WHERE {' AND '.join(texts)} LIMIT %(limit)s"
    )
    try:
        # Rolled back, so that its settings end and the limits of the transaction return.
        async with tx.transaction(force_rollback=True):
            await _limit_next_statement(tx, max_duration)
            cursor = await tx.execute(
                select, dataclasses.asdict(query) | {"limit": MAX_RARE_HITS + 1}
            )
            ids = [ListingId(id) for (id,) in await cursor.fetchall()]
    except QueryCanceled:
        return None
    return ids if len(ids) <= MAX_RARE_HITS else None


async def _limit_next_statement(tx: Tx, max_duration: dt.timedelta) -> None:
    """Limit the time of the next statement and make it use the text indexes: a planner that
    expects many rows would scan the whole table."""
    await tx.execute("SET LOCAL enable_seqscan = off")
    milliseconds = str(round(max_duration.total_seconds() * 1000))
    await tx.execute("SELECT set_config('statement_timeout', %s, true)", [milliseconds])


def build_select(
    query: ListingQuery, params: Mapping[str, Any], *, newest_only: bool = False
) -> LiteralString:
    """The statement for a query. It contains only the conditions in use, so that each combination
    gets its own plan. `newest_only`: search only the newest listings."""
    best = query.sort == "best"
    newest: LiteralString = f"""
        (SELECT * FROM catalog.listing WHERE {_time_bounds(query, params)}
          ORDER BY first_seen_at DESC, id DESC LIMIT %(max_scanned)s)
    """
    after_cursor: LiteralString = "WHERE (rank, id) < (%(after_rank)s::float4, %(after_id)s)"
    order: LiteralString = "rank DESC, id DESC" if best else "first_seen_at DESC, id DESC"
    only_ids: LiteralString = "AND id = ANY(%(ids)s)" if "ids" in params else ""
    return f"""
        SELECT *, (SELECT count(*)::int FROM catalog.listing AS linked
                    WHERE linked.duplicate_of = hit.id) AS others
          FROM (SELECT *
                  FROM (SELECT id, title, company, location, locations, arrangement, seniority,
                               employment_type, salary_min, salary_max, salary_currency,
                               salary_period, posted_at, first_seen_at, last_seen_at, closed_at,
                               url, platform, via, {RANK if best else "0::float4"} AS rank
                          FROM {newest if newest_only else "catalog.listing"} AS listing
                         WHERE {_time_bounds(query, params)} AND {_conditions(query)} {only_ids}) AS fitting
                 {after_cursor if best and params["after_id"] is not None else ""}
                 ORDER BY {order} LIMIT %(limit)s) AS hit
         ORDER BY {order}
    """


def _time_bounds(query: ListingQuery, params: Mapping[str, Any]) -> LiteralString:
    """The bounds of the scan in order of time."""
    has_cursor = query.sort == "newest" and params["after_id"] is not None
    bounds: list[tuple[object, LiteralString]] = [
        (has_cursor, "(first_seen_at, id) < (%(after_at)s::timestamptz, %(after_id)s)"),
        (query.since, "first_seen_at >= %(since)s"),
    ]
    clauses: list[LiteralString] = [clause for is_used, clause in bounds if is_used]
    return " AND ".join(clauses) or "true"


def _text_conditions(query: ListingQuery) -> list[LiteralString]:
    conditions: list[tuple[object, LiteralString]] = [
        (query.words, f"search @@ {WORDS}"),
        (query.company, COMPANY),
        (query.location, PLACE),
    ]
    return [clause for is_used, clause in conditions if is_used]


def _conditions(query: ListingQuery) -> LiteralString:
    conditions: list[tuple[object, LiteralString]] = [
        (query.arrangement, "arrangement = %(arrangement)s"),
        (query.platform, "platform = %(platform)s"),
        (query.source_id is not None, "source_id = %(source_id)s::bigint"),
        (query.company_id is not None, "company_id = %(company_id)s"),
        (query.seniority, "seniority = %(seniority)s"),
        (query.employment_type, "employment_type = %(employment_type)s"),
        (query.min_salary is not None, f"{PAY} >= %(min_salary)s"),
        (query.state == "open", "closed_at IS NULL"),
        (query.state == "closed", "closed_at IS NOT NULL"),
        (not query.duplicates, _is_first_duplicate(query)),
        (True, "NOT private"),
    ]
    clauses: list[LiteralString] = [clause for is_used, clause in conditions if is_used]
    return " AND ".join([*_text_conditions(query), *clauses]) or "true"


def _is_first_duplicate(query: ListingQuery) -> LiteralString:
    """True for the first of several duplicates that matches: a closed duplicate, or one in another
    place, hides nothing."""
    states: dict[str, LiteralString] = {
        "open": "AND first.closed_at IS NULL",
        "closed": "AND first.closed_at IS NOT NULL",
        "all": "",
    }
    same_place: LiteralString = FIRST_PLACE if query.location else ""
    return f"""
        (duplicate_of IS NULL OR NOT EXISTS (
            SELECT 1 FROM catalog.listing AS first
             WHERE (first.id = listing.duplicate_of
                    OR first.duplicate_of = listing.duplicate_of AND first.id < listing.id)
               {states[query.state]} {same_place}))
    """


WORDS: LiteralString = "catalog.words_query(%(words)s)"
RANK: LiteralString = f"ts_rank(search, {WORDS})"
COMPANY: LiteralString = "catalog.company_words(company) @@ catalog.beginnings(%(company)s)"
PLACE: LiteralString = (
    "catalog.place_words(location, locations) @@ catalog.beginnings(%(location)s)"
)
FIRST_PLACE: LiteralString = (
    "AND catalog.place_words(first.location, first.locations) @@ catalog.beginnings(%(location)s)"
)
PAY: LiteralString = """
    coalesce(salary_max, salary_min) * CASE salary_period
        WHEN 'hour' THEN 2080 WHEN 'day' THEN 260 WHEN 'week' THEN 52 WHEN 'month' THEN 12
        ELSE 1 END
"""


def _cursor(position: _Position | ListingHit, sort: str) -> str:
    at = position.rank if sort == "best" else position.first_seen_at.isoformat()
    return (
        base64.urlsafe_b64encode(json.dumps([sort, at, position.id]).encode()).decode().rstrip("=")
    )


def _read_cursor(cursor: str | None, sort: str) -> dict[str, Any]:
    empty = {"after_id": None, "after_rank": None, "after_at": None}
    if cursor is None:
        return empty
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        kind, place, id = json.loads(base64.urlsafe_b64decode(padded))
        if kind != sort:
            raise Invalid(f"this cursor belongs to a list sorted by {kind}, not by {sort}")
        if not 0 < int(id) < 2**63:
            raise ValueError(id)
        if sort == "best":
            return empty | {"after_id": int(id), "after_rank": float(place)}
        return empty | {"after_id": int(id), "after_at": dt.datetime.fromisoformat(place)}
    # Nested thousands of levels deep, or a number without a limit.
    except (ValueError, TypeError, binascii.Error, RecursionError, OverflowError):
        raise Invalid("invalid cursor: start from the first page") from None
