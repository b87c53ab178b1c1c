"""Random stories for the queue: lists of steps, and how to print them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from hypothesis import strategies as some

from jobmill.queue import Advance, Filter, Finish, HandOver, NewItem, Skip, WaitFor, WaitUntil
from jobmill.queue.stages import Block, Fail, Outcome, Release, Retry

from .model import CAPACITY, START

PHASES = [(kind, stage) for kind in CAPACITY for stage in ("run", "pour")]
PAUSES = [*PHASES, *((kind, "") for kind in CAPACITY)]
BLOCKS = ["key", "money"]
PROCESSES = 2
DEFAULTS = [None, (), [], {}, 100, dt.timedelta()]

# Time passes in multiples of 25 s. The lease and all delays end 10 s or more from such a multiple, so
# the milliseconds that a story really takes change nothing.
PASSING = dt.timedelta(seconds=25)
NEW_DELAY, RETRY, UNTIL, AT_MOST, RECHECK = (dt.timedelta(seconds=15 + 25 * n) for n in range(5))


@dataclass(frozen=True)
class Submit:
    news: list[NewItem]


@dataclass(frozen=True)
class ClaimItems:
    process: int
    limit: int


@dataclass(frozen=True)
class Settle:
    """Claim up to `claim` items of each phase, then settle.

    `batch`: which claim of the process, and its outcome; 0 is the newest that it still holds.
    """

    process: int
    claim: int
    saves: bool
    batch: list[tuple[int, Outcome]]


@dataclass(frozen=True)
class QueueStep:
    """`number` chooses a process, an item (0 is the newest), a phase or an amount."""

    verb: str
    number: int


NEWS = some.builds(
    NewItem,
    some.sampled_from(list(CAPACITY)),
    some.sampled_from(["run", "pour"]),
    some.sampled_from("abc"),
    priority=some.sampled_from([100, 50]),
    delay=some.sampled_from([dt.timedelta(), dt.timedelta(), NEW_DELAY]),
)
SPAWN = some.lists(NEWS, max_size=2)
STAGE_NAMES = some.sampled_from(["pour", "run"])
ERROR = ("message", "transient", "text", "")
OUTCOMES = some.one_of(
    some.builds(Finish, spawn=SPAWN),
    some.builds(Release),
    some.builds(Advance, STAGE_NAMES, priority=some.sampled_from([None, 50]), spawn=SPAWN),
    some.builds(HandOver, STAGE_NAMES, spawn=SPAWN),
    *[some.builds(WaitFor, some.integers(0, 3), some.just(AT_MOST), spawn=SPAWN)] * 2,
    *[some.builds(WaitFor, NEWS, some.just(AT_MOST), spawn=SPAWN)] * 2,
    some.builds(WaitUntil, some.sampled_from([START, START + UNTIL]), spawn=SPAWN),
    some.builds(Block, some.sampled_from(BLOCKS), some.just(""), some.just(RECHECK)),
    some.just(Retry(*ERROR, RETRY)),
    some.just(Fail(*ERROR)),
    some.builds(Filter, some.just(""), spawn=SPAWN),
    some.builds(Skip, some.just(""), spawn=SPAWN),
)
PROCESS = some.integers(0, PROCESSES - 1)
BATCHES = some.lists(some.tuples(some.integers(0, 4), OUTCOMES), min_size=1, max_size=3)
SUBMITS = some.builds(Submit, some.lists(NEWS, min_size=1, max_size=3))
CLAIMS = some.builds(ClaimItems, PROCESS, some.integers(1, 3))
SETTLES = some.builds(Settle, PROCESS, some.integers(0, 2), some.booleans(), BATCHES)
# One process, one outcome at a time: an item waits for another that is claimed, and that one ends.
WAIT_OR_FINISH = some.builds(Finish) | some.builds(WaitFor, some.integers(0, 3), some.just(AT_MOST))
WAITS = some.builds(
    Settle,
    some.just(0),
    some.just(2),
    some.just(False),
    some.lists(some.tuples(some.integers(0, 2), WAIT_OR_FINISH), min_size=1, max_size=1),
)
VERBS = ["kill", "stop and rejoin", "rescue", "disown", "pass time", "unpark", "put back", "cancel"]
SELDOM = ["pause", "resume", "unblock", "wake orphans"]
STEPS = some.builds(QueueStep, some.sampled_from(VERBS * 2 + SELDOM), some.integers(0, 5))
STORIES = some.lists(
    # Unneeded steps shrink to None.
    some.none() | some.one_of(SUBMITS, SUBMITS, CLAIMS, *[SETTLES] * 3, *[WAITS] * 2, STEPS, STEPS),
    min_size=16,
    max_size=30,
)


def brief(value: Any) -> str:
    """The repr of a step without the fields that have their default."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(brief, value))}]"
    if not is_dataclass(value):
        return str(value)
    named = [(each.name, getattr(value, each.name)) for each in fields(value)]
    parts = [f"{name}={brief(part)}" for name, part in named if part not in DEFAULTS]
    return f"{type(value).__name__}({', '.join(parts)})"
