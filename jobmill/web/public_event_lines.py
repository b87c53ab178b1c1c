"""Lines of the public log in words.

They are made from the published fields alone, so that the page tells nothing that the downloaded log does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobmill.hiring.transitions import EventType
from jobmill.web.translations import say


@dataclass(frozen=True, slots=True)
class PublicEventLine:
    seq: int
    at: str
    """UTC, to the minute; empty for internal events."""
    text: str
    pseudonym: str | None
    """None for events of the opening itself."""


def describe_line(line: Mapping[str, Any]) -> PublicEventLine:
    at = line.get("at", "").replace("T", " ").removesuffix("Z")
    return PublicEventLine(line["seq"], at, _describe(line), line.get("who"))


def _describe(line: Mapping[str, Any]) -> str:
    match line["type"]:
        case "APPLIED":
            return _application_texts()[line["to"]]
        case "WITHDRAWN":
            return _withdrawal_text(line)
        case "PROMOTED" if line.get("outOfTurn"):
            return say("was offered a place out of turn")
        case "CAPACITY_CHANGED":
            return say("Number of places changed to %(n)s", n=f"{line['capacity']:,}")
        case type:
            return _event_texts()[type]


def _application_texts() -> Mapping[str, str]:
    return {
        "WAITLIST": say("applied and joined the waitlist"),
        "PENDING_ACKNOWLEDGMENT": say("applied and was offered a place"),
        "IN_REVIEW": say("applied"),
        "ACTIVE": say("applied and got a place"),
    }


def _withdrawal_text(line: Mapping[str, Any]) -> str:
    if line["by"] == "company":
        return say("was removed")
    if line["by"] == "system":
        return say("no longer takes part")
    if line["from"] == "PENDING_ACKNOWLEDGMENT":
        return say("declined the offer")
    return say("withdrew")


def opening_event_labels() -> dict[EventType, str]:
    """Events of an opening itself that need no details."""
    return {
        "OPENED": say("Opening created"),
        "EDITED": say("Opening edited"),
        "FORM_CHANGED": say("Application form changed"),
        "PAUSED": say("Opening paused"),
        "RESUMED": say("Opening resumed"),
        "CLOSED": say("Opening closed"),
        "REOPENED": say("Opening reopened"),
        "LOTTERY_OPENED": say("Draw opened for entries"),
        "LOTTERY_DRAWN": say("Entries drawn by lot"),
    }


def _event_texts() -> Mapping[str, str]:
    return {
        "INTERNAL": say("Internal step of the company"),
        "ACCEPTED": say("was accepted and joined the waitlist"),
        "REJECTED": say("was not accepted"),
        "STAGE_CHANGED": say("was not accepted"),
        "PROMOTED": say("was offered a place"),
        "ACKNOWLEDGED": say("accepted the offer"),
        "DECAY_TRIGGERED": say("missed an offer and returned to the waitlist"),
        "LAPSED": say("missed the last offer; the application has ended"),
        "ADDRESS_CONFIRMED": say("confirmed the email address"),
        "ADDRESS_UNCONFIRMED": say(
            "did not confirm the email address in time; the application has ended"
        ),
        **opening_event_labels(),
    }
