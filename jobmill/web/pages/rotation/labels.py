"""Describe figures and statuses of the rotation on pages."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence

from jobmill.boards.adapters import BY_NAME
from jobmill.errors import Invalid
from jobmill.web.translations import say, say_many

HOURS = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,6})?")
MIN_EXPECTED = 0.01
"""Fewer expected new jobs per read are not worth a number."""


def describe_expected(value: float | None) -> str:
    """How many new jobs a read now is expected to find."""
    if value is None or value < MIN_EXPECTED:
        return say("almost none")
    if value < 0.75:
        return say_many("1 job in %(n)s read", "1 job in %(n)s reads", max(round(1 / value), 2))
    return say_many("%(n)s job", "%(n)s jobs", round(value))


def age_name(age: str) -> str:
    """An age as `monitor.ages` names it."""
    names = {
        "never": say("never"),
        "under 6 hours": say("under 6 hours"),
        "under a day": say("under a day"),
        "under 3 days": say("under 3 days"),
        "under a week": say("under a week"),
        "under 30 days": say("under 30 days"),
        "older": say("older"),
    }
    return names.get(age, age)


def answer_name(answer: str) -> str:
    """The result of a read."""
    names = {
        "ok": say("succeeded"),
        "not_modified": say("unchanged"),
        "gone": say("not found"),
        "error": say("failed"),
        "rate_limited": say("rate limited by the site"),
    }
    return names.get(answer, answer)


def status_name(status: str) -> str:
    names = {
        "active": say("active"),
        "paused": say("paused"),
        "bad": say("stopped after failures"),
    }
    return names.get(status, status)


def platform_title(platform: str) -> str:
    adapter = BY_NAME.get(platform)
    return adapter.title if adapter else platform


def join_texts(texts: Sequence[str], empty: str) -> str:
    """Texts separated by commas; `empty` if there are none."""
    return ", ".join(filter(None, texts)) or empty


def format_hours(span: dt.timedelta | None) -> str:
    """Hours for a form; empty if nothing is set."""
    return "" if span is None else f"{span.total_seconds() / 3600:g}"


def read_hours(form: Mapping[str, str], name: str) -> dt.timedelta | None:
    """A number of hours; None if the field is empty."""
    typed = form.get(name, "").strip()
    if not typed:
        return None
    if not HOURS.fullmatch(typed):
        raise Invalid(say("Enter hours as a number, such as 12 or 0.5."))
    return dt.timedelta(hours=float(typed))
