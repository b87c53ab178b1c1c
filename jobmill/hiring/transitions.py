"""The states of an application and the allowed transitions between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from jobmill.errors import Conflict

Status = Literal["ACTIVE", "WAITLIST", "PENDING_ACKNOWLEDGMENT", "INACTIVE"]

Move = Literal["APPLIED", "PROMOTED", "ACKNOWLEDGED", "WITHDRAWN", "DECAY_TRIGGERED", "LAPSED"]
"""Events of an application."""

Turn = Literal["OPENED", "EDITED", "CAPACITY_CHANGED", "PAUSED", "RESUMED", "CLOSED", "REOPENED"]
"""Events of an opening."""

EventType = Literal[Move, Turn]

TRANSITIONS: Mapping[Status | None, frozenset[Status]] = {
    None: frozenset({"ACTIVE", "PENDING_ACKNOWLEDGMENT", "WAITLIST"}),
    "WAITLIST": frozenset({"PENDING_ACKNOWLEDGMENT", "INACTIVE"}),
    "PENDING_ACKNOWLEDGMENT": frozenset({"ACTIVE", "WAITLIST", "INACTIVE"}),
    "ACTIVE": frozenset({"INACTIVE"}),
    # Final: applying again creates a new application.
    "INACTIVE": frozenset(),
}
"""Allowed target states by current state; a database constraint holds the same table."""

OCCUPYING: frozenset[Status | None] = frozenset({"ACTIVE", "PENDING_ACKNOWLEDGMENT"})
"""States that take a slot."""


class InvalidTransition(Conflict):
    """The application cannot change to this state."""

    code = "INVALID_TRANSITION"

    def __init__(self, before: Status | None, after: Status) -> None:
        super().__init__(f"An application cannot go from {before or 'new'} to {after}.")


def check(before: Status | None, after: Status) -> None:
    if after not in TRANSITIONS[before]:
        raise InvalidTransition(before, after)
