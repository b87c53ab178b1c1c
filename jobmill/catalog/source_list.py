"""One page of the list of sources, filtered, newest first, with recent runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from jobmill.catalog import sources
from jobmill.catalog.sources import Source, SourceId
from jobmill.db import Tx, fetch_all, fetch_single

Show: TypeAlias = Literal["all", "troubled", "disabled", "rejected"]

MAX_RECENT_RUNS = 20
"""Runs of a source to show in a chart."""


@dataclass(frozen=True, slots=True)
class SourceFilter:
    """Which sources to list; all conditions must hold."""

    show: Show = "all"
    """`all` leaves out rejected sources; `troubled`: enabled, but the last run had a problem."""
    platform: str | None = None
    q: str | None = None
    """Part of the name or the token."""
    before: int | None = None
    """The id of the last source on the previous page."""
    limit: int = 50


async def find(tx: Tx, filter: SourceFilter) -> list[Source]:
    """One page, newest first; pass the last id as `before` for the next page."""
    # Select ids first, so that listings are counted only for sources on this page.
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
        asdict(filter),
    )
    ids = [SourceId(id) for (id,) in await cursor.fetchall()]
    return (await sources.find(tx, ids=ids, limit=filter.limit))[::-1]


@dataclass(frozen=True, slots=True)
class TroubleCounts:
    troubled: int
    disabled: int
    given_up: int
    """Disabled after repeated failures, not by a person."""


async def count_troubled(tx: Tx, *, limit: int = 1_000) -> TroubleCounts:
    """Count sources with a failed last run and disabled ones, each up to `limit`."""
    return await fetch_single(
        tx,
        TroubleCounts,
        """
        SELECT (SELECT count(*) FROM (SELECT FROM catalog.source
                                       WHERE status = 'active' AND last_cause IS NOT NULL
                                       LIMIT %(limit)s) AS few) AS troubled,
               (SELECT count(*) FROM (SELECT FROM catalog.source WHERE status = 'disabled'
                                       LIMIT %(limit)s) AS few) AS disabled,
               (SELECT count(*) FROM (SELECT FROM catalog.source
                                       WHERE status = 'disabled' AND retry_at IS NOT NULL
                                       LIMIT %(limit)s) AS few) AS given_up
        """,
        {"limit": limit},
    )


async def find_platforms(tx: Tx) -> list[str]:
    """The platforms that have sources."""
    cursor = await tx.execute(
        """
        WITH RECURSIVE platform AS (
            SELECT min(source_type) AS name FROM catalog.source
            UNION ALL
            -- An index skip scan: from each platform to the next, without reading its sources.
            SELECT (SELECT min(source_type) FROM catalog.source WHERE source_type > platform.name)
              FROM platform WHERE platform.name IS NOT NULL
        )
        SELECT name FROM platform WHERE name IS NOT NULL
        """
    )
    return [name for (name,) in await cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The outcome of a run and the number of postings it saw."""

    source_id: int
    outcome: str
    seen: int


async def find_recent_runs(tx: Tx, ids: Iterable[int]) -> Mapping[int, Sequence[RunOutcome]]:
    """The last runs of each source, oldest first."""
    runs = await fetch_all(
        tx,
        RunOutcome,
        """
        SELECT source_id, outcome, seen
          FROM unnest(%(ids)s::bigint[]) AS requested (id)
         CROSS JOIN LATERAL (SELECT id AS run_id, source_id, outcome, seen FROM catalog.run
                              WHERE source_id = requested.id ORDER BY id DESC LIMIT %(limit)s) AS last
         ORDER BY run_id
        """,
        {"ids": list(ids), "limit": MAX_RECENT_RUNS},
    )
    by_source: defaultdict[int, list[RunOutcome]] = defaultdict(list)
    for run in runs:
        by_source[run.source_id].append(run)
    return by_source


def posting_counts(runs: Iterable[RunOutcome]) -> list[int]:
    """The number of postings after each run; an unchanged run repeats the previous number, a
    failed run is left out."""
    counts: list[int] = []
    for run in runs:
        if run.outcome in ("complete", "truncated", "empty"):
            counts.append(run.seen)
        elif run.outcome == "unchanged" and counts:
            counts.append(counts[-1])
    return counts
