"""Matches: listings with a verdict above the threshold, and the status that a person gave them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, LiteralString, NewType, TypeAlias

from psycopg.types.json import Jsonb

from jobmill.catalog import listings
from jobmill.catalog.listings import ListingId
from jobmill.catalog.posting import Arrangement, Period
from jobmill.db import Tx, fetch_all, fetch_or_raise, fetch_single, fetch_value
from jobmill.errors import Conflict, NotFound
from jobmill.matching import duplicate_matches, match_reasons, verdicts
from jobmill.matching.match_reasons import MatchReasons
from jobmill.matching.profiles import ProfileId
from jobmill.matching.verdict import MatchResult, Priority, parse_score_items
from jobmill.matching.verdicts import Verdict
from jobmill.people.persons import LOCAL, Owner

MatchId = NewType("MatchId", int)
Status: TypeAlias = Literal[
    "new", "saved", "applied", "interviewing", "offer", "rejected", "dismissed"
]
Order: TypeAlias = Literal["best", "newest"]
DismissReason: TypeAlias = Literal[
    "pay", "location", "arrangement", "seniority", "skills", "company", "work"
]
"""Why a person dismissed a match; `work` is the kind of work."""


@dataclass(frozen=True, slots=True)
class Match:
    """A match with the current content of its listing."""

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
    dismiss_reason: DismissReason | None
    dropped_at: dt.datetime | None
    created_at: dt.datetime
    updated_at: dt.datetime

    def find_reasons(self) -> MatchReasons:
        return match_reasons.find_reasons(parse_score_items(self.items), self.skill_gaps)


@dataclass(frozen=True, slots=True)
class MatchQuery:
    """Which matches of a profile to read. None and empty values do not restrict."""

    profile_id: int
    ids: Sequence[int] | None = None
    statuses: Sequence[Status] | None = None
    priority: Priority | None = None
    min_score: int | None = None
    arrangement: Arrangement | None = None
    q: str | None = None
    since: int | None = None
    """Only matches with a higher id than this."""
    include_closed: bool = False
    """Also matches with closed listings."""
    include_dropped: bool = False
    """Also matches that no longer reach the threshold."""
    include_duplicates: bool = False
    """Also matches of a vacancy that another match represents."""
    order: Order = "best"
    after: int | None = None
    """Only matches that come after this one in the chosen order."""
    listings: Sequence[int] | None = None
    """Only matches of these listings."""
    scan_limit: int | None = None
    """Scan at most this many matches, whatever the conditions on their listings."""
    limit: int = 50


async def save_verdict(
    tx: Tx, verdict: Verdict, *, scrape_method: str | None = None
) -> MatchId | None:
    """Store a verdict and update the match. A listing that fits becomes a match or updates the
    existing one; one that no longer fits is dropped, unless a person has changed its status."""
    if not await verdicts.save(tx, verdict):
        return None
    if verdict.outcome == "matched" and verdict.match_result:
        return await _upsert(tx, verdict, verdict.match_result, scrape_method)
    await _drop(tx, verdict)
    return None


async def _upsert(
    tx: Tx, verdict: Verdict, result: MatchResult, scrape_method: str | None
) -> MatchId:
    record = result.to_dict()
    saved = await fetch_or_raise(
        tx,
        _Saved,
        """
        WITH before AS (
            -- Not locked: the verdict's row already is, and FOR UPDATE would skip a row this
            -- transaction has just changed.
            SELECT id, match_score, dropped_at FROM matching.match
             WHERE profile_id = %(profile)s AND listing_id = %(listing)s
        )
        INSERT INTO matching.match AS match
               (id, profile_id, listing_id, company_id, profile_version, match_score,
                application_priority, matched_skills, skill_gaps, resume_intake, items, scored_by,
                scrape_method)
        OVERRIDING SYSTEM VALUE
        -- People type match ids: judging a listing again must not use up new ones.
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
            "profile": verdict.profile_id,
            "listing": verdict.listing_id,
            "version": verdict.profile_version,
            "score": result.match_score,
            "priority": result.application_priority,
            "skills": list(result.matched_skills),
            "gaps": list(result.skill_gaps),
            "intake": Jsonb(record["resume_intake"]),
            "items": Jsonb(record["items"]),
            "by": result.scored_by,
            "method": scrape_method,
        },
        NotFound("listing", verdict.listing_id),
    )
    await _record_change(tx, saved, verdict)
    return saved.id


@dataclass(frozen=True, slots=True)
class _Saved:
    id: MatchId
    match_score: int
    score_before: int | None
    was_dropped: bool | None


async def _record_change(tx: Tx, saved: _Saved, verdict: Verdict) -> None:
    facts: dict[str, Any] = {"score": saved.match_score, "version": verdict.profile_version}
    if saved.score_before is None:
        await record_event(tx, saved.id, "created", **facts)
    elif saved.was_dropped:
        await record_event(tx, saved.id, "back", **facts)
    elif saved.score_before != saved.match_score:
        await record_event(tx, saved.id, "rescored", before=saved.score_before, **facts)


async def _drop(tx: Tx, verdict: Verdict) -> None:
    dropped = await fetch_value(
        tx,
        MatchId,
        """
        UPDATE matching.match SET dropped_at = now(), updated_at = now()
         WHERE profile_id = %s AND listing_id = %s AND status = 'new' AND dropped_at IS NULL
        RETURNING id
        """,
        [verdict.profile_id, verdict.listing_id],
    )
    if dropped is not None:
        await record_event(
            tx, dropped, "dropped", score=verdict.score, version=verdict.profile_version
        )


async def set_status(
    tx: Tx,
    id: int,
    status: Status,
    *,
    owner: Owner = LOCAL,
    custom_status_id: int | None = None,
    note: str | None = None,
    actor: str | None = None,
) -> Match:
    """Set the status of a match, and the custom status that counts as it. Its listing is then kept
    forever. NotFound if the match does not exist or belongs to another person."""
    before = await lock(tx, id, owner=owner)
    names = await _read_custom_statuses(tx, id, custom_status_id)
    is_moved = before.status != status or names.before_id != names.after_id
    if not is_moved and note is None:
        return before
    await tx.execute(
        """
        UPDATE matching.match
           SET status = %(status)s, custom_status_id = %(custom)s,
               status_at = CASE WHEN %(moved)s THEN clock_timestamp() ELSE status_at END,
               status_by = %(actor)s,
               note = coalesce(%(note)s, note), dropped_at = NULL, updated_at = now(),
               dismiss_reason = CASE WHEN %(status)s::matching.match_status = 'dismissed' THEN dismiss_reason END
         WHERE id = %(id)s
        """,
        {
            "id": id,
            "status": status,
            "custom": names.after_id,
            "moved": is_moved,
            "actor": actor,
            "note": note,
        },
    )
    await record_event(
        tx,
        before.id,
        "status",
        actor=actor,
        before=before.status,
        after=status,
        custom_before=names.before,
        custom_before_id=names.before_id,
        custom_after=names.after,
        custom_after_id=names.after_id,
        note=note,
    )
    if status != "new":
        await listings.mark(tx, before.listing_id, actor=actor)
    return await get(tx, id, owner=owner)


@dataclass(frozen=True, slots=True)
class _CustomStatuses:
    """The custom statuses before and after a change."""

    before_id: int | None
    before: str | None
    after_id: int | None
    after: str | None


async def _read_custom_statuses(tx: Tx, id: int, custom_status_id: int | None) -> _CustomStatuses:
    return await fetch_single(
        tx,
        _CustomStatuses,
        """
        SELECT former.id AS before_id, former.name AS before, next.id AS after_id, next.name AS after
          FROM matching.match LEFT JOIN matching.custom_status AS former ON former.id = custom_status_id
          LEFT JOIN matching.custom_status AS next
            ON next.id = %s::bigint AND next.profile_id = match.profile_id
         WHERE match.id = %s
        """,
        [custom_status_id, id],
    )


async def set_dismiss_reason(
    tx: Tx,
    id: int,
    reason: DismissReason,
    *,
    owner: Owner = LOCAL,
    actor: str | None = None,
) -> Match:
    """Say why a match was dismissed. Conflict if it is not dismissed."""
    before = await lock(tx, id, owner=owner)
    if before.status != "dismissed":
        raise Conflict(f"Match {id} is {before.status}, not dismissed.")
    await tx.execute("UPDATE matching.match SET dismiss_reason = %s WHERE id = %s", [reason, id])
    await record_event(tx, before.id, "dismiss reason", actor=actor, reason=reason)
    return await get(tx, id, owner=owner)


async def lock(tx: Tx, id: int, *, owner: Owner = LOCAL) -> Match:
    """Read a match and lock it until commit. NotFound if it does not exist or belongs to another
    person."""
    # Lock the listing first, in the same order as the code that deletes listings.
    await tx.execute(
        """
        SELECT FROM catalog.listing
         WHERE id = (SELECT listing_id FROM matching.match WHERE id = %s)
           FOR KEY SHARE
        """,
        [id],
    )
    await tx.execute("SELECT FROM matching.match WHERE id = %s FOR NO KEY UPDATE", [id])
    return await get(tx, id, owner=owner)


async def has_match(tx: Tx, listing_id: int, *, owner: Owner) -> bool:
    """Whether a listing is a match of one of the owner's profiles."""
    sql = """
        SELECT match.id FROM matching.match JOIN matching.profile ON profile.id = profile_id
         WHERE listing_id = %s AND owner_id IS NOT DISTINCT FROM %s::bigint LIMIT 1
    """
    return await fetch_value(tx, int, sql, [listing_id, owner]) is not None


async def undo_status(
    tx: Tx, id: int, *, owner: Owner = LOCAL, actor: str | None = None
) -> tuple[Match, Match]:
    """Restore the status before the last change, and return the match before and after. Conflict if
    the status never changed."""
    before = await lock(tx, id, owner=owner)
    cursor = await tx.execute(
        """
        SELECT data->>'before',
               (SELECT id FROM matching.custom_status
                 WHERE id = (data->>'custom_before_id')::bigint) AS custom_status_id
          FROM matching.event
         WHERE match_id = %s AND type = 'status'
           AND (data->>'before', data->>'custom_before_id')
               IS DISTINCT FROM (data->>'after', data->>'custom_after_id')
         ORDER BY id DESC LIMIT 1
        """,
        [id],
    )
    last = await cursor.fetchone()
    if last is None:
        raise Conflict(f"The status of match {id} never changed: there is nothing to undo.")
    status, custom_status_id = last
    return before, await set_status(
        tx, id, status, owner=owner, custom_status_id=custom_status_id, actor=actor
    )


async def get(tx: Tx, id: int, *, owner: Owner = LOCAL) -> Match:
    """Read a match. NotFound if it does not exist or belongs to another person."""
    match = await find_by_id(tx, id, owner=owner)
    if match is None:
        raise NotFound("match", id)
    return match


async def find_by_id(tx: Tx, id: int, *, owner: Owner = LOCAL) -> Match | None:
    """Find a match of this owner."""
    profile_id = await fetch_value(
        tx,
        ProfileId,
        """
        SELECT profile.id FROM matching.profile JOIN matching.match ON profile_id = profile.id
         WHERE match.id = %s AND owner_id IS NOT DISTINCT FROM %s::bigint
        """,
        [id, owner],
    )
    return None if profile_id is None else await _find_in_profile(tx, profile_id, id)


async def _find_in_profile(tx: Tx, profile_id: int, id: int) -> Match | None:
    query = MatchQuery(
        profile_id, [id], include_closed=True, include_dropped=True, include_duplicates=True
    )
    matches = await find(tx, query)
    return matches[0] if matches else None


async def find_id_by_listing(tx: Tx, profile_id: int, listing_id: int) -> MatchId | None:
    """Find the match of a listing for a profile."""
    return await fetch_value(
        tx,
        MatchId,
        "SELECT id FROM matching.match WHERE profile_id = %s AND listing_id = %s",
        [profile_id, listing_id],
    )


async def find(tx: Tx, query: MatchQuery) -> list[Match]:
    """Find matches, best or newest first. The order is total, so paging is stable. NotFound if the
    match to continue from no longer exists or is one of another profile."""
    if query.q is not None:
        # A generic plan, made without knowing the words, is slow for most words.
        await tx.execute("SET LOCAL plan_cache_mode = force_custom_plan")
    matches = await fetch_all(tx, Match, build_select(query), query_params(query))
    if matches or query.after is None:
        return matches
    if await _find_in_profile(tx, query.profile_id, query.after) is None:
        raise NotFound("match", query.after)
    return matches


def build_select(query: MatchQuery) -> LiteralString:
    """Build the query from the given conditions only, so that each combination gets its own plan
    and an index can provide the order."""
    order: LiteralString = f"ORDER BY {_order_column(query)} DESC, match.id DESC"
    near: LiteralString = f"""
        (SELECT * FROM matching.match WHERE {_match_conditions(query)} {order} LIMIT %(reach)s) AS match
    """
    # OFFSET 0 makes PostgreSQL find these rows first and sort them afterwards, not the other way
    # round.
    these: LiteralString = (
        "(SELECT * FROM matching.match WHERE listing_id = ANY(%(listings)s) OFFSET 0) AS match"
    )
    several: LiteralString = "matching.match" if query.listings is None else these
    return f"""
        SELECT {COLUMNS}
          FROM {several if query.scan_limit is None else near}
          JOIN matching.profile ON profile.id = match.profile_id
          JOIN catalog.listing ON listing.id = match.listing_id
         WHERE {_match_conditions(query)} AND {_listing_conditions(query)} {order} LIMIT %(limit)s
    """


async def find_scan_end(tx: Tx, query: MatchQuery) -> MatchId | None:
    """Find the last match of the first `scan_limit`; None if there are fewer."""
    select: LiteralString = f"""
        SELECT match.id FROM matching.match WHERE {_match_conditions(query)}
         ORDER BY {_order_column(query)} DESC, match.id DESC OFFSET %(reach)s - 1 LIMIT 1
    """
    return await fetch_value(tx, MatchId, select, query_params(query))


def _order_column(query: MatchQuery) -> LiteralString:
    return "match.created_at" if query.order == "newest" else "match.sort_score"


def _match_conditions(query: MatchQuery) -> LiteralString:
    """Conditions on matches."""
    order = _order_column(query)
    place: LiteralString = "created_at" if query.order == "newest" else "sort_score"
    mark: LiteralString = f"""
        (SELECT {place}, id FROM matching.match
          WHERE id = %(after)s::bigint AND profile_id = %(profile)s)
    """
    one_status = len(query.statuses or ()) == 1
    conditions: list[tuple[object, LiteralString]] = [
        (True, "match.profile_id = %(profile)s"),
        (query.ids is not None, "match.id = ANY(%(ids)s)"),
        # A single status is an equality, so the index on status also provides the order.
        (one_status, "match.status = %(status)s::matching.match_status"),
        (
            query.statuses is not None and not one_status,
            "match.status = ANY(%(statuses)s::matching.match_status[])",
        ),
        (query.priority, "match.application_priority = %(priority)s"),
        (query.min_score is not None, "match.match_score >= %(min_score)s"),
        (query.since is not None, "match.id > %(since)s::bigint"),
        (query.listings is not None, "match.listing_id = ANY(%(listings)s)"),
        (not query.include_dropped, "match.dropped_at IS NULL"),
        (query.after is not None, f"({order}, match.id) < {mark}"),
    ]
    clauses: list[LiteralString] = [clause for applies, clause in conditions if applies]
    return " AND ".join(clauses) or "true"


def _listing_conditions(query: MatchQuery) -> LiteralString:
    """Conditions on listings."""
    conditions: list[tuple[object, LiteralString]] = [
        (query.arrangement, "listing.arrangement = %(arrangement)s"),
        (query.q is not None, MATCHES_WORDS),
        (not query.include_closed, "(listing.closed_at IS NULL OR match.status <> 'new')"),
        # A search shows every duplicate that contains the words, because a hidden one may be the
        # only one that does.
        (
            not query.include_duplicates and query.q is None,
            duplicate_matches.shown_clause(*_duplicate_conditions(query)),
        ),
    ]
    clauses: list[LiteralString] = [clause for applies, clause in conditions if applies]
    return " AND ".join(clauses) or "true"


def _duplicate_conditions(query: MatchQuery) -> list[LiteralString]:
    """Conditions that a duplicate must also meet to represent others; otherwise neither would be
    shown."""
    conditions: list[tuple[object, LiteralString]] = [
        (query.arrangement, "twin.arrangement = %(arrangement)s"),
        (query.priority, "other.application_priority = %(priority)s"),
        (query.min_score is not None, "other.match_score >= %(min_score)s"),
    ]
    return [clause for applies, clause in conditions if applies]


COLUMNS: LiteralString = """
    match.id, profile.name AS profile, match.profile_version, match.listing_id, listing.url,
           listing.apply_url, listing.title, listing.company, match.company_id, listing.location,
           listing.arrangement, listing.salary_min, listing.salary_max, listing.salary_currency,
           listing.salary_period, listing.posted_at, listing.first_seen_at, listing.closed_at,
           listing.description, match.match_score, match.application_priority,
           match.matched_skills, match.skill_gaps, match.resume_intake, match.items,
           match.scored_by, match.scrape_method, listing.via, match.status, match.status_at,
           match.status_by, match.note, match.dismiss_reason, match.dropped_at, match.created_at, match.updated_at
"""
MATCHES_WORDS: LiteralString = "listing.search @@ catalog.words_query(%(q)s)"


def query_params(query: MatchQuery) -> dict[str, object]:
    """The named parameters of `build_select`."""
    statuses = list(query.statuses or ())
    return {
        "profile": query.profile_id,
        "ids": list(query.ids or ()),
        "status": statuses[0] if statuses else None,
        "statuses": statuses,
        "priority": query.priority,
        "min_score": query.min_score,
        "arrangement": query.arrangement,
        "since": query.since,
        "q": query.q,
        "after": query.after,
        "listings": list(query.listings or ()),
        "reach": query.scan_limit,
        "limit": query.limit,
    }


async def record_event(
    tx: Tx, id: MatchId, what: str, *, actor: str | None = None, **data: Any
) -> None:
    """Add an event to a match's history, in the transaction that changes the match."""
    values = {name: value for name, value in data.items() if value is not None}
    await tx.execute(
        "INSERT INTO matching.event (match_id, type, data, actor) VALUES (%s, %s, %s, %s)",
        [id, what, Jsonb(values), actor],
    )


@dataclass(frozen=True, slots=True)
class MatchEvent:
    id: int
    at: dt.datetime
    what: str
    data: dict[str, Any]
    actor: str | None


async def read_events(tx: Tx, id: int, *, limit: int = 200) -> list[MatchEvent]:
    """Read a match's history, oldest first."""
    return await fetch_all(
        tx,
        MatchEvent,
        """
        SELECT id, at, type AS what, data, actor FROM matching.event
         WHERE match_id = %s ORDER BY id LIMIT %s
        """,
        [id, limit],
    )


@dataclass(frozen=True, slots=True)
class StatusCount:
    status: Status
    count: int


async def count_by_status(tx: Tx, profile_id: ProfileId) -> list[StatusCount]:
    """Count matches by status, without dropped ones."""
    return await fetch_all(
        tx,
        StatusCount,
        """
        SELECT status, count(*)::int AS count FROM matching.match
         WHERE profile_id = %s AND dropped_at IS NULL GROUP BY status ORDER BY status
        """,
        [profile_id],
    )


async def count_shown(tx: Tx, profile_id: ProfileId, *, limit: int) -> list[StatusCount]:
    """Count the matches that the list of each status shows, up to `limit` each. New matches that are
    closed, or that a duplicate represents, are not shown."""
    return await fetch_all(
        tx,
        StatusCount,
        f"""
        SELECT 'new'::matching.match_status AS status, count(*)::int AS count
          FROM (SELECT FROM matching.match
                 WHERE profile_id = %(profile)s AND status = 'new' AND dropped_at IS NULL
                   -- OFFSET 0 keeps the planner from joining all listings.
                   AND EXISTS (SELECT 1 FROM catalog.listing
                                WHERE listing.id = listing_id AND closed_at IS NULL OFFSET 0)
                   AND {duplicate_matches.shown_clause()}
                 LIMIT %(limit)s) AS open
        UNION ALL
        -- An index alone answers these counts: the listings do not matter.
        SELECT list.status, counted.count
          FROM unnest(enum_range('saved'::matching.match_status, NULL)) AS list (status),
               LATERAL (SELECT count(*)::int AS count
                          FROM (SELECT FROM matching.match
                                 WHERE profile_id = %(profile)s AND match.status = list.status
                                   AND dropped_at IS NULL
                                 LIMIT %(limit)s) AS shown) AS counted
        """,
        {"profile": profile_id, "limit": limit},
    )


async def count_created(tx: Tx, days: int) -> int:
    """Count the matches created in the last `days` days, today included (days are UTC)."""
    sql = """
        SELECT count(*) FROM matching.match
         WHERE created_at >= date_trunc('day', now(), 'UTC') - %(days)s * interval '24 hours'
    """
    return await fetch_value(tx, int, sql, {"days": days - 1}) or 0


async def newest_id(tx: Tx) -> int:
    """The highest match id of any profile; 0 if there are no matches."""
    return await fetch_value(tx, int, "SELECT max(id) FROM matching.match") or 0


async def read_statuses(tx: Tx, profile_id: int) -> dict[ListingId, Status]:
    """Read the status of every listing that a person has touched."""
    touched = await tx.execute(
        "SELECT listing_id, status FROM matching.match WHERE profile_id = %s AND status <> 'new'",
        [profile_id],
    )
    return dict(await touched.fetchall())
