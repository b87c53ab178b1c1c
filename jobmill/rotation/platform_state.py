"""The state of each platform: averages, circuit breaker, and remaining calls."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import LiteralString

from jobmill.boards import api_keys
from jobmill.boards.adapters import BY_NAME
from jobmill.boards.quotas import QUOTAS, Quota
from jobmill.catalog import history
from jobmill.db import Tx, fetch_all, fetch_one

from . import epoch_times
from .policies import eligibility, yield_model
from .policies.eligibility import UNLIMITED, BreakerRules, BreakerState

CLAIM_LIFETIME = dt.timedelta(hours=6)
"""A claim expires after this time: its item was lost."""
PAGES_PER_CALL = 5
"""Requests that a call of a metered platform may make before its calls show how many it makes."""
_MINUTE, _HOUR, _DAY = dt.timedelta(minutes=1), dt.timedelta(hours=1), dt.timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class PlatformState:
    name: str
    per_hour: int | None
    per_day: int | None
    limits_set: bool
    """By a person; otherwise the default quota applies."""
    new_listings: float
    observed_days: float
    entries: float
    entry_days: float
    pooled_at: dt.datetime | None
    streak: int
    open_count: int
    blocked_until: dt.datetime | None
    blocked_at: dt.datetime | None
    probe_at: dt.datetime | None
    hold_count: int

    @property
    def average(self) -> yield_model.PlatformAverage:
        return yield_model.PlatformAverage(
            self.new_listings,
            self.observed_days,
            self.entries,
            self.entry_days,
            epoch_times.to_seconds(self.pooled_at),
        )

    @property
    def breaker(self) -> BreakerState:
        return BreakerState(
            self.streak,
            self.open_count,
            epoch_times.to_blocked_until(self.blocked_until),
            epoch_times.to_seconds(self.blocked_at),
            epoch_times.to_seconds(self.probe_at),
            self.hold_count,
        )


_SELECT: LiteralString = """
    SELECT name, per_hour, per_day, limits_set, new_listings, observed_days,
           entries, entry_days, pooled_at, streak, open_count, blocked_until,
           blocked_at, probe_at, hold_count
      FROM rotation.platform
"""


async def load_all(tx: Tx) -> dict[str, PlatformState]:
    """All platforms that were ever called or limited, by name."""
    platforms = await fetch_all(tx, PlatformState, _SELECT)
    return {platform.name: platform for platform in platforms}


async def add_platforms(tx: Tx, names: Iterable[str]) -> None:
    """Add missing platforms."""
    await tx.execute(
        """
        INSERT INTO rotation.platform (name) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING
        """,
        [sorted(names)],
    )


async def lock_platform(tx: Tx, name: str, *, wait: bool) -> PlatformState | None:
    """Lock the platform's row; None if another transaction holds it and `wait` is false."""
    if wait:
        await tx.execute("SELECT 1 FROM rotation.platform WHERE name = %s FOR UPDATE", [name])
    select: LiteralString = f"{_SELECT} WHERE name = %s FOR UPDATE SKIP LOCKED"
    return await fetch_one(tx, PlatformState, select, [name])


async def save_state(
    tx: Tx, name: str, average: yield_model.PlatformAverage, trouble: BreakerState
) -> None:
    """Store what calls have taught about a platform."""
    await tx.execute(
        """
        UPDATE rotation.platform
           SET new_listings = %(new_listings)s, observed_days = %(observed_days)s, entries = %(entries)s,
               entry_days = %(entry_days)s, pooled_at = %(pooled_at)s, streak = %(streak)s,
               open_count = %(open_count)s, blocked_until = %(blocked_until)s, blocked_at = %(blocked_at)s,
               probe_at = %(probe_at)s, hold_count = %(hold_count)s
         WHERE name = %(name)s
        """,
        {
            **asdict(average),
            **asdict(trouble),
            "name": name,
            "pooled_at": epoch_times.to_datetime(average.at),
            "blocked_until": epoch_times.to_datetime(trouble.blocked_until),
            "blocked_at": epoch_times.to_datetime(trouble.blocked_at),
            "probe_at": epoch_times.to_datetime(trouble.probe_at),
        },
    )


async def mark_probed(tx: Tx, names: list[str], at: dt.datetime) -> None:
    """Record that a probe was sent to each of these platforms."""
    # Skip locked rows: their holder saves an outcome and may wait for a target that this
    # transaction holds. Until then the claim on the target prevents a second probe.
    await tx.execute(
        """
        UPDATE rotation.platform SET probe_at = %s
         WHERE name IN (SELECT name FROM rotation.platform
                         WHERE name = ANY (%s) AND open_count > 0 FOR UPDATE SKIP LOCKED)
        """,
        [at, names],
    )


async def set_limits(
    tx: Tx, name: str, *, per_hour: int | None, per_day: int | None, actor: str | None = None
) -> None:
    """Set the limits of calls to a platform, in place of its default quota; None removes a limit."""
    await tx.execute(
        """
        INSERT INTO rotation.platform (name, per_hour, per_day, limits_set)
        VALUES (%(name)s, %(per_hour)s, %(per_day)s, true)
        ON CONFLICT (name) DO UPDATE
           SET per_hour = excluded.per_hour, per_day = excluded.per_day, limits_set = true
        """,
        {"name": name, "per_hour": per_hour, "per_day": per_day},
    )
    limits = {"per_hour": per_hour, "per_day": per_day}
    await history.record(tx, "vendor", name, "limited", actor=actor, **limits)


async def reset_limits(tx: Tx, name: str, *, actor: str | None = None) -> None:
    """Return to the default quota of a platform, or to no limit if it has none."""
    await tx.execute(
        """
        UPDATE rotation.platform SET per_hour = NULL, per_day = NULL, limits_set = false
         WHERE name = %s
        """,
        [name],
    )
    await history.record(tx, "vendor", name, "limited", actor=actor, default=True)


def default_quota(name: str, state: PlatformState | None) -> Quota | None:
    """The quota that applies unless a person has set limits."""
    return None if state and state.limits_set else QUOTAS.get(name)


@dataclass(frozen=True, slots=True)
class _PlatformUse:
    platform: str
    hour: int
    hour_first_at: dt.datetime | None
    day: int
    day_first_at: dt.datetime | None
    most_requests: int | None
    """Of one call in the last day."""
    queued: int
    held_until: dt.datetime | None


@dataclass(frozen=True, slots=True)
class _QuotaUse:
    """The requests of a platform within one time span of its quota."""

    platform: str
    span: dt.timedelta
    allowed: int
    used: int
    first_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class PlatformCapacity:
    """How many calls each platform accepts now, and why some accept none."""

    remaining: Mapping[str, int]
    unavailable: Mapping[str, str]
    opens_at: Mapping[str, dt.datetime]
    """When an unavailable platform accepts calls again; missing: when a person changes something."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """What is left of a limit, and when it grows again."""

    left: int
    grows_at: dt.datetime


async def remaining_calls(tx: Tx, at: dt.datetime, environ: Mapping[str, str]) -> PlatformCapacity:
    """The calls that limits, quotas, health and API keys leave to each platform with targets."""
    platforms = await load_all(tx)
    uses = await _count_uses(tx, at)
    quotas = await _count_requests(tx, at, uses, platforms)
    left: dict[str, int] = {}
    shut: dict[str, str] = {}
    opens_at: dict[str, dt.datetime] = {}
    for use in uses:
        name, state = use.platform, platforms.get(use.platform)
        if why := why_disabled(name, environ):
            shut[name] = why
            continue
        limit = _tightest_limit(use, state, quotas.get(name, ()), at)
        if held := _why_held(use, state, at):
            shut[name], opens_at[name] = held
        elif limit.left > 0:
            left[name] = limit.left
        else:
            shut[name] = "its calls of this hour or day are used up"
            opens_at[name] = limit.grows_at
    return PlatformCapacity(left, shut, opens_at)


async def _count_uses(tx: Tx, at: dt.datetime) -> list[_PlatformUse]:
    return await fetch_all(
        tx,
        _PlatformUse,
        """
        -- A step from one platform to the next in the index, however many targets each has.
        WITH RECURSIVE step (platform) AS (
            (SELECT platform FROM rotation.target ORDER BY platform LIMIT 1)
            UNION ALL
            SELECT (SELECT target.platform FROM rotation.target
                     WHERE target.platform > step.platform ORDER BY target.platform LIMIT 1)
              FROM step WHERE step.platform IS NOT NULL
        )
        SELECT step.platform, recent.hour, recent.hour_first_at, recent.day, recent.day_first_at,
               recent.most_requests,
               (SELECT count(*)::int FROM rotation.target
                 WHERE target.platform = step.platform AND queued_at > %(void)s) AS queued,
               (SELECT held_until FROM catalog.incident
                 WHERE vendor = step.platform) AS held_until
          FROM step
         CROSS JOIN LATERAL (
            SELECT (count(*) FILTER (WHERE called_at > %(hour)s))::int AS hour,
                   min(called_at) FILTER (WHERE called_at > %(hour)s) AS hour_first_at,
                   count(*)::int AS day, min(called_at) AS day_first_at,
                   max(requests) AS most_requests
              FROM rotation.call
             WHERE call.platform = step.platform AND requests > 0
               AND called_at > %(day)s AND called_at <= %(ahead)s) AS recent
         WHERE step.platform IS NOT NULL
        """,
        {
            "hour": at - _HOUR,
            "day": at - _DAY,
            "void": at - CLAIM_LIFETIME,
            "ahead": epoch_times.latest_valid(at),
        },
    )


async def _count_requests(
    tx: Tx, at: dt.datetime, uses: Iterable[_PlatformUse], platforms: Mapping[str, PlatformState]
) -> dict[str, list[_QuotaUse]]:
    """The requests of platforms with a default quota, in whole hours."""
    spans = [
        (use.platform, span, allowed)
        for use in uses
        if (quota := default_quota(use.platform, platforms.get(use.platform)))
        for span, allowed in quota.requests
    ]
    if not spans:
        return {}
    counts = await fetch_all(
        tx,
        _QuotaUse,
        """
        SELECT quota.platform, quota.span, quota.allowed,
               coalesce(sum(hourly_calls.requests), 0)::int AS used, min(began_at) AS first_at
          FROM unnest(%(platforms)s::text[], %(spans)s::interval[], %(since)s::timestamptz[],
                      %(allowed)s::int[]) AS quota (platform, span, since, allowed)
          LEFT JOIN rotation.hourly_calls
            ON hourly_calls.platform = quota.platform AND hourly_calls.requests > 0
           AND began_at > since AND began_at <= %(ahead)s
         GROUP BY quota.platform, quota.span, quota.allowed
        """,
        {
            "platforms": [platform for platform, _, _ in spans],
            "spans": [span for _, span, _ in spans],
            "since": [at - span - _HOUR for _, span, _ in spans],
            "allowed": [allowed for _, _, allowed in spans],
            "ahead": epoch_times.latest_valid(at),
        },
    )
    by_platform: dict[str, list[_QuotaUse]] = {}
    for count in counts:
        by_platform.setdefault(count.platform, []).append(count)
    return by_platform


def why_disabled(name: str, environ: Mapping[str, str]) -> str | None:
    """Why a platform cannot be called at all."""
    platform = BY_NAME.get(name)
    if platform is None or platform.first_request is None:
        return (platform.disabled if platform else None) or "it cannot be read yet"
    unset = api_keys.missing_keys(platform, None, environ)
    return platform.disabled or (f"it needs a key: set {', '.join(unset)}" if unset else None)


def _why_held(
    use: _PlatformUse, state: PlatformState | None, at: dt.datetime
) -> tuple[str, dt.datetime] | None:
    """Why a platform is not called now, and until when."""
    if use.held_until and at < use.held_until <= epoch_times.latest_valid(at):
        text = f"the platform has problems: paused until {use.held_until:%Y-%m-%d %H:%M} UTC"
        return text, use.held_until
    if not state:
        return None
    rules = BreakerRules()
    if eligibility.breaker_position(state.breaker, at.timestamp(), rules) != "shut":
        return None
    until = state.blocked_until if state.blocked_until and state.blocked_until > at else None
    when = f" until {until:%Y-%m-%d %H:%M} UTC" if until else ": one call finds out how it is"
    probed = dt.timedelta(seconds=rules.breaker_first)
    return f"it asked for patience, or failed too often: held{when}", until or at + probed


def _tightest_limit(
    use: _PlatformUse,
    state: PlatformState | None,
    quotas: Iterable[_QuotaUse],
    at: dt.datetime,
) -> _Limit:
    """The limit that leaves the fewest calls; of equal ones, the one that grows last."""

    def grows_at(first_at: dt.datetime | None, span: dt.timedelta) -> dt.datetime:
        # Without a call that will expire, the queued ones must end first.
        return max(first_at + span, at + _MINUTE) if first_at else at + _HOUR

    limits: list[_Limit] = [_Limit(UNLIMITED, at)]
    if state and state.per_hour is not None:
        left = state.per_hour - use.hour - use.queued
        limits.append(_Limit(left, grows_at(use.hour_first_at, _HOUR)))
    if state and state.per_day is not None:
        left = state.per_day - use.day - use.queued
        limits.append(_Limit(left, grows_at(use.day_first_at, _DAY)))
    pages = use.most_requests or PAGES_PER_CALL
    for quota in quotas:
        left = (quota.allowed - quota.used) // pages - use.queued
        limits.append(_Limit(left, grows_at(quota.first_at, quota.span + _HOUR)))
    probing = (
        state
        and eligibility.breaker_position(state.breaker, at.timestamp(), BreakerRules()) == "probe"
    )
    if use.held_until or probing:
        # One call probes whether it works again.
        limits.append(_Limit(1 - use.queued, at + _HOUR))
    least = min(max(0, limit.left) for limit in limits)
    return _Limit(least, max(limit.grows_at for limit in limits if max(0, limit.left) == least))
