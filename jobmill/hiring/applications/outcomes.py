"""Results of applying and of answering an offer, and their messages in the API, the CLI and on pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jobmill.hiring.records.applications import Application

Answer = Literal["accept", "decline"]


@dataclass(frozen=True, slots=True)
class Placement:
    """The application after a change; `position` counts from 1 and is set only on the waitlist."""

    application: Application
    position: int | None = None
    is_new_applicant: bool = False
    """Whether this application added the applicant: no other link to the page of this person exists."""


@dataclass(frozen=True, slots=True)
class MissedOffer:
    """The answer came after the deadline. A result, not an error: its consequences must be committed."""

    application: Application


ACTIVE = "You have a place."
PENDING = "A place is free for you. Confirm it before the deadline."
RECEIVED = "Your application has been received and is waiting for a decision."
WAITING = "You have been added to the waitlist at position {}."
UNCONFIRMED = "Check your email: follow the link in it to complete your application."
WITHDRAWN = "Application withdrawn successfully."
PROMOTED = "A place was offered out of turn."
ANSWERED: dict[Answer, str] = {
    "accept": "Promotion acknowledged. You are now ACTIVE.",
    "decline": "Offer declined. Your application has ended.",
}
EXPIRED = (
    "Acknowledgment window has expired. You have been returned to the waitlist with a penalty."
)
LAPSED = "Acknowledgment window has expired. It was the last offer: your application has ended."


def apply_message(placement: Placement) -> str:
    match placement.application.status:
        case "ACTIVE":
            return ACTIVE
        case "PENDING_ACKNOWLEDGMENT":
            return PENDING
        case "IN_REVIEW":
            return RECEIVED
        case _:
            return WAITING.format(placement.position)


def missed_message(application: Application) -> str:
    return LAPSED if application.status == "INACTIVE" else EXPIRED
