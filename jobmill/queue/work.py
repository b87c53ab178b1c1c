"""What the queue carries, what a stage may answer, and which changes of status are legal."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, NewType, TypeAlias

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict

ItemId = NewType("ItemId", int)
Data: TypeAlias = Mapping[str, Any]
Save: TypeAlias = Callable[[Tx], Awaitable[object]]

Status = Literal["PENDING", "PROCESSING", "BLOCKED", "SUCCESS", "FILTERED", "SKIPPED", "FAILED"]

TRANSITIONS: Mapping[Status | None, frozenset[Status]] = {
    None: frozenset({"PENDING"}),
    "PENDING": frozenset({"PROCESSING", "SKIPPED"}),
    "PROCESSING": frozenset({"PENDING", "BLOCKED", "SUCCESS", "FILTERED", "SKIPPED", "FAILED"}),
    "BLOCKED": frozenset({"PENDING", "SKIPPED"}),
    # Put back by hand.
    "FAILED": frozenset({"PENDING"}),
    "SKIPPED": frozenset({"PENDING"}),
    "FILTERED": frozenset({"PENDING"}),
    "SUCCESS": frozenset(),
}
"""From what an item may become what; the database holds the same table as a constraint."""

NORMAL_PRIORITY = 100
"""The priority of work nobody said anything about; lower is sooner."""

MAX_STEPS = 1_000
"""Advances and waits of one item; beyond it the item goes round in circles."""


class Claim(NamedTuple):
    """What a worker was given: this item, for this attempt. An id alone is not a claim."""

    id: ItemId
    attempt: int


class Work(NamedTuple):
    """One claimed item. A tuple because a worker makes thousands of them a second."""

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
    """The item this one last waited for: it ended, or the wait did."""
    worker: int = 0
    """The worker that holds the claim."""

    @property
    def claim(self) -> Claim:
        return Claim(self.id, self.attempt)


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item to be put in. `key` says what it is about: a canonical URL or another natural key."""

    kind: str
    stage: str
    key: str
    data: Data = field(default_factory=dict[str, Any])
    priority: int = NORMAL_PRIORITY
    delay: dt.timedelta = dt.timedelta()
    max_retries: int | None = None
    max_spawn_depth: int | None = None


SpawnReason = Literal["depth", "circular", "duplicate", "finished", "live elsewhere"]
"""The five spawn rules, in the order in which they are asked."""

AdmissionReason = Literal["queued", "processing", "other phase", "full"]
"""Why a new root is not let in: it waits in this phase, runs, waits in another phase, or no room."""

Reason: TypeAlias = SpawnReason | AdmissionReason


@dataclass(frozen=True, slots=True)
class AcceptedItem:
    id: ItemId


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """Why an item was not put in; `live` is the item that already does this work, where there is one."""

    new: NewItem
    reason: Reason
    message: str
    live: ItemId | None = None


class NotAdmitted(Conflict):
    """The queue refused an item; `refused` says why, and which item does this work already."""

    def __init__(self, refused: RefusedItem) -> None:
        super().__init__(refused.message)
        self.refused = refused


class BlockedOn(AppError):
    """Raised by a stage that cannot go on until `on` (a budget, key or model) is there."""

    def __init__(self, on: str, message: str) -> None:
        super().__init__(message)
        self.on = on


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What every answer may carry beside its own."""

    data: Data | None = None
    """What the item carries from here on; None leaves it as it is."""
    save: Save | None = None
    """Writes that commit with the move, or not at all. May be called again after a rollback."""
    spawn: Sequence[NewItem] = ()
    """Children that commit with the move, each under the five rules."""


@dataclass(frozen=True, slots=True)
class Advance(_Answer):
    """Same item, next stage."""

    stage: str
    message: str | None = None
    priority: int | None = None
    """Its priority from here on; None leaves it as it is."""


@dataclass(frozen=True, slots=True)
class HandOver(_Answer):
    """This item is done; its next stage is a child item that carries `data` on."""

    stage: str
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Finish(_Answer):
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Filter(_Answer):
    """Rejected by a rule; `message` says which."""

    message: str


@dataclass(frozen=True, slots=True)
class Skip(_Answer):
    """Below a threshold, or done already; `message` says why."""

    message: str


@dataclass(frozen=True, slots=True)
class WaitUntil(_Answer):
    """Run this stage again at `until`; costs no retry."""

    until: dt.datetime
    message: str | None = None


@dataclass(frozen=True, slots=True)
class WaitFor(_Answer):
    """Run this stage again when `item` has ended, or after `at_most` whatever became of it.

    A `New` is spawned first; where the queue refuses it, the item that does the work is waited for.
    """

    item: ItemId | NewItem
    at_most: dt.timedelta = dt.timedelta(minutes=10)
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Block(_Answer):
    """Park until `control.unblock(on)`, or look again after `recheck`; costs no retry."""

    on: str
    message: str
    recheck: dt.timedelta = dt.timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Retry(_Answer):
    """What the worker makes of an error; stages raise instead."""

    message: str
    error_class: str
    error_text: str
    fingerprint: str
    delay: dt.timedelta


@dataclass(frozen=True, slots=True)
class Fail(_Answer):
    """What the worker makes of an error that must not be tried again."""

    message: str
    error_class: str
    error_text: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Release(_Answer):
    """What the worker answers for an item it claimed and will not run: somebody else may."""

    message: str | None = None


Move: TypeAlias = Advance | HandOver | Finish | Filter | Skip | WaitUntil | WaitFor | Block
Outcome: TypeAlias = Move | Retry | Fail | Release
Run: TypeAlias = Callable[[Work], Awaitable[Move]]


@dataclass(frozen=True, slots=True)
class StartRate:
    """At most `starts` items in each window of `per`, counted over all processes."""

    starts: int
    per: dt.timedelta


@dataclass(frozen=True, slots=True)
class Stage:
    """One phase: the function that runs it, and how much of it may happen at once."""

    run: Run
    processors: int = 10
    capacity: int = 1_000
    rate: StartRate | None = None
    run_limit: dt.timedelta = dt.timedelta(minutes=5)
    max_retries: int = 3
    max_spawn_depth: int = 10


Stages: TypeAlias = Mapping[tuple[str, str], Stage]
"""(kind, stage) to how it is run."""
