"""Sources as a page lists them: those that fit, the newest first, each with its last runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jobmill.catalog import sources
from jobmill.catalog.sources import Source, SourceId
from jobmill.db import Tx, fetch_all, fetch_one

Show: TypeAlias = Literal["all", "troubled", "disabled", "rejected"]

MAX_RECENT_RUNS = 20
"""So many runs of a source are drawn."""


@dataclass(frozen=True, slots=True)
class SourceFilter:
    """Which sources; every part that is given must hold."""

    show: Show = "all"
    """All but the rejected ones, or: those that run but whose last run was odd, or that stand still."""
    platform: str | None = None
    q: str | None = None
    """A part of the name or the token."""
    before: int | None = None
    """The last one of the page before."""
    limit: int = 50


async def find(tx: Tx, wanted: SourceFilter) -> list[Source]:
    """One page, the newest first; the next page lies before the last one."""
    # Ids first: what is passed over is not counted.
    cursor = await tx.execute(
        """
        SELECT id FROM catalog.source
         WHERE (%(before)s::bigint IS NULL OR id < %(before)s)
           AND CASE %(show)s WHEN 'troubled' THEN status = 'active' AND last_cause IS NOT NULL
                             WHEN 'disabled' THEN status = 'disabled'
                             WHEN 'rejected' THEN status = 'rejected'
                             ELSE status <> 'rejected' END
           AND (%(platform)s::text IS NULL OR source_type = %(platform)s)
           AND (%(q)s::text IS NULL
                OR position(lower(%(q)s) IN lower(name || ' ' || token)) > 0)
         ORDER BY id DESC
         LIMIT %(limit)s
        """,
        {
            "before": wanted.before,
            "show": wanted.show,
            "platform": wanted.platform,
            "q": wanted.q,
            "limit": wanted.limit,
        },
    )
    ids = [SourceId(id) for (id,) in await cursor.fetchall()]
    return (await sources.find(tx, ids=ids, limit=wanted.limit))[::-1]


@dataclass(frozen=True, slots=True)
class TroubleCounts:
    troubled: int
    disabled: int


async def count_troubled(tx: Tx, *, most: int = 1_000) -> TroubleCounts:
    """How many are in trouble, and how many stand still; of very many, the first `most`."""
    found = await fetch_one(
        tx,
        TroubleCounts,
        """
        SELECT (SELECT count(*) FROM (SELECT FROM catalog.source
                                       WHERE status = 'active' AND last_cause IS NOT NULL
                                       LIMIT %(most)s) AS few) AS troubled,
               (SELECT count(*) FROM (SELECT FROM catalog.source WHERE status = 'disabled'
                                       LIMIT %(most)s) AS few) AS disabled
        """,
        {"most": most},
    )
    assert found is not None
    return found


async def find_platforms(tx: Tx) -> list[str]:
    """The platforms that we have sources of, however many."""
    cursor = await tx.execute(
        """
        WITH RECURSIVE known AS (
            SELECT min(source_type) AS name FROM catalog.source
            UNION ALL
            -- From each to the next one by the index, past all sources of it.
            SELECT (SELECT min(source_type) FROM catalog.source WHERE source_type > known.name)
              FROM known WHERE known.name IS NOT NULL
        )
        SELECT name FROM known WHERE name IS NOT NULL
        """
    )
    return [name for (name,) in await cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended, and how many postings it saw."""

    source_id: int
    outcome: str
    seen: int


async def find_recent_runs(
    tx: Tx, ids: Iterable[int], *, limit: int = MAX_RECENT_RUNS
) -> Mapping[int, Sequence[RunOutcome]]:
    """The last runs of each of these sources, oldest first."""
    found = await fetch_all(
        tx,
        RunOutcome,
        """
        SELECT source_id, outcome, seen
          FROM unnest(%(ids)s::bigint[]) AS asked (id)
         CROSS JOIN LATERAL (SELECT id AS run_id, source_id, outcome, seen FROM catalog.run
                              WHERE source_id = asked.id ORDER BY id DESC LIMIT %(limit)s) AS last
         ORDER BY run_id
        """,
        {"ids": list(ids), "limit": limit},
    )
    by_source: defaultdict[int, list[RunOutcome]] = defaultdict(list)
    for one in found:
        by_source[one.source_id].append(one)
    return by_source


def posting_counts(runs: Iterable[RunOutcome]) -> list[int]:
    """How many postings there were after each run; one that saw nothing new or failed says nothing
    of its own."""
    counts: list[int] = []
    for one in runs:
        if one.outcome in ("complete", "truncated", "empty"):
            counts.append(one.seen)
        elif one.outcome == "unchanged" and counts:
            counts.append(counts[-1])
    return counts
