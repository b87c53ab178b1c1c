"""The terms of an opening, as a form has them."""

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
WHOLE = re.compile(r"[0-9]{1,9}")
EARLIEST, LATEST = dt.datetime(1970, 1, 1, tzinfo=dt.UTC), dt.datetime(9000, 1, 1, tzinfo=dt.UTC)


def read(form: Typed) -> OpeningTerms:
    """What a form says; Invalid where it cannot be meant."""
    return OpeningTerms(
        title=form.get("title", ""),
        description=form.get("description", "").replace("\r\n", "\n").strip() or None,
        employer=form.get("employer", "").strip() or None,
        location=form.get("location", "").strip() or None,
        remote=form.get("remote") == "yes",
        require_acknowledgement=form.get("require_acknowledgement") == "yes",
        acknowledge_window=_window(form),
        max_missed=whole(form, "max_missed", "The number of offers that may be missed"),
        waitlist_limit=_maybe(form, "waitlist_limit", "The limit of the waitlist"),
        apply_until=moment(form.get("apply_until", ""), "The last moment to apply"),
        keep_days=_maybe(form, "keep_days", "The days that data are kept"),
    )


def write(terms: OpeningTerms) -> dict[str, str]:
    """The terms as `read` reads them."""
    until = terms.apply_until
    number, unit = _parts(terms.acknowledge_window)
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
        "waitlist_limit": _shown(terms.waitlist_limit),
        "apply_until": f"{until.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%S}" if until else "",
        "keep_days": _shown(terms.keep_days),
    }


def changes(before: OpeningTerms, form: Typed) -> dict[str, Any]:
    """What a form changes of the terms; what it cannot show exactly stays unless it was typed."""
    was, now = read(write(before)), read(form)
    names = [field.name for field in fields(OpeningTerms)]
    return {name: getattr(now, name) for name in names if getattr(now, name) != getattr(was, name)}


def whole(form: Typed, name: str, what: str) -> int:
    """A whole number that must be there."""
    text = form.get(name, "").strip()
    if not WHOLE.fullmatch(text):
        raise Invalid(f"{what} should be a whole number.")
    return int(text)


def moment(text: str, what: str) -> dt.datetime | None:
    """A time; without a zone it is UTC, and nothing is None."""
    if not text.strip():
        return None
    try:
        found = dt.datetime.fromisoformat(text.strip())
        found = found if found.tzinfo else found.replace(tzinfo=dt.UTC)
        if EARLIEST <= found <= LATEST:
            return found.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        pass
    raise Invalid(f"{what} should be a time such as 2026-11-15T09:30.")


def _maybe(form: Typed, name: str, what: str) -> int | None:
    return whole(form, name, what) if form.get(name, "").strip() else None


def _window(form: Typed) -> dt.timedelta:
    number = whole(form, "window", "The time to confirm an offer")
    unit = UNITS.get(form.get("unit", ""))
    if unit is None:
        raise Invalid("The time to confirm an offer should be in days, hours, minutes or seconds.")
    # More than the rules allow is refused by them; it should not be too long for a timedelta.
    return dt.timedelta(seconds=min(number * unit, 10**9))


def _parts(span: dt.timedelta) -> tuple[int, str]:
    """In the largest unit that fits."""
    seconds = round(span.total_seconds())
    return next((seconds // long, name) for name, long in UNITS.items() if seconds % long == 0)


def _shown(number: int | None) -> str:
    return "" if number is None else str(number)
