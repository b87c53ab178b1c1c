"""Converts between datetimes and the epoch seconds of policies, where minus infinity means never."""

from __future__ import annotations

import datetime as dt
import math

from .policies import interval_policy, yield_model
from .policies.eligibility import CLOCK_SLACK


def to_seconds(at: dt.datetime | None) -> float | None:
    """For fields where the policy uses None for never."""
    return None if at is None else at.timestamp()


def to_blocked_until(at: dt.datetime | None) -> float:
    """For fields where the policy uses minus infinity for a target that is not blocked."""
    return -math.inf if at is None else at.timestamp()


def to_datetime(at: float | None) -> dt.datetime | None:
    return None if at is None or not math.isfinite(at) else dt.datetime.fromtimestamp(at, dt.UTC)


def latest_valid(at: dt.datetime) -> dt.datetime:
    """Timestamps after this come from a wrong clock."""
    return at + dt.timedelta(seconds=CLOCK_SLACK)


def latest_due(at: dt.datetime) -> dt.datetime:
    """Nothing is postponed for longer than this, so a later due time comes from a wrong clock."""
    longest = max(
        yield_model.YieldRules().longest_delay, interval_policy.IntervalRules().longest_delay
    )
    return latest_valid(at) + dt.timedelta(seconds=longest)
