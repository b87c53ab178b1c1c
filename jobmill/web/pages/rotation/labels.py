"""What the pages of the rotation say of figures and answers."""

from __future__ import annotations

from collections.abc import Sequence

from jobmill.boards.adapters import BY_NAME
from jobmill.web.translations import say, say_many

HARDLY = 0.01
"""Fewer new listings a call are not worth a number."""


def worth(value: float | None) -> str:
    """What a call now would bring."""
    if value is None or value < HARDLY:
        return say("hardly anything")
    if value < 0.75:
        return say_many("one in %(n)s call", "one in %(n)s calls", max(round(1 / value), 2))
    return say_many("%(n)s listing", "%(n)s listings", round(value))


def age(name: str) -> str:
    """How long ago something was seen, as `monitor.ages` calls it."""
    known = {
        "never": say("never"),
        "under 6 hours": say("under 6 hours"),
        "under a day": say("under a day"),
        "under 3 days": say("under 3 days"),
        "under a week": say("under a week"),
        "under 30 days": say("under 30 days"),
        "older": say("older"),
    }
    return known.get(name, name)


def answer(name: str) -> str:
    """How a call ended."""
    known = {
        "ok": say("answered"),
        "not_modified": say("unchanged"),
        "gone": say("not there"),
        "error": say("failed"),
        "rate_limited": say("asked to slow down"),
    }
    return known.get(name, name)


def status(name: str) -> str:
    """How a target stands."""
    known = {"active": say("active"), "paused": say("paused"), "bad": say("given up")}
    return known.get(name, name)


def title(platform: str) -> str:
    """What a platform calls itself."""
    known = BY_NAME.get(platform)
    return known.title if known else platform


def listed(texts: Sequence[str], none: str) -> str:
    """Some words in a line; `none` where there are none."""
    return ", ".join(filter(None, texts)) or none
