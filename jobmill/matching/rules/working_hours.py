"""Compare the working hours of a team with those of a person."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from jobmill.matching.profile import Span

SAME_HOURS: Final = 1
"""Up to this many hours apart count as the same time zone."""
NEUTRAL: Final = 3
NO_OVERLAP: Final = 9
"""From here on, no working hours overlap."""


@lru_cache(maxsize=1_024)
def standard_offset(zone: str) -> float:
    """Hours from UTC without daylight saving, so that scores do not change with the season."""
    zone_info = ZoneInfo(zone)
    offsets = (dt.datetime(2026, month, 1, tzinfo=zone_info).utcoffset() for month in (1, 7))
    return min(offset.total_seconds() / 3_600 for offset in offsets if offset is not None)


def hours_apart(zone: str, zones: Iterable[float]) -> float:
    """Hours to the nearest of the offsets, the shorter way around the globe."""
    home_offset = standard_offset(zone)
    return min(
        min(abs(home_offset - other) % 24, 24 - abs(home_offset - other) % 24) for other in zones
    )


def points_for_hours(hours: float, span: Span) -> int:
    """All points for the same hours, none at three hours apart, the minimum from nine hours on."""
    nothing = min(max(0, span.least), span.most)
    if hours <= NEUTRAL:
        share = (max(hours, SAME_HOURS) - SAME_HOURS) / (NEUTRAL - SAME_HOURS)
        return span.most - int((span.most - nothing) * share + 0.5)
    share = (min(hours, NO_OVERLAP) - NEUTRAL) / (NO_OVERLAP - NEUTRAL)
    return nothing - int((nothing - span.least) * share + 0.5)
