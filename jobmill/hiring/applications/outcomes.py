"""What somebody is told of a step: the same words wherever they took it."""

from __future__ import annotations

from jobmill.hiring.applications.offers import Answer
from jobmill.hiring.applications.submissions import Placement
from jobmill.hiring.records.applications import Application

ACTIVE = "You have a slot: you are now ACTIVE."
PENDING = "A slot is free for you. Confirm it before the deadline."
WAITING = "You have been added to the waitlist at position {}."
WITHDRAWN = "Application withdrawn successfully."
PROMOTED = "A slot was offered out of turn."
ANSWERED: dict[Answer, str] = {
    "accept": "Promotion acknowledged. You are now ACTIVE.",
    "decline": "Offer declined. Your application has ended.",
}
EXPIRED = (
    "Acknowledgment window has expired. You have been returned to the waitlist with a penalty."
)
LAPSED = "Acknowledgment window has expired. It was the last offer: your application has ended."


def apply_message(placed: Placement) -> str:
    """To who has just applied: where they stand."""
    match placed.application.status:
        case "ACTIVE":
            return ACTIVE
        case "PENDING_ACKNOWLEDGMENT":
            return PENDING
        case _:
            return WAITING.format(placed.position)


def missed_message(one: Application) -> str:
    """To who answered too late: what that led to."""
    return LAPSED if one.status == "INACTIVE" else EXPIRED
