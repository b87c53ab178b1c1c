"""The states of an application and the allowed transitions between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from jobmill.errors import Conflict

ApplicationStatus = Literal["ACTIVE", "WAITLIST", "PENDING_ACKNOWLEDGMENT", "INACTIVE", "IN_REVIEW"]
"""Only openings that review or draw applications have `IN_REVIEW`, which takes no slot and no position."""

ApplicationEventType = Literal[
    "APPLIED",
    "PROMOTED",
    "ACKNOWLEDGED",
    "WITHDRAWN",
    "DECAY_TRIGGERED",
    "LAPSED",
    "ADDRESS_CONFIRMED",
    "ADDRESS_UNCONFIRMED",
    "ACCEPTED",
    "REJECTED",
    "SCORED",
    "STAGE_CHANGED",
]

OpeningEventType = Literal[
    "OPENED",
    "EDITED",
    "FORM_CHANGED",
    "CAPACITY_CHANGED",
    "PAUSED",
    "RESUMED",
    "CLOSED",
    "REOPENED",
    "LOTTERY_OPENED",
    "LOTTERY_DRAWN",
]

EventType = Literal[ApplicationEventType, OpeningEventType]

TRANSITIONS: Mapping[ApplicationStatus | None, frozenset[ApplicationStatus]] = {
    None: frozenset({"ACTIVE", "PENDING_ACKNOWLEDGMENT", "WAITLIST", "IN_REVIEW"}),
    "IN_REVIEW": frozenset({"WAITLIST", "INACTIVE"}),
    "WAITLIST": frozenset({"PENDING_ACKNOWLEDGMENT", "INACTIVE"}),
    "PENDING_ACKNOWLEDGMENT": frozenset({"ACTIVE", "WAITLIST", "INACTIVE"}),
    "ACTIVE": frozenset({"INACTIVE"}),
    # Final: applying again creates a new application.
    "INACTIVE": frozenset(),
}
"""Allowed target states by current state; a database constraint holds the same table."""

OCCUPYING: frozenset[ApplicationStatus | None] = frozenset({"ACTIVE", "PENDING_ACKNOWLEDGMENT"})
"""States that take a slot."""


class InvalidTransition(Conflict):
    """The application cannot change to this state."""

    code = "INVALID_TRANSITION"

    def __init__(self, before: ApplicationStatus | None, after: ApplicationStatus) -> None:
        super().__init__(f"An application cannot go from {before or 'new'} to {after}.")


def check_transition(before: ApplicationStatus | None, after: ApplicationStatus) -> None:
    if after not in TRANSITIONS[before]:
        raise InvalidTransition(before, after)
