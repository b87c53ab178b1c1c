"""Describe figures and statuses of the rotation on pages."""

from __future__ import annotations

from collections.abc import Sequence

from jobmill.boards.adapters import BY_NAME
from jobmill.web.translations import say, say_many

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
