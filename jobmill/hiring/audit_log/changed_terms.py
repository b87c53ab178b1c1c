"""Changed terms of an opening in words."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

VALUE_TEXTS: Mapping[str, str] = {
    "title": "renamed the opening to \u201c{}\u201d",
    "employer": "set the employer to {}",
    "location": "set the location to {}",
    "acknowledgeWindowSeconds": "set the time to accept an offer to {}",
    "maxMissed": "set the number of missed offers that end an application to {}",
    "waitlistLimit": "set the limit of the waitlist to {}",
    "applyUntil": "set the application deadline to {}",
    "keepDays": "set the days to keep data after an application ends to {}",
}
SWITCH_TEXTS: Mapping[str, tuple[str, str]] = {
    "remote": ("marked the opening as remote", "marked the opening as not remote"),
    "requireAcknowledgement": (
        "decided that a free place must be accepted, too",
        "decided that a free place need not be accepted",
    ),
    "fairnessProof": ("published the fairness proof", "withdrew the fairness proof"),
}
UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def describe_term(name: str, value: Any) -> str:
    """What the company did, without the subject: set the limit of the waitlist to 50."""
    if name in SWITCH_TEXTS:
        on, off = SWITCH_TEXTS[name]
        return on if value else off
    if name == "description":
        return f"changed the description ({value:,} characters)"
    text = "none" if value is None else _format_value(name, value)
    if name in VALUE_TEXTS:
        return VALUE_TEXTS[name].format(text)
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return f"changed the {words}"


def _format_value(name: str, value: Any) -> str:
    if name == "acknowledgeWindowSeconds":
        return _format_duration(value)
    if name == "applyUntil":
        return f"{dt.datetime.fromisoformat(value).astimezone(dt.UTC):%Y-%m-%d %H:%M UTC}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _format_duration(seconds: int) -> str:
    """In the largest unit that divides it."""
    unit, length = next((unit, length) for unit, length in UNITS if seconds % length == 0)
    count = seconds // length
    return f"{count:,} {unit}{'' if count == 1 else 's'}"
