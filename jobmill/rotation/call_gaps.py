"""The least time between two calls of a target, and how long the same request is not repeated."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

from jobmill.boards.adapters import BY_NAME
from jobmill.boards.quotas import QUOTAS

from . import calls
from .policies import interval_policy, yield_model
from .targets import PolicyName, Target

METERED_GAPS = {"company": dt.timedelta(hours=24), "slice": dt.timedelta(hours=12)}
"""Targets of platforms that meter their keys."""
METERED_SEARCH_GAP = dt.timedelta(hours=24)
"""The slices of a saved search on such a platform."""
_NO_TIME = dt.timedelta()


def site_gap(target: Target) -> dt.timedelta:
    """The least time that the site or a person's call window asks for."""
    platform = BY_NAME.get(target.platform)
    polite = (platform.min_interval if platform else None) or _NO_TIME
    return max(polite, target.call_window or _NO_TIME)


def demanded_gap(target: Target) -> dt.timedelta:
    """The least time after any call, also a failed one: as set, or as a metered key needs it."""
    gap = target.interval
    if gap is None and target.platform in QUOTAS:
        gap = METERED_SEARCH_GAP if target.of_search else METERED_GAPS[target.kind]
    return max(gap or _NO_TIME, site_gap(target))


def yield_gap(target: Target) -> dt.timedelta:
    """The least time after a good call under `yield`: as set, or else by kind and platform."""
    usual = dt.timedelta(seconds=yield_model.YieldRules().gaps[target.kind])
    return max(usual if target.interval is None else _NO_TIME, demanded_gap(target))


def interval_gap(target: Target) -> dt.timedelta:
    """The same under `seed`, where intervals of slices adapt, but not below the one that was set."""
    return max(_interval(target, target.min_interval), site_gap(target))


def _interval(target: Target, adapted: dt.timedelta) -> dt.timedelta:
    if target.interval is None:
        return adapted
    return target.interval if target.kind == "company" else max(adapted, target.interval)


def repeat_window(target: Target, policy: PolicyName) -> dt.timedelta:
    """How long the same request is not repeated: as set, or else a day, but never longer than the
    target's interval."""
    if target.call_window is not None:
        return target.call_window
    gap = interval_gap(target) if policy == "seed" else yield_gap(target)
    return min(calls.MAX_REPEAT_WINDOW, gap)


def apply_to_yield(
    target: Target, state: yield_model.YieldState, outcome: dict[str, Any]
) -> yield_model.YieldState:
    """Not before the gap has passed since the last call; a gap that was set replaces the usual one
    after a success."""
    if state.called_at is None:
        return state
    least = state.called_at + demanded_gap(target).total_seconds()
    if target.interval is not None and outcome["status"] in yield_model.GOOD_STATUSES:
        return replace(state, blocked_until=least)
    return replace(state, blocked_until=max(state.blocked_until, least))


def apply_to_interval(
    target: Target, turn: interval_policy.IntervalState
) -> interval_policy.IntervalState:
    """The same for the interval policy; after failures its wait is kept if it is longer."""
    if turn.called_at is None:
        return turn
    interval = _interval(target, dt.timedelta(seconds=turn.interval)).total_seconds()
    least = turn.called_at + max(interval, site_gap(target).total_seconds())
    if turn.fail_count or turn.next_allowed_at > turn.called_at + turn.interval:
        least = max(turn.next_allowed_at, turn.called_at + site_gap(target).total_seconds())
    return replace(turn, interval=interval, next_allowed_at=least)
