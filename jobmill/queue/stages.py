"""Stages: the functions that run items, the moves they return, and the limits of a phase."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from jobmill.db import Tx
from jobmill.errors import AppError
from jobmill.queue.items import Data, ItemId, NewItem, Work

Save: TypeAlias = Callable[[Tx], Awaitable[object]]

MAX_STEPS = 1_000
"""How often one item may advance or wait; an item that exceeds it is in a loop."""


class BlockedOn(AppError):
    """Raised by a stage that cannot continue without a resource; `on` names the budget, key or model."""

    def __init__(self, on: str, message: str) -> None:
        super().__init__(message)
        self.on = on


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """Fields that every outcome may carry."""

    data: Data | None = None
    """The item's new data; None keeps the old data."""
    save: Save | None = None
    """Writes that commit with the move or not at all. May be called again after a rollback."""
    spawn: Sequence[NewItem] = ()
    """Children that commit with the move, each subject to the five spawn rules."""


@dataclass(frozen=True, slots=True)
class Advance(_Outcome):
    """Continue the same item with its next stage."""

    stage: str
    message: str | None = None
    priority: int | None = None
    """The item's new priority; None keeps the old one."""


@dataclass(frozen=True, slots=True)
class HandOver(_Outcome):
    """End this item; its next stage runs as a child item that carries `data`."""

    stage: str
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Finish(_Outcome):
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Filter(_Outcome):
    """End the item because a rule rejects it; `message` names the rule."""

    message: str


@dataclass(frozen=True, slots=True)
class Skip(_Outcome):
    """End the item because it is below a threshold or already done; `message` says which."""

    message: str


@dataclass(frozen=True, slots=True)
class WaitUntil(_Outcome):
    """Run this stage again at `until`; uses up no retry."""

    until: dt.datetime
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Postpone(_Outcome):
    """Run this stage again after `delay`, by the server's clock; uses up no retry. The queue returns
    it for a stage that raises `RetryLater`."""

    delay: dt.timedelta
    message: str | None = None


@dataclass(frozen=True, slots=True)
class WaitFor(_Outcome):
    """Run this stage again when `item` has ended, or after `at_most` in any case.

    A `NewItem` is spawned first. If the queue refuses it because another item does the same work, this
    item waits for that one.
    """

    item: ItemId | NewItem
    at_most: dt.timedelta = dt.timedelta(minutes=10)
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Block(_Outcome):
    """Park the item until `operator_actions.unblock_items(on)` or `recheck`; uses up no retry."""

    on: str
    message: str
    recheck: dt.timedelta = dt.timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Retry(_Outcome):
    """The worker's outcome for an error that may pass; stages raise the error instead."""

    message: str
    error_class: str
    error_text: str
    fingerprint: str
    delay: dt.timedelta


@dataclass(frozen=True, slots=True)
class Fail(_Outcome):
    """The worker's outcome for an error that must not be retried."""

    message: str
    error_class: str
    error_text: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Release(_Outcome):
    """The worker's outcome for an item that it claimed and will not run: another worker may."""

    message: str | None = None


Move: TypeAlias = (
    Advance | HandOver | Finish | Filter | Skip | WaitUntil | Postpone | WaitFor | Block
)
Outcome: TypeAlias = Move | Retry | Fail | Release
Run: TypeAlias = Callable[[Work], Awaitable[Move]]


@dataclass(frozen=True, slots=True)
class StartRate:
    """At most `starts` items in each window of `per`, counted over all worker processes."""

    starts: int
    per: dt.timedelta


@dataclass(frozen=True, slots=True)
class Stage:
    """The function that runs a phase, and the limits of that phase."""

    run: Run
    processors: int = 10
    capacity: int = 1_000
    rate: StartRate | None = None
    run_limit: dt.timedelta = dt.timedelta(minutes=5)
    max_retries: int = 3
    max_spawn_depth: int = 10


Stages: TypeAlias = Mapping[tuple[str, str], Stage]
"""Stages by phase: (kind, stage)."""
