"""The state of each platform: averages, circuit breaker, and remaining calls."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jobmill.boards import api_keys
from jobmill.boards.adapters import BY_NAME
from jobmill.catalog import history
from jobmill.db import Tx, fetch_all, fetch_one

from . import epoch_times
from .policies import eligibility, yield_model
from .policies.eligibility import UNLIMITED, BreakerRules, BreakerState

CLAIM_LIFETIME = dt.timedelta(hours=6)
"""A claim expires after this time: its item was lost."""


@dataclass(frozen=True, slots=True)
class PlatformState:
    name: str
    per_hour: int | None
    per_day: int | None
    new_listings: float
    observed_days: float
    entries: float
    entry_days: float
    pooled_at: dt.datetime | None
    streak: int
    opened: int
    shut_until: dt.datetime | None
    shut_at: dt.datetime | None
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
            self.opened,
            epoch_times.to_gate(self.shut_until),
            epoch_times.to_seconds(self.shut_at),
            epoch_times.to_seconds(self.probe_at),
            self.hold_count,
        )


async def load_all(tx: Tx) -> dict[str, PlatformState]:
    """All platforms that were ever called or limited, by name."""
    platforms = await fetch_all(
        tx,
        PlatformState,
        """
        SELECT name, per_hour, per_day, found AS new_listings, looked AS observed_days,
               shown AS entries, shown_days AS entry_days, pooled_at, streak, opened, shut_until,
               shut_at, probe_at, held AS hold_count
          FROM rotation.platform
        """,
    )
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
    return await fetch_one(
        tx,
        PlatformState,
        """
        SELECT name, per_hour, per_day, found AS new_listings, looked AS observed_days,
               shown AS entries, shown_days AS entry_days, pooled_at, streak, opened, shut_until,
               shut_at, probe_at, held AS hold_count
          FROM rotation.platform WHERE name = %s FOR UPDATE SKIP LOCKED
        """,
        [name],
    )


async def save_state(
    tx: Tx, name: str, average: yield_model.PlatformAverage, trouble: BreakerState
) -> None:
    """Store what calls have taught about a platform."""
    await tx.execute(
        """
        UPDATE rotation.platform
           SET found = %(found)s, looked = %(looked)s, shown = %(shown)s,
               shown_days = %(shown_days)s, pooled_at = %(pooled_at)s, streak = %(streak)s,
               opened = %(opened)s, shut_until = %(shut_until)s, shut_at = %(shut_at)s,
               probe_at = %(probe_at)s, held = %(held)s
         WHERE name = %(name)s
        """,
        {
            "name": name,
            "found": average.new_listings,
            "looked": average.observed_days,
            "shown": average.entries,
            "shown_days": average.entry_days,
            "pooled_at": epoch_times.to_datetime(average.at),
            "streak": trouble.streak,
            "opened": trouble.opened,
            "shut_until": epoch_times.to_datetime(trouble.shut_until),
            "shut_at": epoch_times.to_datetime(trouble.shut_at),
            "probe_at": epoch_times.to_datetime(trouble.probe_at),
            "held": trouble.hold_count,
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
                         WHERE name = ANY (%s) AND opened > 0 FOR UPDATE SKIP LOCKED)
        """,
        [at, names],
    )


async def set_limits(
    tx: Tx, name: str, *, per_hour: int | None, per_day: int | None, actor: str | None = None
) -> None:
    """Set the limits of calls to a platform; None removes a limit."""
    await tx.execute(
        """
        INSERT INTO rotation.platform (name, per_hour, per_day)
        VALUES (%(name)s, %(per_hour)s, %(per_day)s)
        ON CONFLICT (name) DO UPDATE SET per_hour = excluded.per_hour, per_day = excluded.per_day
        """,
        {"name": name, "per_hour": per_hour, "per_day": per_day},
    )
    limits = {"per_hour": per_hour, "per_day": per_day}
    await history.record(tx, "vendor", name, "limited", actor=actor, **limits)


@dataclass(frozen=True, slots=True)
class _PlatformUse:
    platform: str
    hour: int
    day: int
    queued: int
    held_until: dt.datetime | None


@dataclass(frozen=True, slots=True)
class PlatformCapacity:
    """How many calls each platform accepts now, and why some accept none."""

    remaining: Mapping[str, int]
    unavailable: Mapping[str, str]


async def remaining_calls(tx: Tx, at: dt.datetime, environ: Mapping[str, str]) -> PlatformCapacity:
    """The calls that limits, health and API keys leave to each platform with targets."""
    platforms = await load_all(tx)
    left: dict[str, int] = {}
    shut: dict[str, str] = {}
    for use in await _count_uses(tx, at):
        why = _why_disabled(use.platform, environ) or _why_held(
            use, platforms.get(use.platform), at
        )
        calls = 0 if why else _remaining_calls(use, platforms.get(use.platform), at)
        if calls > 0:
            left[use.platform] = calls
        else:
            shut[use.platform] = why or "its calls of this hour or day are used up"
    return PlatformCapacity(left, shut)


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
        SELECT step.platform,
               (SELECT count(*)::int FROM rotation.call
                 WHERE call.platform = step.platform AND requests > 0
                   AND called_at > %(at)s - interval '1 hour'
                   AND called_at <= %(ahead)s) AS hour,
               (SELECT count(*)::int FROM rotation.call
                 WHERE call.platform = step.platform AND requests > 0
                   AND called_at > %(at)s - interval '24 hours'
                   AND called_at <= %(ahead)s) AS day,
               (SELECT count(*)::int FROM rotation.target
                 WHERE target.platform = step.platform AND queued_at > %(void)s) AS queued,
               (SELECT held_until FROM catalog.incident
                 WHERE vendor = step.platform) AS held_until
          FROM step WHERE step.platform IS NOT NULL
        """,
        {"at": at, "void": at - CLAIM_LIFETIME, "ahead": epoch_times.latest_valid(at)},
    )


def _why_disabled(name: str, environ: Mapping[str, str]) -> str | None:
    """Why a platform cannot be called at all."""
    platform = BY_NAME.get(name)
    if platform is None or platform.first_request is None:
        return (platform.disabled if platform else None) or "it cannot be read yet"
    unset = api_keys.missing_keys(platform, None, environ)
    return platform.disabled or (f"it needs a key: set {', '.join(unset)}" if unset else None)


def _why_held(use: _PlatformUse, standing: PlatformState | None, at: dt.datetime) -> str | None:
    """Why a platform is not called now."""
    if use.held_until and at < use.held_until <= epoch_times.latest_valid(at):
        return f"the vendor has problems: paused until {use.held_until:%Y-%m-%d %H:%M} UTC"
    if (
        standing
        and eligibility.breaker_position(standing.breaker, at.timestamp(), BreakerRules()) == "shut"
    ):
        until = standing.shut_until if standing.shut_until and standing.shut_until > at else None
        when = f" until {until:%Y-%m-%d %H:%M} UTC" if until else ": one call finds out how it is"
        return f"it asked for patience, or failed too often: held{when}"
    return None


def _remaining_calls(use: _PlatformUse, standing: PlatformState | None, at: dt.datetime) -> int:
    limits: list[int] = [UNLIMITED]
    if standing and standing.per_hour is not None:
        limits.append(standing.per_hour - use.hour - use.queued)
    if standing and standing.per_day is not None:
        limits.append(standing.per_day - use.day - use.queued)
    probing = (
        standing
        and eligibility.breaker_position(standing.breaker, at.timestamp(), BreakerRules())
        == "probe"
    )
    if use.held_until or probing:
        # One call probes whether it works again.
        limits.append(1 - use.queued)
    return max(0, min(limits))
