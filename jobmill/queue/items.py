"""Items: the units of work in the queue, their statuses, and how the queue answers a submission."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, NewType, TypeAlias

from jobmill.errors import Conflict

ItemId = NewType("ItemId", int)
Data: TypeAlias = Mapping[str, Any]

Status = Literal["PENDING", "PROCESSING", "BLOCKED", "SUCCESS", "FILTERED", "SKIPPED", "FAILED"]

TRANSITIONS: Mapping[Status | None, frozenset[Status]] = {
    None: frozenset({"PENDING"}),
    "PENDING": frozenset({"PROCESSING", "SKIPPED"}),
    "PROCESSING": frozenset({"PENDING", "BLOCKED", "SUCCESS", "FILTERED", "SKIPPED", "FAILED"}),
    "BLOCKED": frozenset({"PENDING", "SKIPPED"}),
    # An operator retries the item.
    "FAILED": frozenset({"PENDING"}),
    "SKIPPED": frozenset({"PENDING"}),
    "FILTERED": frozenset({"PENDING"}),
    "SUCCESS": frozenset(),
}
"""The legal changes of status; a constraint in the database holds the same table."""

NORMAL_PRIORITY = 100
"""The default priority; lower numbers run first."""


class Claim(NamedTuple):
    """An item and the attempt that a worker was granted; an id alone is not a claim."""

    id: ItemId
    attempt: int


class Work(NamedTuple):
    """One claimed item. A tuple, because a worker creates thousands of them per second."""

    id: ItemId
    kind: str
    stage: str
    key: str
    data: Data
    attempt: int
    retry_count: int
    max_retries: int
    steps: int
    spawn_depth: int
    tracking_id: str
    parent_id: ItemId | None
    waited_for: ItemId | None
    """The item this one last waited for: either it ended, or the wait timed out."""
    worker: int = 0
    """The worker that holds the claim."""

    @property
    def claim(self) -> Claim:
        return Claim(self.id, self.attempt)


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item to submit or spawn. `key` identifies its subject: a canonical URL or another natural key."""

    kind: str
    stage: str
    key: str
    data: Data = field(default_factory=dict[str, Any])
    priority: int = NORMAL_PRIORITY
    delay: dt.timedelta = dt.timedelta()
    max_retries: int | None = None
    max_spawn_depth: int | None = None


SpawnReason = Literal["depth", "circular", "duplicate", "finished", "live elsewhere"]
"""The five spawn rules, in the order in which they are checked."""

AdmissionReason = Literal["queued", "processing", "other phase", "full"]
"""Why a root is refused: its work waits in this phase, runs, waits in another phase, or the phase is full."""

Reason: TypeAlias = SpawnReason | AdmissionReason


@dataclass(frozen=True, slots=True)
class AcceptedItem:
    id: ItemId


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """Why the queue refused an item; `live` is the item that already does this work, if there is one."""

    new: NewItem
    reason: Reason
    message: str
    live: ItemId | None = None
    parent: ItemId | None = None
    """The item that wanted to spawn it; None for a submission."""
    tracking_id: str | None = None
    """The lineage of the parent."""


class NotAdmitted(Conflict):
    """The queue refused an item; `refused` has the reason and the item that already does this work."""

    def __init__(self, refused: RefusedItem) -> None:
        super().__init__(refused.message)
        self.refused = refused
