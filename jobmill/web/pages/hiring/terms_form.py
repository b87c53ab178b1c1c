"""The terms of an opening as form fields."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from jobmill.errors import Invalid
from jobmill.hiring.records.openings import OpeningTerms

Typed = Mapping[str, str]

UNITS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
PLACES = "The number of places"

WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")
EARLIEST, LATEST = dt.datetime(1970, 1, 1, tzinfo=dt.UTC), dt.datetime(9000, 1, 1, tzinfo=dt.UTC)


def parse_terms(form: Typed) -> OpeningTerms:
    """Parse a form; raises Invalid."""
    return OpeningTerms(
        title=form.get("title", ""),
        description=form.get("description", "").replace("\r\n", "\n").strip() or None,
        employer=form.get("employer", "").strip() or None,
        location=form.get("location", "").strip() or None,
        remote=form.get("remote") == "yes",
        require_acknowledgement=form.get("require_acknowledgement") == "yes",
        acknowledge_window=_parse_window(form),
        max_missed=parse_number(form, "max_missed", "The number of missed offers"),
        waitlist_limit=_parse_optional_number(form, "waitlist_limit", "The waitlist limit"),
        apply_until=parse_time(form.get("apply_until", ""), "The application deadline"),
        keep_days=_parse_optional_number(form, "keep_days", "The number of days to keep data"),
    )


def to_fields(terms: OpeningTerms) -> dict[str, str]:
    """The fields that `parse_terms` reads back."""
    until = terms.apply_until
    number, unit = _split_duration(terms.acknowledge_window)
    return {
        "title": terms.title,
        "description": terms.description or "",
        "employer": terms.employer or "",
        "location": terms.location or "",
        "remote": "yes" if terms.remote else "",
        "require_acknowledgement": "yes" if terms.require_acknowledgement else "",
        "window": str(number),
        "unit": unit,
        "max_missed": str(terms.max_missed),
        "waitlist_limit": _to_text(terms.waitlist_limit),
        "apply_until": f"{until.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%S}" if until else "",
        "keep_days": _to_text(terms.keep_days),
    }


def find_changes(before: OpeningTerms, form: Typed) -> dict[str, Any]:
    """The terms that the form changes.

    Compares with the terms after a round trip: a value that the form cannot show exactly stays unless edited.
    """
    was, now = parse_terms(to_fields(before)), parse_terms(form)
    names = [field.name for field in fields(OpeningTerms)]
    return {name: getattr(now, name) for name in names if getattr(now, name) != getattr(was, name)}


def parse_number(form: Typed, name: str, what: str) -> int:
    """A required whole number."""
    text = form.get(name, "").strip()
    if not WHOLE_NUMBER.fullmatch(text):
        raise Invalid(f"{what} should be a whole number.")
    return int(text)


def parse_time(text: str, what: str) -> dt.datetime | None:
    """A time, in UTC unless it has a zone; None if empty."""
    if not text.strip():
        return None
    try:
        time = dt.datetime.fromisoformat(text.strip())
        time = time if time.tzinfo else time.replace(tzinfo=dt.UTC)
        if EARLIEST <= time <= LATEST:
            return time.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        pass
    raise Invalid(f"{what} should be a time such as 2026-11-15T09:30.")


def _parse_optional_number(form: Typed, name: str, what: str) -> int | None:
    return parse_number(form, name, what) if form.get(name, "").strip() else None


def _parse_window(form: Typed) -> dt.timedelta:
    number = parse_number(form, "window", "The time to accept an offer")
    unit = UNITS.get(form.get("unit", ""))
    if unit is None:
        raise Invalid("The time to accept an offer should be in days, hours, minutes or seconds.")
    # Capped to the range of timedelta; `validate_terms` refuses values that are too long.
    return dt.timedelta(seconds=min(number * unit, 10**9))


def _split_duration(span: dt.timedelta) -> tuple[int, str]:
    """A duration in the largest unit that divides it."""
    seconds = round(span.total_seconds())
    return next((seconds // long, name) for name, long in UNITS.items() if seconds % long == 0)


def _to_text(number: int | None) -> str:
    return "" if number is None else str(number)
