"""Times as the public API, the audit log and exports write them."""

from __future__ import annotations

import datetime as dt
import re

from jobmill.errors import Invalid

TIME_OF_DAY = re.compile(r"[0-9]{2}:[0-9]{2}")


def format_timestamp(at: dt.datetime) -> str:
    """UTC to the millisecond: 2026-11-15T09:30:00.000Z."""
    text = at.astimezone(dt.UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"


def parse_time_of_day(text: str) -> dt.time:
    """A time of day to the minute, as 21:00; raises Invalid."""
    try:
        if TIME_OF_DAY.fullmatch(text.strip()):
            return dt.time.fromisoformat(text.strip())
    except ValueError:
        pass
    raise Invalid(f"A time of day should look like 21:00 (got {text[:20]!r}).")


def format_time_of_day(time: dt.time | None) -> str | None:
    return None if time is None else f"{time:%H:%M}"
