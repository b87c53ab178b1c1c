"""What a person sets for one target: priority, minimum interval and call window."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jobmill.catalog import history
from jobmill.db import Tx, fetch_value
from jobmill.errors import Invalid

from . import call_gaps, epoch_times, targets
from .policies import yield_model
from .targets import Target

MIN_INTERVAL = dt.timedelta(minutes=10)
MAX_INTERVAL = dt.timedelta(days=30)
"""Longer gates would count as set by a wrong clock."""
_ROUNDING = dt.timedelta(seconds=1)


def check_interval(interval: dt.timedelta | None) -> None:
    if interval is not None and not MIN_INTERVAL <= interval <= MAX_INTERVAL:
        raise Invalid("the minimum interval is from 10 minutes to 30 days")


def check_window(window: dt.timedelta | None) -> None:
    if window is not None and not dt.timedelta() <= window <= MAX_INTERVAL:
        raise Invalid("the call window is from 0 hours to 30 days")


async def set_priority(
    tx: Tx, source_id: int, priority: int, *, actor: str | None = None
) -> Target:
    """Set the priority of a target (higher first); Invalid outside 0 to 100."""
    if not 0 <= priority <= targets.MAX_PRIORITY:
        raise Invalid(f"a priority is a whole number from 0 to {targets.MAX_PRIORITY}")
    target = await targets.get(tx, source_id, lock=True)
    await targets.set_priorities(tx, [source_id], priority)
    if target.priority != priority:
        change = {"before": target.priority, "after": priority}
        await history.record(tx, "source", source_id, "prioritised", actor=actor, **change)
    return await targets.get(tx, source_id)


@dataclass(frozen=True, slots=True)
class TargetTiming:
    """None: as usual, or as the searches of the slice say."""

    interval: dt.timedelta | None
    window: dt.timedelta | None


async def set_timing(
    tx: Tx, source_id: int, timing: TargetTiming, *, actor: str | None = None
) -> Target:
    """Set the minimum interval between two calls of a target, and its call window."""
    check_interval(timing.interval)
    check_window(timing.window)
    target = await targets.get(tx, source_id, lock=True)
    before = TargetTiming(target.own_interval, target.own_window)
    if before == timing:
        return target
    await tx.execute(
        """
        UPDATE rotation.target
           SET own_interval = %(interval)s, own_window = %(window)s,
               min_interval = CASE WHEN kind = 'company'
                                   THEN coalesce(%(interval)s::interval, %(usual)s)
                                   ELSE min_interval END
         WHERE source_id = %(id)s
        """,
        {
            "id": source_id,
            "interval": timing.interval,
            "window": timing.window,
            "usual": targets.DEFAULT_INTERVALS["company"],
        },
    )
    await apply_gaps(tx, [source_id], before=target)
    hours = {
        "interval_hours": _hours(timing.interval),
        "window_hours": _hours(timing.window),
    }
    await history.record(tx, "source", source_id, "timed", actor=actor, **hours)
    return await targets.get(tx, source_id)


def _hours(span: dt.timedelta | None) -> float | None:
    return None if span is None else span.total_seconds() / 3600


async def apply_gaps(tx: Tx, ids: Sequence[int], before: Target | None = None) -> None:
    """Let changed intervals of these targets, locked by this transaction, apply to their next call.

    A wait is shortened only if the interval `before` was its reason, and never after a failure.
    """
    price = await fetch_value(tx, float, "SELECT price FROM rotation.call_allowance") or 0.0
    for target in await targets.by_ids(tx, ids):
        if target.last_called_at is None:
            continue
        old = before if before and not (target.failures or target.fail_count) else None
        blocked_until = _moved(
            target.last_called_at,
            target.blocked_until,
            call_gaps.yield_gap(old) if old else None,
            call_gaps.yield_gap(target),
        )
        next_allowed_at = _moved(
            target.last_called_at,
            target.next_allowed_at,
            call_gaps.interval_gap(old) if old else None,
            call_gaps.interval_gap(target),
        )
        state = replace(target.yield_state, blocked_until=blocked_until.timestamp())
        due_at = yield_model.due_at(
            state, price, target.added_at.timestamp(), yield_model.YieldRules()
        )
        await tx.execute(
            """
            UPDATE rotation.target
               SET blocked_until = %(blocked_until)s, due_at = %(due_at)s, price = %(price)s,
                   next_allowed_at = %(next_allowed_at)s
             WHERE source_id = %(id)s
            """,
            {
                "id": target.source_id,
                "blocked_until": blocked_until,
                "due_at": epoch_times.to_datetime(due_at),
                "price": price,
                "next_allowed_at": next_allowed_at,
            },
        )


def _moved(
    called_at: dt.datetime,
    blocked_until: dt.datetime | None,
    old_gap: dt.timedelta | None,
    new_gap: dt.timedelta,
) -> dt.datetime:
    least = called_at + new_gap
    if blocked_until is None or (
        old_gap is not None and blocked_until <= called_at + old_gap + _ROUNDING
    ):
        return least
    return max(blocked_until, least)


async def save_schedule(
    tx: Tx, source_id: int, priority: int, timing: TargetTiming, *, actor: str
) -> Target:
    """Set the priority, the least interval and the call window."""
    await targets.sync_source(tx, source_id)
    target = await targets.get(tx, source_id, lock=True)
    # A slice keeps the priority of its searches until a person sets another one.
    if priority != target.priority:
        await set_priority(tx, source_id, priority, actor=actor)
    return await set_timing(tx, source_id, timing, actor=actor)
