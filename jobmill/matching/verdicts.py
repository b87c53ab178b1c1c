"""The newest word on each listing for each profile, also on those that were turned down."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from psycopg.types.json import Jsonb

from jobmill.catalog.listings import ListingId
from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.matching.profiles import ProfileId
from jobmill.matching.verdict import FilterResult, MatchResult, read_filter, read_match

Outcome: TypeAlias = Literal["filtered", "skipped", "matched"]


@dataclass(frozen=True, slots=True)
class Word:
    """What was said of a listing, by which version of whose profile."""

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
    """None before it is kept."""

    @property
    def score(self) -> int | None:
        return self.match_result and self.match_result.match_score


async def save(tx: Tx, word: Word) -> bool:
    """Keep it in place of what was said before; False where a newer version of the profile spoke, or
    the listing is gone."""
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
         -- A newer version of the profile has the last word, whoever is slower.
         WHERE verdict.profile_version <= excluded.profile_version
        """,
        {
            "profile": word.profile_id,
            "listing": word.listing_id,
            "version": word.profile_version,
            "outcome": word.outcome,
            "score": word.score,
            "local": word.local_score,
            "by": word.match_result and word.match_result.scored_by,
            "filter": Jsonb(word.filter_result.record()),
            "match": word.match_result and Jsonb(word.match_result.record()),
            "forced": word.forced,
            "item": word.item,
        },
    )
    return saved.rowcount == 1


@dataclass(frozen=True, slots=True)
class _Row:
    profile_id: ProfileId
    profile_version: int
    listing_id: ListingId
    outcome: Outcome
    filter_result: dict[str, Any]
    match_result: dict[str, Any] | None
    local_score: int | None
    forced: bool
    item: int | None
    judged_at: dt.datetime


async def get(tx: Tx, profile_id: int, listing_id: int) -> Word | None:
    """What was last said of a listing, if it was judged."""
    found = await fetch_one(
        tx,
        _Row,
        """
        SELECT profile_id, profile_version, listing_id, outcome, filter_result, match_result,
               local_score, forced, item, judged_at
          FROM matching.verdict WHERE profile_id = %s AND listing_id = %s
        """,
        [profile_id, listing_id],
    )
    if found is None:
        return None
    match = found.match_result
    return Word(
        found.profile_id,
        found.profile_version,
        found.listing_id,
        found.outcome,
        read_filter(found.filter_result),
        read_match(match) if match is not None else None,
        found.local_score,
        found.forced,
        found.item,
        found.judged_at,
    )


@dataclass(frozen=True, slots=True)
class Brief:
    """A verdict without its reasons."""

    listing_id: ListingId
    profile_version: int
    outcome: Outcome
    score: int | None
    local_score: int | None
    forced: bool


async def briefs(tx: Tx, profile_id: int, ids: list[ListingId]) -> dict[ListingId, Brief]:
    """What was last said of these listings, as far as they were judged."""
    found = await fetch_all(
        tx,
        Brief,
        """
        SELECT listing_id, profile_version, outcome, score, local_score, forced
          FROM matching.verdict WHERE profile_id = %s AND listing_id = ANY(%s)
        """,
        [profile_id, ids],
    )
    return {one.listing_id: one for one in found}


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict and its reason in a line."""

    listing_id: ListingId
    outcome: Outcome
    score: int | None
    threshold: int | None
    summary: str
    """Why it was filtered out; else empty."""


async def said(tx: Tx, profile_id: int, ids: list[ListingId]) -> dict[ListingId, Said]:
    """What was last said of these listings and why, as far as they were judged."""
    found = await fetch_all(
        tx,
        Said,
        """
        SELECT listing_id, outcome, score, (match_result->>'threshold')::int AS threshold,
               filter_result->>'rejection_summary' AS summary
          FROM matching.verdict WHERE profile_id = %s AND listing_id = ANY(%s)
        """,
        [profile_id, ids],
    )
    return {one.listing_id: one for one in found}


@dataclass(frozen=True, slots=True)
class Tally:
    """How many listings came to what."""

    outcome: Outcome
    count: int
    newest: dt.datetime


async def tally(tx: Tx, profile_id: int) -> list[Tally]:
    """How many were judged for a profile, by outcome."""
    return await fetch_all(
        tx,
        Tally,
        """
        SELECT outcome, count(*)::int AS count, max(judged_at) AS newest
          FROM matching.verdict WHERE profile_id = %s GROUP BY outcome ORDER BY outcome
        """,
        [profile_id],
    )


async def count(tx: Tx, profile_id: int, *, most: int = 1_000) -> int:
    """How many were judged for a profile; of very many, the first `most`."""
    sql = """
        SELECT count(*) FROM (SELECT FROM matching.verdict WHERE profile_id = %s LIMIT %s) AS few
    """
    return await fetch_value(tx, int, sql, [profile_id, most]) or 0


async def is_any(tx: Tx, profile_id: int) -> bool:
    """Whether anything was judged for a profile."""
    sql = "SELECT EXISTS (SELECT 1 FROM matching.verdict WHERE profile_id = %s)"
    return bool(await fetch_value(tx, bool, sql, [profile_id]))


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the filter, and how many listings it helped to turn down."""

    rule: str
    kind: Literal["rejection", "strike"]
    count: int


async def rules(tx: Tx, profile_id: int, *, limit: int = 10) -> list[Rule]:
    """The rules that turned most listings down, those that did most first."""
    return await fetch_all(
        tx,
        Rule,
        """
        SELECT said->>'rule' AS rule, kind, count(DISTINCT listing_id)::int AS count
          FROM matching.verdict,
               LATERAL (SELECT 'rejection' AS kind, said
                          FROM jsonb_array_elements(filter_result->'hard_rejections') AS said
                         UNION ALL
                        SELECT 'strike', said
                          FROM jsonb_array_elements(filter_result->'strikes') AS said) AS reason
         WHERE profile_id = %s AND outcome = 'filtered'
         GROUP BY 1, 2 ORDER BY count DESC, rule, kind LIMIT %s
        """,
        [profile_id, limit],
    )
