"""Times as policies count them: seconds since 1970, with minus infinity for never."""

from __future__ import annotations

import datetime as dt
import math


def seconds(at: dt.datetime | None) -> float | None:
    """For what a policy calls None when it has not happened."""
    return None if at is None else at.timestamp()


def gate(at: dt.datetime | None) -> float:
    """For what a policy sets to minus infinity when nothing is in the way."""
    return -math.inf if at is None else at.timestamp()


def moment(at: float | None) -> dt.datetime | None:
    """Back again."""
    return None if at is None or not math.isfinite(at) else dt.datetime.fromtimestamp(at, dt.UTC)
