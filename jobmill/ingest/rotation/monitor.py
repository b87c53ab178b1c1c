"""How the rotation goes: what calls brought, what was wasted, what is due, and what stands still."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobmill.db import Tx, row, rows
from jobmill.errors import Conflict, NotFound
from jobmill.ingest.adapters import PLATFORMS
from jobmill.ingest.rotation import platforms
from jobmill.ingest.rotation.selection import PolicyName
from jobmill.ingest.rotation.targets import Kind, Status


@dataclass(frozen=True, slots=True)
class Brought:
    """A platform in the last hours."""

    platform: str
    calls: int
    results: int
    new: int
    """After duplicates."""
    duplicates: int
    wasted: int
    """Calls that brought nothing new."""
    failed: int
    requests: int
    new_per_call: float
    unique_listings: int
    """Listings first seen in that time that are not a repetition of another."""


async def brought(tx: Tx, at: dt.datetime, span: dt.timedelta) -> list[Brought]:
    """Calls and results of each platform, and the unique listings it found, richest first."""
    return await rows(
        tx,
        Brought,
        """
        WITH made AS (
            SELECT platform, count(*)::int AS calls, sum(result_count)::int AS results,
                   sum(new)::int AS new, sum(duplicates)::int AS duplicates,
                   (count(*) FILTER (WHERE new = 0))::int AS wasted,
                   (count(*) FILTER (WHERE answer IN ('gone', 'error')))::int AS failed,
                   sum(requests)::int AS requests
              FROM rotation.call WHERE called_at > %(since)s GROUP BY platform
        ), listed AS (
            SELECT source_type AS platform, count(*)::int AS unique_listings
              FROM catalog.listing JOIN catalog.source ON source.id = source_id
             WHERE first_seen_at > %(since)s AND duplicate_of IS NULL
             GROUP BY source_type
        )
        SELECT platform, coalesce(calls, 0) AS calls, coalesce(results, 0) AS results,
               coalesce(new, 0) AS new, coalesce(duplicates, 0) AS duplicates,
               coalesce(wasted, 0) AS wasted, coalesce(failed, 0) AS failed,
               coalesce(requests, 0) AS requests,
               coalesce(round(new::numeric / calls, 2), 0)::float8 AS new_per_call,
               coalesce(unique_listings, 0) AS unique_listings
          FROM made FULL JOIN listed USING (platform)
         ORDER BY unique_listings DESC, calls DESC, platform
        """,
        {"since": at - span},
    )


@dataclass(frozen=True, slots=True)
class Day:
    """The calls of one day (UTC)."""

    day: dt.date
    calls: int
    new: int
    new_per_call: float
    wasted: int
    failed: int


async def days(tx: Tx, at: dt.datetime, count: int = 14) -> list[Day]:
    """Yield per call over time, newest first."""
    return await rows(
        tx,
        Day,
        """
        SELECT (called_at AT TIME ZONE 'UTC')::date AS day, count(*)::int AS calls,
               sum(new)::int AS new, round(avg(new), 2)::float8 AS new_per_call,
               (count(*) FILTER (WHERE new = 0))::int AS wasted,
               (count(*) FILTER (WHERE answer IN ('gone', 'error')))::int AS failed
          FROM rotation.call WHERE called_at > %(at)s - make_interval(days => %(days)s)
         GROUP BY 1 ORDER BY 1 DESC
        """,
        {"at": at, "days": count},
    )


@dataclass(frozen=True, slots=True)
class Age:
    """Targets whose last success is so long ago."""

    age: str
    targets: int


async def ages(tx: Tx, at: dt.datetime) -> list[Age]:
    """How stale the active targets are."""
    return await rows(
        tx,
        Age,
        """
        SELECT age, count(*) FILTER (WHERE at >= low AND at < high)::int AS targets
          FROM (VALUES ('never', -1.0, 0.0), ('under 6 hours', 0, 0.25), ('under a day', 0.25, 1),
                       ('under 3 days', 1, 3), ('under a week', 3, 7), ('under 30 days', 7, 30),
                       ('older', 30, 'infinity')) AS bucket (age, low, high)
          LEFT JOIN (SELECT CASE WHEN last_success_at IS NULL THEN -1
                                 ELSE greatest(extract(epoch FROM %(at)s - last_success_at), 0)
                                      / 86400 END AS at
                       FROM rotation.target WHERE status = 'active' AND enabled) AS target ON true
         GROUP BY age, low ORDER BY low
        """,
        {"at": at},
    )


@dataclass(frozen=True, slots=True)
class Standstill:
    """Something that is not called, and why."""

    what: str
    targets: int
    why: str


async def standstill(tx: Tx, at: dt.datetime, environ: Mapping[str, str]) -> list[Standstill]:
    """Platforms that take no call now, targets that are paused or bad, sources that are disabled."""
    shut = (await platforms.room(tx, at, environ)).shut
    off = {one.name: one.off for one in PLATFORMS if one.off and one.name not in shut}
    counts = await rows(
        tx,
        Standstill,
        """
        SELECT 'targets' AS what, count(*)::int AS targets, target.status::text AS why
          FROM rotation.target WHERE target.status <> 'active' GROUP BY target.status
        UNION ALL
        SELECT 'sources', count(*)::int, disabled_reason
          FROM catalog.source WHERE status = 'disabled' GROUP BY disabled_reason
        UNION ALL
        SELECT platform, count(*)::int, ''
          FROM rotation.target WHERE platform = ANY (%(names)s) GROUP BY platform
         ORDER BY 1, 2 DESC
         LIMIT 200
        """,
        {"names": list(shut)},
    )
    named = [Standstill(one.what, one.targets, shut.get(one.what, one.why)) for one in counts]
    return named + [Standstill(name, 0, why) for name, why in off.items()]


@dataclass(frozen=True, slots=True)
class Due:
    """A target and its turn."""

    source: int
    name: str
    platform: str
    kind: Kind
    status: Status
    priority: int
    due_at: dt.datetime
    last_success_at: dt.datetime | None
    new_jobs_last: int | None
    fail_count: int
    queued: bool


async def due(
    tx: Tx,
    at: dt.datetime,
    policy: PolicyName,
    *,
    platform: str | None = None,
    ahead: dt.timedelta = dt.timedelta(),
    limit: int = 50,
) -> list[Due]:
    """What is due, or will be so soon, in the order of its turn."""
    return await rows(
        tx,
        Due,
        """
        SELECT source_id AS source, name, platform, kind, target.status, priority,
               CASE WHEN %(seed)s THEN coalesce(next_allowed_at, known_at) ELSE due_at END AS due_at,
               last_success_at, new_jobs_last, fail_count, queued_at IS NOT NULL AS queued
          FROM rotation.target JOIN catalog.source ON source.id = source_id
         WHERE target.status = 'active' AND enabled AND source.status = 'active'
           AND (%(platform)s::text IS NULL OR platform = %(platform)s)
           AND CASE WHEN %(seed)s THEN coalesce(next_allowed_at, '-infinity') ELSE due_at END
               <= %(at)s + %(ahead)s::interval
         ORDER BY CASE WHEN %(seed)s THEN priority END,
                  CASE WHEN %(seed)s THEN coalesce(last_success_at, '-infinity') ELSE due_at END,
                  source_id
         LIMIT %(limit)s
        """,
        {
            "seed": policy == "seed",
            "platform": platform,
            "at": at,
            "ahead": ahead,
            "limit": limit,
        },
    )


@dataclass(frozen=True, slots=True)
class Report:
    """One run of the rotation, as far as it has come."""

    run: int
    trigger: str
    policy: str
    started_at: dt.datetime
    chosen: int
    called: int
    waiting: int
    """Chosen, and not called yet."""
    requests: int
    new: int
    duplicates: int
    unchanged: int
    failures: int
    limited: int
    skipped: dict[str, Any]
    next_due: dt.datetime | None


async def report(tx: Tx, run: int | None = None) -> Report:
    """That run, or the last one; NotFound or Conflict if there is none."""
    found = await row(
        tx,
        Report,
        """
        SELECT run.id AS run, trigger, policy, started_at, chosen, count(call.id)::int AS called,
               (SELECT count(*)::int FROM rotation.target
                 WHERE queued_at IS NOT NULL AND target.run_id = run.id) AS waiting,
               coalesce(sum(requests), 0)::int AS requests, coalesce(sum(new), 0)::int AS new,
               coalesce(sum(duplicates), 0)::int AS duplicates,
               (count(*) FILTER (WHERE answer = 'not_modified'))::int AS unchanged,
               (count(*) FILTER (WHERE answer IN ('gone', 'error')))::int AS failures,
               (count(*) FILTER (WHERE answer = 'rate_limited'))::int AS limited,
               skipped,
               (SELECT min(CASE policy WHEN 'seed' THEN coalesce(next_allowed_at, known_at)
                                       ELSE due_at END)
                  FROM rotation.target
                 WHERE status = 'active' AND enabled AND queued_at IS NULL) AS next_due
          FROM rotation.run LEFT JOIN rotation.call ON call.run_id = run.id
         WHERE run.id = coalesce(%(run)s::bigint, (SELECT max(id) FROM rotation.run))
         GROUP BY run.id
        """,
        {"run": run},
    )
    if found is None and run is None:
        raise Conflict("the rotation has not run yet: `jobmill rotate run` begins")
    if found is None:
        raise NotFound("run", run)
    return found
