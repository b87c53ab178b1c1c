"""IANA time zones: checking their names, and times as people in a zone read them."""

from __future__ import annotations

import datetime as dt
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from jobmill.errors import Invalid

UTC = "UTC"
NO_PLACES = frozenset({"localtime", "posixrules", "Factory"})
"""Names in the system's database that mean another zone on every machine."""


def load_time_zone(name: str) -> dt.tzinfo:
    """The time zone of this name; raises Invalid."""
    if name == UTC:
        # Also on a system without a time zone database.
        return dt.UTC
    if name not in list_time_zones():
        raise Invalid(
            f"The time zone should be an IANA name such as America/New_York (got {name[:60]!r})."
        )
    return ZoneInfo(name)


@cache
def list_time_zones() -> frozenset[str]:
    """The names that this system knows."""
    return frozenset(available_timezones() - NO_PLACES) | {UTC}


def parse_local_time(text: str, time_zone: str) -> dt.datetime:
    """An ISO time, in this zone unless it has an offset; raises ValueError."""
    time = dt.datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=load_time_zone(time_zone))


def format_local_time(at: dt.datetime, time_zone: str) -> str:
    """A time with its zone: Tue 17 Nov 2026, 15:24 (Europe/Berlin)."""
    # Not `%a %d %b`, which other code may switch to another language with `setlocale`.
    local = at.astimezone(load_time_zone(time_zone))
    day = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[local.weekday()]
    months = (
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    )  # fmt: skip
    return f"{day} {local.day} {months[local.month - 1]} {local:%Y, %H:%M} ({time_zone})"
