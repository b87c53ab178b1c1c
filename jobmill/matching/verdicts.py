"""The latest verdict on each listing for each profile, including rejected listings."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from psycopg.types.json import Jsonb
from pydantic import TypeAdapter

from jobmill.catalog.listings import ListingId
from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.matching.profiles import ProfileId
from jobmill.matching.verdict import FilterResult, MatchResult

Outcome: TypeAlias = Literal["filtered", "skipped", "matched"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of judging a listing with one version of a profile."""

    profile_id: ProfileId
    profile_version: int
    listing_id: ListingId
    outcome: Outcome
    filter_result: FilterResult
    match_result: MatchResult | None = None
    local_score: int | None = None
    forced: bool = False
    item: int | None = None
    judged_at: dt.datetime | None = None
    """None until it is stored."""

    @property
    def score(self) -> int | None:
        return self.match_result and self.match_result.match_score


_VERDICT = TypeAdapter(Verdict)


async def save(tx: Tx, verdict: Verdict) -> bool:
    """Replace the stored verdict. False if a newer version of the profile has already judged the
    listing, or the listing no longer exists."""
    saved = await tx.execute(
        """
        INSERT INTO matching.verdict
               (profile_id, listing_id, profile_version, outcome, score, local_score, scored_by,
                filter_result, match_result, forced, item)
        SELECT %(profile)s, id, %(version)s, %(outcome)s, %(score)s, %(local)s, %(by)s,
               %(filter)s, %(match)s, %(forced)s, %(item)s
          FROM catalog.listing WHERE id = %(listing)s
           FOR KEY SHARE
        ON CONFLICT (profile_id, listing_id) DO UPDATE
           SET profile_version = excluded.profile_version, outcome = excluded.outcome,
               score = excluded.score, local_score = excluded.local_score,
               scored_by = excluded.scored_by, filter_result = excluded.filter_result,
               match_result = excluded.match_result, forced = excluded.forced,
               item = excluded.item, judged_at = now()
         -- A verdict by a newer version of the profile wins, whichever commits last.
         WHERE verdict.profile_version <= excluded.profile_version
        """,
        {
            "profile": verdict.profile_id,
            "listing": verdict.listing_id,
            "version": verdict.profile_version,
            "outcome": verdict.outcome,
            "score": verdict.score,
            "local": verdict.local_score,
            "by": verdict.match_result and verdict.match_result.scored_by,
            "filter": Jsonb(verdict.filter_result.to_dict()),
            "match": verdict.match_result and Jsonb(verdict.match_result.to_dict()),
            "forced": verdict.forced,
            "item": verdict.item,
        },
    )
    return saved.rowcount == 1


async def get(tx: Tx, profile_id: int, listing_id: int) -> Verdict | None:
    """Read the verdict on a listing, if there is one."""
    row = await fetch_one(
        tx,
        dict[str, Any],
        """
        SELECT profile_id, profile_version, listing_id, outcome, filter_result, match_result,
               local_score, forced, item, judged_at
          FROM matching.verdict WHERE profile_id = %s AND listing_id = %s
        """,
        [profile_id, listing_id],
    )
    return None if row is None else _VERDICT.validate_python(row)


@dataclass(frozen=True, slots=True)
class VerdictSummary:
    """A verdict without its reasons."""

    listing_id: ListingId
    profile_version: int
    outcome: Outcome
    score: int | None
    local_score: int | None
    forced: bool


async def read_summaries(
    tx: Tx, profile_id: int, ids: list[ListingId]
) -> dict[ListingId, VerdictSummary]:
    """Read the verdicts on these listings without their reasons."""
    rows = await fetch_all(
        tx,
        VerdictSummary,
        """
        SELECT listing_id, profile_version, outcome, score, local_score, forced
          FROM matching.verdict WHERE profile_id = %s AND listing_id = ANY(%s)
        """,
        [profile_id, ids],
    )
    return {row.listing_id: row for row in rows}


@dataclass(frozen=True, slots=True)
class VerdictReason:
    """A verdict with a one-line reason."""

    listing_id: ListingId
    outcome: Outcome
    score: int | None
    threshold: int | None
    summary: str
    """What rejects the listing, or else what costs points, the worst first."""


async def read_reasons(
    tx: Tx, profile_id: int, ids: list[ListingId]
) -> dict[ListingId, VerdictReason]:
    """Read the verdicts on these listings with a one-line reason each."""
    rows = await fetch_all(
        tx,
        VerdictReason,
        """
        SELECT listing_id, outcome, score, (match_result->>'threshold')::int AS threshold,
               coalesce(
                   (SELECT string_agg(rejection->>'reason', '; ')
                      FROM jsonb_array_elements(filter_result->'hard_rejections') AS rejection),
                   (SELECT string_agg(strike->>'reason', '; '
                                      ORDER BY (strike->>'strikes')::int DESC)
                      FROM jsonb_array_elements(filter_result->'strikes') AS strike),
                   '') AS summary
          FROM matching.verdict WHERE profile_id = %s AND listing_id = ANY(%s)
        """,
        [profile_id, ids],
    )
    return {row.listing_id: row for row in rows}


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    outcome: Outcome
    count: int
    newest: dt.datetime


async def count_by_outcome(tx: Tx, profile_id: int) -> list[OutcomeCount]:
    """Count the judged listings of a profile by outcome."""
    return await fetch_all(
        tx,
        OutcomeCount,
        """
        SELECT outcome, count(*)::int AS count, max(judged_at) AS newest
          FROM matching.verdict WHERE profile_id = %s GROUP BY outcome ORDER BY outcome
        """,
        [profile_id],
    )


async def count(tx: Tx, profile_id: int, *, limit: int = 1_000) -> int:
    """Count the judged listings of a profile, up to `limit`."""
    sql = """
        SELECT count(*) FROM (SELECT FROM matching.verdict WHERE profile_id = %s LIMIT %s) AS few
    """
    return await fetch_value(tx, int, sql, [profile_id, limit]) or 0


async def has_any(tx: Tx, profile_id: int) -> bool:
    sql = "SELECT EXISTS (SELECT 1 FROM matching.verdict WHERE profile_id = %s)"
    return bool(await fetch_value(tx, bool, sql, [profile_id]))


@dataclass(frozen=True, slots=True)
class RuleCount:
    """A filter rule, and how many listings it helped to reject."""

    rule: str
    kind: Literal["rejection", "strike"]
    count: int


async def count_by_rule(tx: Tx, profile_id: int, *, limit: int = 10) -> list[RuleCount]:
    """Read the rules that rejected most listings, in that order."""
    return await fetch_all(
        tx,
        RuleCount,
        """
        SELECT reason->>'rule' AS rule, kind, count(DISTINCT listing_id)::int AS count
          FROM matching.verdict,
               LATERAL (SELECT 'rejection' AS kind, reason
                          FROM jsonb_array_elements(filter_result->'hard_rejections') AS reason
                         UNION ALL
                        SELECT 'strike', reason
                          FROM jsonb_array_elements(filter_result->'strikes') AS reason) AS reasons
         WHERE profile_id = %s AND outcome = 'filtered'
         GROUP BY 1, 2 ORDER BY count DESC, rule, kind LIMIT %s
        """,
        [profile_id, limit],
    )
