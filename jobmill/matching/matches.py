"""Matches: the few listings that fit a profile, and what a person made of each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, LiteralString, NewType, TypeAlias

from psycopg.types.json import Jsonb

from jobmill.catalog import listings
from jobmill.catalog.listings import ListingId
from jobmill.catalog.posting import Arrangement, Period
from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.errors import Conflict, NotFound
from jobmill.matching import duplicate_matches, verdicts
from jobmill.matching.profiles import ProfileId
from jobmill.matching.verdict import MatchResult, Priority
from jobmill.matching.verdicts import Word

MatchId = NewType("MatchId", int)
Status: TypeAlias = Literal[
    "new", "saved", "applied", "interviewing", "offer", "rejected", "dismissed"
]
Order: TypeAlias = Literal["best", "newest"]


@dataclass(frozen=True, slots=True)
class Match:
    """A match with what its listing says now."""

    id: MatchId
    profile: str
    profile_version: int
    listing_id: ListingId
    url: str
    apply_url: str | None
    title: str | None
    company: str | None
    company_id: int | None
    location: str | None
    arrangement: Arrangement | None
    salary_min: float | None
    salary_max: float | None
    salary_currency: str | None
    salary_period: Period | None
    posted_at: dt.datetime | None
    first_seen_at: dt.datetime
    closed_at: dt.datetime | None
    description: str | None
    match_score: int
    application_priority: Priority
    matched_skills: list[str]
    skill_gaps: list[str]
    resume_intake: dict[str, Any]
    items: list[dict[str, Any]]
    scored_by: str
    scrape_method: str | None
    via: str | None
    status: Status
    status_at: dt.datetime
    status_by: str | None
    note: str | None
    dropped_at: dt.datetime | None
    created_at: dt.datetime
    updated_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which matches; what is None or empty does not matter."""

    profile_id: int | None = None
    ids: Sequence[int] | None = None
    statuses: Sequence[Status] | None = None
    priority: Priority | None = None
    least_score: int | None = None
    arrangement: Arrangement | None = None
    q: str | None = None
    since: int | None = None
    """Only those made after this match."""
    closed: bool = False
    """Also those whose listing is closed."""
    dropped: bool = False
    """Also those that fit no longer."""
    copies: bool = False
    """Also those of a vacancy that another match stands for."""
    order: Order = "best"
    after: int | None = None
    """Only those that come after this match."""
    listings: Sequence[int] | None = None
    """Only those of these listings."""
    reach: int | None = None
    """Look at the listings of so many and no further, whatever is asked of those."""
    limit: int = 50


async def save(tx: Tx, word: Word, *, scrape_method: str | None = None) -> MatchId | None:
    """Keep a verdict and what follows from it: a listing that fits is a match, new or known; one
    that fits no longer drops out unless a person said something of it."""
    if not await verdicts.save(tx, word):
        return None
    if word.outcome == "matched" and word.match_result:
        return await _upsert(tx, word, word.match_result, scrape_method)
    await _drop(tx, word)
    return None


async def _upsert(tx: Tx, word: Word, result: MatchResult, scrape_method: str | None) -> MatchId:
    record = result.record()
    saved = await fetch_one(
        tx,
        _Saved,
        """
        WITH before AS (
            -- Not locked: the row of the verdict is, and one that we have just changed would be
            -- left out here.
            SELECT id, match_score, dropped_at FROM matching.match
             WHERE profile_id = %(profile)s AND listing_id = %(listing)s
        )
        INSERT INTO matching.match AS match
               (id, profile_id, listing_id, company_id, profile_version, match_score,
                application_priority, matched_skills, skill_gaps, resume_intake, items, scored_by,
                scrape_method)
        OVERRIDING SYSTEM VALUE
        -- People type these numbers: judging again must not use them up.
        SELECT coalesce((SELECT id FROM before),
                        nextval(pg_get_serial_sequence('matching.match', 'id'))),
               %(profile)s, listing.id, company_id, %(version)s, %(score)s, %(priority)s,
               %(skills)s, %(gaps)s, %(intake)s, %(items)s, %(by)s, %(method)s
          FROM catalog.listing WHERE listing.id = %(listing)s
        ON CONFLICT ON CONSTRAINT match_once DO UPDATE
           SET company_id = excluded.company_id, profile_version = excluded.profile_version,
               match_score = excluded.match_score,
               application_priority = excluded.application_priority,
               matched_skills = excluded.matched_skills, skill_gaps = excluded.skill_gaps,
               resume_intake = excluded.resume_intake, items = excluded.items,
               scored_by = excluded.scored_by,
               scrape_method = coalesce(excluded.scrape_method, match.scrape_method),
               dropped_at = NULL, updated_at = now()
        RETURNING match.id, match_score,
                  (SELECT match_score FROM before) AS score_before,
                  (SELECT dropped_at IS NOT NULL FROM before) AS was_dropped
        """,
        {
            "profile": word.profile_id,
            "listing": word.listing_id,
            "version": word.profile_version,
            "score": result.match_score,
            "priority": result.application_priority,
            "skills": list(result.matched_skills),
            "gaps": list(result.skill_gaps),
            "intake": Jsonb(record["resume_intake"]),
            "items": Jsonb(record["items"]),
            "by": result.scored_by,
            "method": scrape_method,
        },
    )
    if saved is None:
        raise NotFound("listing", word.listing_id)
    await _tell(tx, saved, word)
    return saved.id


@dataclass(frozen=True, slots=True)
class _Saved:
    id: MatchId
    match_score: int
    score_before: int | None
    was_dropped: bool | None


async def _tell(tx: Tx, saved: _Saved, word: Word) -> None:
    facts: dict[str, Any] = {"score": saved.match_score, "version": word.profile_version}
    if saved.score_before is None:
        await record(tx, saved.id, "created", **facts)
    elif saved.was_dropped:
        await record(tx, saved.id, "back", **facts)
    elif saved.score_before != saved.match_score:
        await record(tx, saved.id, "rescored", before=saved.score_before, **facts)


async def _drop(tx: Tx, word: Word) -> None:
    dropped = await fetch_value(
        tx,
        MatchId,
        """
        UPDATE matching.match SET dropped_at = now(), updated_at = now()
         WHERE profile_id = %s AND listing_id = %s AND status = 'new' AND dropped_at IS NULL
        RETURNING id
        """,
        [word.profile_id, word.listing_id],
    )
    if dropped is not None:
        await record(tx, dropped, "dropped", score=word.score, version=word.profile_version)


async def set_status(
    tx: Tx, id: int, status: Status, *, note: str | None = None, actor: str | None = None
) -> Match:
    """Say what one made of a match; its listing is kept for ever then. NotFound if there is none."""
    before = await lock(tx, id)
    if before.status == status and note is None:
        return before
    await tx.execute(
        """
        UPDATE matching.match
           SET status = %(status)s, status_at = now(), status_by = %(actor)s,
               note = coalesce(%(note)s, note), dropped_at = NULL, updated_at = now()
         WHERE id = %(id)s
        """,
        {"id": id, "status": status, "actor": actor, "note": note},
    )
    await record(
        tx, before.id, "status", actor=actor, before=before.status, after=status, note=note
    )
    if status != "new":
        await listings.mark(tx, before.listing_id, actor=actor)
    return await get(tx, id)


async def lock(tx: Tx, id: int) -> Match:
    """One match; whoever wants to speak of it next waits for us. NotFound if there is none."""
    # Its listing first, as whoever removes that does.
    await tx.execute(
        """
        SELECT FROM catalog.listing
         WHERE id = (SELECT listing_id FROM matching.match WHERE id = %s)
           FOR KEY SHARE
        """,
        [id],
    )
    await tx.execute("SELECT FROM matching.match WHERE id = %s FOR NO KEY UPDATE", [id])
    return await get(tx, id)


async def undo(tx: Tx, id: int, *, actor: str | None = None) -> tuple[Match, Match]:
    """Set the status that it had before the last change; the match before and after. Conflict if
    it never had another."""
    before = await lock(tx, id)
    last = await fetch_value(
        tx,
        _status,
        """
        SELECT data->>'before' FROM matching.event
         WHERE match_id = %s AND what = 'status' AND data->>'before' <> data->>'after'
         ORDER BY id DESC LIMIT 1
        """,
        [id],
    )
    if last is None:
        raise Conflict(f"match {id} was always {before.status}: there is nothing to undo")
    return before, await set_status(tx, id, last, actor=actor)


def _status(found: Status) -> Status:
    return found


async def get(tx: Tx, id: int) -> Match:
    """One match; NotFound if there is none."""
    found = await known(tx, id)
    if found is None:
        raise NotFound("match", id)
    return found


async def known(tx: Tx, id: int) -> Match | None:
    """One match, if there is one."""
    found = await find(tx, Wanted(ids=[id], closed=True, dropped=True, copies=True))
    return found[0] if found else None


async def of_listing(tx: Tx, profile_id: int, listing_id: int) -> MatchId | None:
    """The match that a listing is for a profile, if it is one."""
    return await fetch_value(
        tx,
        MatchId,
        "SELECT id FROM matching.match WHERE profile_id = %s AND listing_id = %s",
        [profile_id, listing_id],
    )


async def find(tx: Tx, wanted: Wanted) -> list[Match]:
    """Matches, the best or the newest first; the order is total, so that paging is stable.
    NotFound if the one to go on from is gone."""
    found = await fetch_all(tx, Match, select(wanted), params(wanted))
    if not found and wanted.after is not None:
        await get(tx, wanted.after)
    return found


def select(wanted: Wanted) -> LiteralString:
    """The statement that finds them: only what is asked for stands in it, so that each question
    has a plan of its own and an index can serve its order."""
    order: LiteralString = f"ORDER BY {_order(wanted)} DESC, match.id DESC"
    near: LiteralString = f"""
        (SELECT * FROM matching.match WHERE {_clauses(wanted)} {order} LIMIT %(reach)s) AS match
    """
    # OFFSET 0: these are found first and put in order after, not the other way round.
    these: LiteralString = (
        "(SELECT * FROM matching.match WHERE listing_id = ANY(%(listings)s) OFFSET 0) AS match"
    )
    several: LiteralString = "matching.match" if wanted.listings is None else these
    return f"""
        SELECT {COLUMNS}
          FROM {several if wanted.reach is None else near}
          JOIN matching.profile ON profile.id = match.profile_id
          JOIN catalog.listing ON listing.id = match.listing_id
         WHERE {_clauses(wanted)} AND {_facts(wanted)} {order} LIMIT %(limit)s
    """


async def edge(tx: Tx, wanted: Wanted) -> MatchId | None:
    """The match at which a look at the first `reach` ends; None if there are no more than that."""
    select: LiteralString = f"""
        SELECT match.id FROM matching.match WHERE {_clauses(wanted)}
         ORDER BY {_order(wanted)} DESC, match.id DESC OFFSET %(reach)s - 1 LIMIT 1
    """
    return await fetch_value(tx, MatchId, select, params(wanted))


def _order(wanted: Wanted) -> LiteralString:
    return "match.created_at" if wanted.order == "newest" else "match.match_score"


def _clauses(wanted: Wanted) -> LiteralString:
    """What is asked of matches themselves."""
    order = _order(wanted)
    place: LiteralString = "created_at" if wanted.order == "newest" else "match_score"
    mark: LiteralString = f"(SELECT {place}, id FROM matching.match WHERE id = %(after)s::bigint)"
    one_status = len(wanted.statuses or ()) == 1
    asked: list[tuple[object, LiteralString]] = [
        (wanted.profile_id, "match.profile_id = %(profile)s"),
        (wanted.ids is not None, "match.id = ANY(%(ids)s)"),
        # One is an equality: then the index of a status has the order, too.
        (one_status, "match.status = %(status)s::matching.match_status"),
        (
            wanted.statuses is not None and not one_status,
            "match.status = ANY(%(statuses)s::matching.match_status[])",
        ),
        (wanted.priority, "match.application_priority = %(priority)s"),
        (wanted.least_score is not None, "match.match_score >= %(least)s"),
        (wanted.since is not None, "match.id > %(since)s::bigint"),
        (wanted.listings is not None, "match.listing_id = ANY(%(listings)s)"),
        (not wanted.dropped, "match.dropped_at IS NULL"),
        (wanted.after is not None, f"({order}, match.id) < {mark}"),
    ]
    clauses: list[LiteralString] = [clause for is_asked, clause in asked if is_asked]
    return " AND ".join(clauses) or "true"


def _facts(wanted: Wanted) -> LiteralString:
    """What is asked of their listings."""
    asked: list[tuple[object, LiteralString]] = [
        (wanted.arrangement, "listing.arrangement = %(arrangement)s"),
        (wanted.q is not None, WORDS),
        (not wanted.closed, "(listing.closed_at IS NULL OR match.status <> 'new')"),
        # Who asks for words is shown all that hold them: a copy that is left out may be the only one.
        (not wanted.copies and wanted.q is None, duplicate_matches.first(*_of_copies(wanted))),
    ]
    clauses: list[LiteralString] = [clause for is_asked, clause in asked if is_asked]
    return " AND ".join(clauses) or "true"


def _of_copies(wanted: Wanted) -> list[LiteralString]:
    """What a copy must hold that stands for others: else neither would be shown."""
    asked: list[tuple[object, LiteralString]] = [
        (wanted.arrangement, "twin.arrangement = %(arrangement)s"),
        (wanted.priority, "other.application_priority = %(priority)s"),
        (wanted.least_score is not None, "other.match_score >= %(least)s"),
    ]
    return [clause for is_asked, clause in asked if is_asked]


COLUMNS: LiteralString = """
    match.id, profile.name AS profile, match.profile_version, match.listing_id, listing.url,
           listing.apply_url, listing.title, listing.company, match.company_id, listing.location,
           listing.arrangement, listing.salary_min, listing.salary_max, listing.salary_currency,
           listing.salary_period, listing.posted_at, listing.first_seen_at, listing.closed_at,
           listing.description, match.match_score, match.application_priority,
           match.matched_skills, match.skill_gaps, match.resume_intake, match.items,
           match.scored_by, match.scrape_method, listing.via, match.status, match.status_at,
           match.status_by, match.note, match.dropped_at, match.created_at, match.updated_at
"""
WORDS: LiteralString = (
    "listing.search @@ websearch_to_tsquery('english', catalog.searchable(%(q)s))"
)


def params(wanted: Wanted) -> dict[str, object]:
    """What `select` asks for by name."""
    statuses = list(wanted.statuses or ())
    return {
        "profile": wanted.profile_id,
        "ids": list(wanted.ids or ()),
        "status": statuses[0] if statuses else None,
        "statuses": statuses,
        "priority": wanted.priority,
        "least": wanted.least_score,
        "arrangement": wanted.arrangement,
        "since": wanted.since,
        "q": wanted.q,
        "after": wanted.after,
        "listings": list(wanted.listings or ()),
        "reach": wanted.reach,
        "limit": wanted.limit,
    }


async def record(tx: Tx, id: MatchId, what: str, *, actor: str | None = None, **data: Any) -> None:
    """Say what happened to a match, in the transaction in which it happens."""
    known = {name: one for name, one in data.items() if one is not None}
    await tx.execute(
        "INSERT INTO matching.event (match_id, what, data, actor) VALUES (%s, %s, %s, %s)",
        [id, what, Jsonb(known), actor],
    )


@dataclass(frozen=True, slots=True)
class Event:
    id: int
    at: dt.datetime
    what: str
    data: dict[str, Any]
    actor: str | None


async def events(tx: Tx, id: int, *, limit: int = 200) -> list[Event]:
    """What happened to a match, oldest first."""
    return await fetch_all(
        tx,
        Event,
        """
        SELECT id, at, what, data, actor FROM matching.event
         WHERE match_id = %s ORDER BY id LIMIT %s
        """,
        [id, limit],
    )


@dataclass(frozen=True, slots=True)
class Count:
    status: Status
    count: int


async def counts(tx: Tx, profile_id: ProfileId) -> list[Count]:
    """How many matches have which status; those that dropped out are not counted."""
    return await fetch_all(
        tx,
        Count,
        """
        SELECT status, count(*)::int AS count FROM matching.match
         WHERE profile_id = %s AND dropped_at IS NULL GROUP BY status ORDER BY status
        """,
        [profile_id],
    )


async def listed(tx: Tx, profile_id: ProfileId, *, most: int) -> list[Count]:
    """How many a list of each status holds, and no more than `most` of each; new ones that closed,
    or that another stands for, are in none."""
    return await fetch_all(
        tx,
        Count,
        f"""
        SELECT 'new'::matching.match_status AS status, count(*)::int AS count
          FROM (SELECT FROM matching.match
                 WHERE profile_id = %(profile)s AND status = 'new' AND dropped_at IS NULL
                   -- OFFSET keeps the planner from joining all listings for those that it counts.
                   AND EXISTS (SELECT 1 FROM catalog.listing
                                WHERE listing.id = listing_id AND closed_at IS NULL OFFSET 0)
                   AND {duplicate_matches.first()}
                 LIMIT %(most)s) AS open
        UNION ALL
        -- These by an index alone: what their listings say does not matter.
        SELECT one.status, counted.count
          FROM unnest(enum_range('saved'::matching.match_status, NULL)) AS one (status),
               LATERAL (SELECT count(*)::int AS count
                          FROM (SELECT FROM matching.match
                                 WHERE profile_id = %(profile)s AND match.status = one.status
                                   AND dropped_at IS NULL
                                 LIMIT %(most)s) AS kept) AS counted
        """,
        {"profile": profile_id, "most": most},
    )


async def newest(tx: Tx) -> int:
    """The number of the match that was made last, for whomever; 0 if there is none."""
    return await fetch_value(tx, int, "SELECT max(id) FROM matching.match") or 0


async def touched(tx: Tx, profile_id: int) -> dict[ListingId, Status]:
    """What a person said of which listings."""
    found = await fetch_all(
        tx,
        _Touched,
        "SELECT listing_id, status FROM matching.match WHERE profile_id = %s AND status <> 'new'",
        [profile_id],
    )
    return {one.listing_id: one.status for one in found}


@dataclass(frozen=True, slots=True)
class _Touched:
    listing_id: ListingId
    status: Status
