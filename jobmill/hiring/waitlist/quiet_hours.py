"""Quiet hours: an offer made in them takes its slot at once, but its letter and its time start afterwards."""

from __future__ import annotations

import datetime as dt

from jobmill.hiring.records.openings import OpeningTerms
from jobmill.time_zones import load_time_zone

DAY = dt.timedelta(days=1)


def find_offer_start(terms: OpeningTerms, at: dt.datetime) -> dt.datetime:
    """When the time to accept an offer made at `at` begins: at once, or when the quiet hours end.

    Quiet hours are times of day in the opening's time zone. Where the clocks skip the end of the quiet
    hours, they end as much later; where the clocks are turned back, they do not begin a second time.
    """
    if terms.quiet_from is None or terms.quiet_until is None:
        return at
    zone = load_time_zone(terms.time_zone)
    local = at.astimezone(zone)
    if not _is_between(local.time(), terms.quiet_from, terms.quiet_until):
        return at
    # Quiet hours may end on the next day.
    day = local.date() if local.time() < terms.quiet_until else local.date() + DAY
    end = dt.datetime.combine(day, terms.quiet_until, zone).astimezone(dt.UTC)
    return max(end, at)


def _is_between(time: dt.time, start: dt.time, end: dt.time) -> bool:
    """Whether a time of day is in a period that may include midnight."""
    if start < end:
        return start <= time < end
    return time >= start or time < end
