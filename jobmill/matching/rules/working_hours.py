"""How far the working hours of a team are from a person's."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from jobmill.matching.profile import Span

NEAR: Final = 1
"""So many hours apart is as good as the same."""
NEUTRAL: Final = 3
FAR: Final = 9
"""From here on it is the worst case: no hour of the day is shared."""


@lru_cache(maxsize=1_024)
def standard_offset(zone: str) -> float:
    """Hours from UTC without summer time, so that a score does not change with the season."""
    known = ZoneInfo(zone)
    offsets = (dt.datetime(2026, month, 1, tzinfo=known).utcoffset() for month in (1, 7))
    return min(offset.total_seconds() / 3_600 for offset in offsets if offset is not None)


def hours_apart(zone: str, zones: Iterable[float]) -> float:
    """Hours to the nearest of the zones, around the globe the shorter way."""
    own = standard_offset(zone)
    return min(min(abs(own - other) % 24, 24 - abs(own - other) % 24) for other in zones)


def points_for_hours(hours: float, span: Span) -> int:
    """The most where the hours are the same, nothing at three hours, the least from nine on."""
    nothing = min(max(0, span.least), span.most)
    if hours <= NEUTRAL:
        share = (max(hours, NEAR) - NEAR) / (NEUTRAL - NEAR)
        return span.most - int((span.most - nothing) * share + 0.5)
    share = (min(hours, FAR) - NEUTRAL) / (FAR - NEUTRAL)
    return nothing - int((nothing - span.least) * share + 0.5)
