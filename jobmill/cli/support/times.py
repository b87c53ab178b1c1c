"""Read and print durations and times."""

from __future__ import annotations

import datetime as dt
import re

from jobmill.cli.support.output import format_count
from jobmill.errors import Invalid

DURATION = re.compile(r"(\d{1,7})\s*(s|sec|m|min|h|d|w)?")
UNIT_SECONDS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
UNIT_NAMES = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
UNIT_SYMBOLS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
RECENT = dt.timedelta(days=2)
"""Times further back than this are printed as a date."""


def parse_duration(text: str) -> dt.timedelta:
    """Parse `90s`, `5m`, `2h`, `3d` or `1w`."""
    match = DURATION.fullmatch(text.strip().lower())
    if not match:
        raise Invalid(f"{text} is not a duration: use a form such as 90s, 5m, 2h, 3d or 1w")
    return dt.timedelta(seconds=int(match[1]) * UNIT_SECONDS[match[2] or "s"])


def parse_time(text: str) -> dt.datetime:
    """Parse an ISO date and time; without a zone it is local time."""
    try:
        return dt.datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError):
        raise Invalid(
            f"{text} is not a time: use a form such as 2026-11-15 09:30 or 2026-11-15T09:30:00Z"
        ) from None


def format_duration(duration: dt.timedelta) -> str:
    """`5 minutes`, `90 seconds`: in the largest unit that divides it."""
    seconds = round(duration.total_seconds())
    return next(
        format_count(seconds // length, unit)
        for unit, length in UNIT_NAMES
        if seconds % length == 0
    )


def format_interval(interval: dt.timedelta) -> str:
    """`1 h`, `90 s`: in the largest unit that divides it."""
    seconds = round(interval.total_seconds())
    return next(
        f"{seconds // length} {unit}" for unit, length in UNIT_SYMBOLS if seconds % length == 0
    )


def format_age(seconds: float) -> str:
    """Round to the largest unit of which there are at least two: `90 s`, `3 min`, `2 h`, `7 d`."""
    for unit, length in UNIT_SYMBOLS[:-1]:
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def format_ago(at: dt.datetime) -> str:
    """`3 min ago` for a recent time, else its date."""
    age = dt.datetime.now(dt.UTC) - at
    return f"{format_age(age.total_seconds())} ago" if age < RECENT else format_minute(at)


def format_deadline(at: dt.datetime) -> str:
    """`by 21:30:05 (4 min left)`."""
    left = at - dt.datetime.now(dt.UTC)
    form = "%H:%M:%S" if left < dt.timedelta(hours=20) else "%Y-%m-%d %H:%M"
    return f"by {at.astimezone():{form}} ({format_age(left.total_seconds())} left)"


def format_day(at: dt.datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d}"


def format_minute(at: dt.datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def format_second(at: dt.datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"
