"""Reports on the rotation: yield, waste, due targets, and what is blocked."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobmill.boards.adapters import PLATFORMS
from jobmill.db import Tx, fetch_all, fetch_one
from jobmill.errors import Conflict, NotFound

from . import platform_state
from .policies.eligibility import UNLIMITED
from .targets import PolicyName

RECENT_CALLS = 1_000
"""The number of recent calls that are searched for sources without results."""


@dataclass(frozen=True, slots=True)
class PlatformYield:
    """The calls of a platform within a time span."""

    platform: str
    calls: int
    results: int
    new: int
    """Without duplicates."""
    duplicates: int
    wasted: int
    """Calls that found nothing new."""
    failed: int
    requests: int
    new_per_call: float
    unique_listings: int
    """Listings first seen in that time that duplicate no other."""


async def yield_by_platform(tx: Tx, at: dt.datetime, span: dt.timedelta) -> list[PlatformYield]:
    """Calls, results and unique listings of each platform, most listings first."""
    return await fetch_all(
        tx,
        PlatformYield,
        """
        WITH calls_in_span AS (
            -- Whole hours as they were summed up, and the one in which it begins call by call.
            SELECT platform, calls, results, new, duplicates, wasted, failed, requests
              FROM rotation.hourly_calls WHERE began_at > %(since)s
            UNION ALL
            SELECT platform, 1, result_count, new, duplicates, (new = 0)::int,
                   (answer IN ('gone', 'error'))::int, requests
              FROM rotation.call
             WHERE called_at > %(since)s
               AND called_at < date_trunc('hour', %(since)s::timestamptz, 'UTC') + interval '1 hour'
        ), totals AS (
            SELECT platform, sum(calls)::int AS calls, sum(results)::int AS results,
                   sum(new)::int AS new, sum(duplicates)::int AS duplicates,
                   sum(wasted)::int AS wasted, sum(failed)::int AS failed,
                   sum(requests)::int AS requests
              FROM calls_in_span GROUP BY platform
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
          FROM totals FULL JOIN listed USING (platform)
         ORDER BY unique_listings DESC, calls DESC, platform
        """,
        {"since": at - span},
    )


@dataclass(frozen=True, slots=True)
class SourceYield:
    """The calls of a source within a time span."""

    source: int
    name: str
    platform: str
    calls: int
    new: int
    new_per_call: float
    wasted: int
    failed: int


async def yield_by_source(
    tx: Tx, at: dt.datetime, span: dt.timedelta, *, limit: int = 50
) -> list[SourceYield]:
    """Sources by new listings, followed by recently called sources that found nothing."""
    return await fetch_all(
        tx,
        SourceYield,
        """
        WITH productive AS (
            -- By an index of the calls that brought something, and of nothing else.
            SELECT source_id, sum(new)::int AS new FROM rotation.call
             WHERE called_at > %(since)s AND new > 0
             GROUP BY source_id ORDER BY new DESC, source_id LIMIT %(limit)s
        ), recent AS (
            SELECT DISTINCT source_id FROM (
                SELECT source_id FROM rotation.call WHERE called_at > %(since)s
                 ORDER BY called_at DESC LIMIT %(near)s) AS last
             WHERE (SELECT count(*) FROM productive) < %(limit)s
        )
        SELECT source_id AS source, name, source_type AS platform, calls, new,
               round(new::numeric / calls, 2)::float8 AS new_per_call, wasted, failed
          FROM (SELECT source_id FROM productive UNION SELECT source_id FROM recent) AS reported
         CROSS JOIN LATERAL (
            SELECT count(*)::int AS calls, sum(new)::int AS new,
                   (count(*) FILTER (WHERE new = 0))::int AS wasted,
                   (count(*) FILTER (WHERE answer IN ('gone', 'error')))::int AS failed
              FROM rotation.call
             WHERE call.source_id = reported.source_id AND called_at > %(since)s) AS totals
          JOIN catalog.source ON source.id = source_id
         ORDER BY new DESC, calls DESC, source_id LIMIT %(limit)s
        """,
        {"since": at - span, "limit": limit, "near": RECENT_CALLS},
    )


@dataclass(frozen=True, slots=True)
class CallDay:
    """The calls of one day (UTC)."""

    day: dt.date
    calls: int
    new: int
    new_per_call: float
    wasted: int
    failed: int


async def calls_by_day(tx: Tx, at: dt.datetime, count: int = 14) -> list[CallDay]:
    """Calls per day, newest first; days without a call are left out."""
    return await fetch_all(
        tx,
        CallDay,
        """
        SELECT day::date AS day, calls, new, round(new::numeric / calls, 2)::float8 AS new_per_call,
               wasted, failed
          FROM generate_series(%(today)s::date - %(days)s::int + 1, %(today)s::date,
                               interval '1 day') AS day
         CROSS JOIN LATERAL (
            SELECT sum(calls)::int AS calls, sum(new)::int AS new, sum(wasted)::int AS wasted,
                   sum(failed)::int AS failed
              FROM rotation.hourly_calls
             WHERE began_at >= day::timestamp AT TIME ZONE 'UTC'
               AND began_at < (day::timestamp + interval '1 day') AT TIME ZONE 'UTC') AS totals
         WHERE calls > 0 ORDER BY day DESC
        """,
        {"today": at.astimezone(dt.UTC).date(), "days": count},
    )


@dataclass(frozen=True, slots=True)
class TargetAge:
    """Number of targets by time since their last success."""

    age: str
    targets: int


async def target_ages(tx: Tx, at: dt.datetime) -> list[TargetAge]:
    """How stale the active targets are."""
    return await fetch_all(
        tx,
        TargetAge,
        """
        WITH counts AS (
            SELECT coalesce(width_bucket(last_success_at, %(since)s::timestamptz[]), 6) AS place,
                   count(*)::int AS targets
              FROM rotation.target WHERE status = 'active' AND enabled GROUP BY 1
        )
        SELECT age, coalesce(targets, 0) AS targets
          FROM (VALUES (6, 'never'), (5, 'under 6 hours'), (4, 'under a day'), (3, 'under 3 days'),
                       (2, 'under a week'), (1, 'under 30 days'), (0, 'older'))
            AS bucket (place, age)
          LEFT JOIN counts USING (place) ORDER BY place DESC
        """,
        {"since": [at - dt.timedelta(days=days) for days in (30, 7, 3, 1, 0.25)]},
    )


@dataclass(frozen=True, slots=True)
class BlockedTargets:
    """Something that is not called, and the reason."""

    what: str
    targets: int
    why: str


async def blocked_targets(
    tx: Tx, at: dt.datetime, environ: Mapping[str, str]
) -> list[BlockedTargets]:
    """Platforms that accept no calls now, paused and bad targets, disabled sources."""
    shut = (await platform_state.remaining_calls(tx, at, environ)).unavailable
    off = {
        entry.name: entry.disabled
        for entry in PLATFORMS
        if entry.disabled and entry.name not in shut
    }
    counts = await fetch_all(
        tx,
        BlockedTargets,
        """
        SELECT 'targets' AS what, count(*)::int AS targets, target.status::text AS why
          FROM rotation.target WHERE target.status IN ('paused', 'bad') GROUP BY target.status
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
    named = [
        BlockedTargets(entry.what, entry.targets, shut.get(entry.what, entry.why))
        for entry in counts
    ]
    return named + [BlockedTargets(name, 0, why) for name, why in off.items()]


@dataclass(frozen=True, slots=True)
class PlatformBudget:
    """How many calls a platform accepts now."""

    platform: str
    per_hour: int | None
    per_day: int | None
    left: int | None
    """None: no limit."""
    why: str | None
    """Why it accepts none."""
    quota: int | None
    """Requests per day of its default quota, unless a person has set limits."""


async def platform_budgets(
    tx: Tx, at: dt.datetime, environ: Mapping[str, str]
) -> list[PlatformBudget]:
    """Every platform that has targets or limits."""
    capacity = await platform_state.remaining_calls(tx, at, environ)
    states = await platform_state.load_all(tx)
    limited = {
        state.name for state in states.values() if (state.per_hour, state.per_day) != (None, None)
    }
    capacities: list[PlatformBudget] = []
    for name in sorted({*capacity.remaining, *capacity.unavailable, *limited}):
        state = states.get(name)
        left = capacity.remaining.get(name, 0 if name in capacity.unavailable else UNLIMITED)
        why = capacity.unavailable.get(name)
        limits = (state.per_hour, state.per_day) if state else (None, None)
        quota = platform_state.default_quota(name, state)
        per_day = quota.per_day if quota else None
        left = None if left >= UNLIMITED else left
        capacities.append(PlatformBudget(name, *limits, left, why, per_day))
    return capacities


@dataclass(frozen=True, slots=True)
class RunReport:
    """The progress of one run of the rotation."""

    run: int
    trigger: str
    policy: str
    started_at: dt.datetime
    chosen: int
    called: int
    waiting: int
    """Chosen, but not called yet."""
    requests: int
    new: int
    duplicates: int
    unchanged: int
    failures: int
    limited: int
    skipped: dict[str, Any]


async def run_report(tx: Tx, run: int | None = None) -> RunReport:
    """The given run or the last one; NotFound or Conflict if there is none."""
    run_report = await fetch_one(
        tx,
        RunReport,
        """
        SELECT run.id AS run, trigger, policy, started_at, chosen, count(call.id)::int AS called,
               (SELECT count(*)::int FROM rotation.target
                 WHERE queued_at IS NOT NULL AND target.run_id = run.id) AS waiting,
               coalesce(sum(requests), 0)::int AS requests, coalesce(sum(new), 0)::int AS new,
               coalesce(sum(duplicates), 0)::int AS duplicates,
               (count(*) FILTER (WHERE answer = 'not_modified'))::int AS unchanged,
               (count(*) FILTER (WHERE answer IN ('gone', 'error')))::int AS failures,
               (count(*) FILTER (WHERE answer = 'rate_limited'))::int AS limited,
               skipped
          FROM rotation.run LEFT JOIN rotation.call ON call.run_id = run.id
         WHERE run.id = coalesce(%(run)s::bigint, (SELECT max(id) FROM rotation.run))
         GROUP BY run.id
        """,
        {"run": run},
    )
    if run_report is None and run is None:
        raise Conflict("the rotation has not run yet: `jobmill rotate run` begins")
    if run_report is None:
        raise NotFound("run", run)
    return run_report


async def last_policy(tx: Tx) -> PolicyName | None:
    """The policy of the last run."""
    cursor = await tx.execute("SELECT policy FROM rotation.run ORDER BY id DESC LIMIT 1")
    run = await cursor.fetchone()
    return run[0] if run else None
