"""Times as policies count them: seconds since 1970, with minus infinity for never."""

from __future__ import annotations

import datetime as dt
import math

from .policies import interval_policy, yield_model
from .policies.eligibility import CLOCK_SLACK


def seconds(at: dt.datetime | None) -> float | None:
    """For what a policy calls None when it has not happened."""
    return None if at is None else at.timestamp()


def gate(at: dt.datetime | None) -> float:
    """For what a policy sets to minus infinity when nothing is in the way."""
    return -math.inf if at is None else at.timestamp()


def moment(at: float | None) -> dt.datetime | None:
    """Back again."""
    return None if at is None or not math.isfinite(at) else dt.datetime.fromtimestamp(at, dt.UTC)


def ahead(at: dt.datetime) -> dt.datetime:
    """What was noted later than this comes from a clock that was wrong."""
    return at + dt.timedelta(seconds=CLOCK_SLACK)


def far(at: dt.datetime) -> dt.datetime:
    """Nothing is put off for longer than this, so a later moment comes from such a clock as well."""
    longest = max(yield_model.Rules().longest, interval_policy.Rules().longest)
    return ahead(at) + dt.timedelta(seconds=longest)
