"""The terms of an opening as form fields."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar, get_args

from jobmill.errors import Invalid
from jobmill.hiring.admission.admission_changes import InReviewDecision
from jobmill.hiring.records.openings import Admission, OpeningTerms, ReviewOrder
from jobmill.hiring.timestamps import format_time_of_day, parse_time_of_day
from jobmill.time_zones import UTC, load_time_zone

Typed = Mapping[str, str]

PRESETS = ("300", "86400", "172800", "259200", "604800")
"""Seconds to accept an offer: 5 minutes, 24 hours, 48 hours, 3 days, a week."""
OTHER = "other"
"""The preset whose time is typed."""
UNITS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
PLACES = "The number of places"
ADMISSIONS: Sequence[Admission] = get_args(Admission)
REVIEW_ORDERS: Sequence[ReviewOrder] = get_args(ReviewOrder)
T = TypeVar("T", bound=str)

WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")
EARLIEST, LATEST = dt.datetime(1970, 1, 1, tzinfo=dt.UTC), dt.datetime(9000, 1, 1, tzinfo=dt.UTC)


def parse_terms(form: Typed) -> OpeningTerms:
    """Parse a form; raises Invalid."""
    time_zone = form.get("time_zone", "").strip() or UTC
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
        apply_until=parse_time(
            form.get("apply_until", ""), "The application deadline", load_time_zone(time_zone)
        ),
        keep_days=_parse_optional_number(form, "keep_days", "The number of days to keep data"),
        fairness_proof=form.get("fairness_proof") == "yes",
        admission=_parse_choice(form, "admission", ADMISSIONS, "The admission"),
        review_order=_parse_choice(form, "review_order", REVIEW_ORDERS, "The review order"),
        time_zone=time_zone,
        quiet_from=_parse_time_of_day(form, "quiet_from"),
        quiet_until=_parse_time_of_day(form, "quiet_until"),
    )


def to_fields(terms: OpeningTerms) -> dict[str, str]:
    """The fields that `parse_terms` reads back."""
    until = terms.apply_until
    number, unit = _split_duration(terms.acknowledge_window)
    seconds = f"{terms.acknowledge_window.total_seconds():.0f}"
    zone = load_time_zone(terms.time_zone)
    return {
        "title": terms.title,
        "description": terms.description or "",
        "employer": terms.employer or "",
        "location": terms.location or "",
        "remote": "yes" if terms.remote else "",
        "require_acknowledgement": "yes" if terms.require_acknowledgement else "",
        "preset": seconds if seconds in PRESETS else OTHER,
        "window": str(number),
        "unit": unit,
        "max_missed": str(terms.max_missed),
        "waitlist_limit": _to_text(terms.waitlist_limit),
        "apply_until": f"{until.astimezone(zone):%Y-%m-%dT%H:%M:%S}" if until else "",
        "keep_days": _to_text(terms.keep_days),
        "fairness_proof": "yes" if terms.fairness_proof else "",
        "admission": terms.admission,
        "review_order": terms.review_order,
        "time_zone": terms.time_zone,
        "quiet_from": format_time_of_day(terms.quiet_from) or "",
        "quiet_until": format_time_of_day(terms.quiet_until) or "",
    }


def parse_in_review(form: Typed) -> InReviewDecision | None:
    """What happens to applications in review; None if nothing was chosen."""
    decisions: Mapping[str, InReviewDecision] = {"accept": "accept", "reject": "reject"}
    return decisions.get(form.get("in_review", ""))


def _parse_choice(form: Typed, name: str, choices: Sequence[T], what: str) -> T:
    """One of the choices; the first if the form does not have the field."""
    text = form.get(name, "") or choices[0]
    for choice in choices:
        if choice == text:
            return choice
    raise Invalid(f"{what} should be one of: {', '.join(choices)}.")


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


def parse_time(text: str, what: str, zone: dt.tzinfo = dt.UTC) -> dt.datetime | None:
    """A time, in this zone unless it has one; None if empty."""
    if not text.strip():
        return None
    try:
        time = dt.datetime.fromisoformat(text.strip())
        time = time if time.tzinfo else time.replace(tzinfo=zone)
        if EARLIEST <= time <= LATEST:
            return time.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        pass
    raise Invalid(f"{what} should be a time such as 2026-11-15T09:30.")


def _parse_optional_number(form: Typed, name: str, what: str) -> int | None:
    return parse_number(form, name, what) if form.get(name, "").strip() else None


def _parse_time_of_day(form: Typed, name: str) -> dt.time | None:
    text = form.get(name, "").strip()
    return parse_time_of_day(text) if text else None


def _parse_window(form: Typed) -> dt.timedelta:
    if form.get("preset") in PRESETS:
        return dt.timedelta(seconds=int(form["preset"]))
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
