"""Series of interview times: from a few lines of a form to a list of starts and ends."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

from jobmill.errors import Invalid
from jobmill.hiring.openings.lifecycle import DEADLINE_YEARS
from jobmill.time_zones import load_time_zone

MAX_TIMES = 200
"""Times of one series."""
MAX_DAYS = 60
MINUTE = dt.timedelta(minutes=1)
DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSeries:
    """Times of `length` with a `pause` after each, on every day, between two times of day in a zone."""

    first_day: dt.date
    last_day: dt.date
    from_time: dt.time
    until_time: dt.time
    length: dt.timedelta
    pause: dt.timedelta = dt.timedelta()
    skip_weekends: bool = True
    time_zone: str


def list_times(series: TimeSeries) -> list[tuple[dt.datetime, dt.datetime]]:
    """The starts and ends in order; raises Invalid."""
    _check(series)
    times: list[tuple[dt.datetime, dt.datetime]] = []
    for day in _days(series):
        times += _times_of_day(series, day)
        if len(times) > MAX_TIMES:
            raise Invalid(f"A series can have at most {MAX_TIMES} times. Choose fewer days.")
    if not times:
        raise Invalid("No time fits between the start and the end. Choose a shorter length.")
    return times


def _check(series: TimeSeries) -> None:
    if not MINUTE <= series.length <= DAY:
        raise Invalid("An interview should take 1 minute to 24 hours.")
    if not dt.timedelta() <= series.pause <= DAY:
        raise Invalid("The break between interviews should be 0 minutes to 24 hours.")
    if series.first_day.year not in DEADLINE_YEARS:
        raise Invalid("The first day should be between 1970 and 9000.")
    if not series.first_day <= series.last_day <= series.first_day + MAX_DAYS * DAY:
        raise Invalid(f"The last day should be 0 to {MAX_DAYS} days after the first.")
    if series.until_time <= series.from_time:
        raise Invalid("The end of the day should be after its start.")


def _days(series: TimeSeries) -> Iterator[dt.date]:
    count = (series.last_day - series.first_day).days + 1
    for day in (series.first_day + n * DAY for n in range(count)):
        # A series of one day is meant as it is, also on a Sunday.
        if count == 1 or not series.skip_weekends or day.weekday() < 5:
            yield day


def _times_of_day(series: TimeSeries, day: dt.date) -> Iterator[tuple[dt.datetime, dt.datetime]]:
    zone = load_time_zone(series.time_zone)
    clock = dt.datetime.combine(day, series.from_time)
    end = dt.datetime.combine(day, series.until_time)
    while clock + series.length <= end:
        starts_at = clock.replace(tzinfo=zone).astimezone(dt.UTC)
        # Clocks that are set forward skip an hour: such a time of day does not exist.
        if starts_at.astimezone(zone).replace(tzinfo=None) == clock:
            yield starts_at, starts_at + series.length
        clock += series.length + series.pause
