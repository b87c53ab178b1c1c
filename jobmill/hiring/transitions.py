"""The states of an application, and the one table of moves between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from jobmill.errors import Conflict

Status = Literal["ACTIVE", "WAITLIST", "PENDING_ACKNOWLEDGMENT", "INACTIVE"]

Move = Literal["APPLIED", "PROMOTED", "ACKNOWLEDGED", "WITHDRAWN", "DECAY_TRIGGERED", "LAPSED"]
"""What happens to an application."""

Turn = Literal["OPENED", "EDITED", "CAPACITY_CHANGED", "PAUSED", "RESUMED", "CLOSED", "REOPENED"]
"""What happens to an opening."""

EventType = Literal[Move, Turn]

TRANSITIONS: Mapping[Status | None, frozenset[Status]] = {
    None: frozenset({"ACTIVE", "PENDING_ACKNOWLEDGMENT", "WAITLIST"}),
    "WAITLIST": frozenset({"PENDING_ACKNOWLEDGMENT", "INACTIVE"}),
    "PENDING_ACKNOWLEDGMENT": frozenset({"ACTIVE", "WAITLIST", "INACTIVE"}),
    "ACTIVE": frozenset({"INACTIVE"}),
    # Final: who applies again gets a new application.
    "INACTIVE": frozenset(),
}
"""From what an application may become what; the database holds the same table as a constraint."""

OCCUPYING: frozenset[Status | None] = frozenset({"ACTIVE", "PENDING_ACKNOWLEDGMENT"})
"""Those that take a slot."""


class InvalidTransition(Conflict):
    """A move that the table does not hold."""

    code = "INVALID_TRANSITION"

    def __init__(self, before: Status | None, after: Status) -> None:
        super().__init__(f"An application cannot go from {before or 'new'} to {after}.")


def check(before: Status | None, after: Status) -> None:
    if after not in TRANSITIONS[before]:
        raise InvalidTransition(before, after)
