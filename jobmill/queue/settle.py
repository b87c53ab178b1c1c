"""What becomes of an item after its stage answered: outcomes in, rows changed, children spawned."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.queue import spawn, store
from jobmill.queue.encode import LONGEST, check_priority, new_item, record
from jobmill.queue.spawn import Child
from jobmill.queue.work import (
    MAX_STEPS,
    Advance,
    Block,
    Fail,
    Filter,
    Finish,
    HandOver,
    ItemId,
    New,
    Outcome,
    Placed,
    Refused,
    Release,
    Retry,
    Skip,
    Stages,
    Status,
    WaitFor,
    WaitUntil,
    Work,
)

TERMINAL: Mapping[type[Outcome], Status] = {
    Finish: "SUCCESS",
    Filter: "FILTERED",
    Skip: "SKIPPED",
    Fail: "FAILED",
}


class Settlement(NamedTuple):
    """One item and its outcome, encoded where a mistake in it can still be charged to the item."""

    work: Work
    outcome: Outcome
    row: str


class Answer(NamedTuple):
    """What the queue said to one settlement."""

    work: Work
    lost: bool = False
    """Not ours any more: nothing was written."""
    refused: bool = False
    """Its hand-over would have gone round in circles: the item failed instead."""
    children: Sequence[Placed | Refused] = ()
    """What became of its spawns."""

    @property
    def moved(self) -> bool:
        return not self.lost and not self.refused


def prepare(work: Work, outcome: Outcome, stages: Stages) -> Settlement:
    """Check and encode an outcome; Invalid where the queue could not keep it."""
    if isinstance(outcome, WaitUntil) and outcome.until.tzinfo is None:
        raise Invalid(f"waits until {outcome.until}, which has no time zone")
    for new in _news(outcome):
        if (new.kind, new.stage) not in stages:
            raise Invalid(f"nothing here runs {new.kind}/{new.stage}, which this stage spawned")
        new_item(new)
    if isinstance(outcome, Advance | HandOver) and (work.kind, outcome.stage) not in stages:
        raise Invalid(f"{work.kind} has no stage {outcome.stage!r} to go on to")
    if isinstance(outcome, Advance) and outcome.priority is not None:
        check_priority(outcome.priority)
    if isinstance(outcome, Advance | WaitUntil | WaitFor) and work.steps >= MAX_STEPS:
        raise Invalid(f"went on or waited {MAX_STEPS} times without an end: this is a loop")
    return Settlement(work, outcome, _encode(work, outcome))


async def settle(tx: Tx, worker: int, batch: Sequence[Settlement]) -> list[Answer]:
    """Apply a batch in few statements; who lost the lease changes nothing and spawns nothing."""
    handed, refused = await _hand_over(tx, worker, batch)
    ends = [one.row for one in batch if type(one.outcome) in TERMINAL]
    ends += [_encode(work, fail) for work, fail in refused]
    moves = [one.row for one in batch if one.row and type(one.outcome) not in TERMINAL]
    ours = set(handed)
    if ends:
        ours.update(await store.end(tx, worker, ends))
    if moves:
        ours.update(await store.requeue(tx, worker, moves))
    failed = {work.id for work, _ in refused}
    answers = [Answer(one.work, one.work.id not in ours, one.work.id in failed) for one in batch]
    moved = [one for one, answer in zip(batch, answers, strict=True) if answer.moved]
    children = await _spawn(tx, moved)
    return [answer._replace(children=children.get(answer.work.id, ())) for answer in answers]


async def spawn_and_wait(tx: Tx, worker: int, work: Work, move: WaitFor) -> Settlement | None:
    """Put the awaited item in, or find who does that work; None where `work` is no longer ours."""
    if not await store.hold(tx, worker, work):
        return None
    assert isinstance(move.item, New)
    [answer] = await spawn.spawn(tx, [Child(work.id, move.item)])
    # An ancestor is alive too, but waits for us: only who does this very work is worth a wait.
    twin = isinstance(answer, Refused) and answer.reason in ("duplicate", "live elsewhere")
    awaited = answer.id if isinstance(answer, Placed) else answer.live if twin else None
    if awaited is None:
        # Nobody will do it (too deep, circular, or done before): go on at once, as one who has waited.
        wait = replace(move, item=work.id, at_most=dt.timedelta())
    else:
        wait = replace(move, item=awaited)
    return Settlement(work, wait, _encode(work, wait))


def needs_own_transaction(outcome: Outcome) -> bool:
    return outcome.save is not None or (
        isinstance(outcome, WaitFor) and isinstance(outcome.item, New)
    )


def _news(outcome: Outcome) -> Sequence[New]:
    if isinstance(outcome, WaitFor) and isinstance(outcome.item, New):
        return [*outcome.spawn, outcome.item]
    return outcome.spawn


async def _hand_over(
    tx: Tx, worker: int, batch: Sequence[Settlement]
) -> tuple[list[ItemId], list[tuple[Work, Fail]]]:
    moves = [(one.work, one.outcome) for one in batch if isinstance(one.outcome, HandOver)]
    if not moves:
        return [], []
    answers = await spawn.hand_over(tx, worker, moves)
    refused = [
        (work, Fail(f"Could not hand over: {answer.message}", "permanent", answer.message, ""))
        for work, _ in moves
        if isinstance(answer := answers.get(work.id), Refused)
    ]
    return [id for id, answer in answers.items() if isinstance(answer, Placed)], refused


async def _spawn(tx: Tx, batch: Sequence[Settlement]) -> dict[ItemId, list[Placed | Refused]]:
    children = [Child(one.work.id, new) for one in batch for new in one.outcome.spawn]
    answers: dict[ItemId, list[Placed | Refused]] = {}
    if children:
        for child, answer in zip(children, await spawn.spawn(tx, children), strict=True):
            answers.setdefault(child.parent, []).append(answer)
    return answers


def _encode(work: Work, outcome: Outcome) -> str:
    """The outcome as the row that `store.end` or `store.requeue` reads."""
    match outcome:
        case Finish(message=None, data=None):
            # The most common answer by far, and nothing in it that could need escaping.
            return f'{{"id":{work.id},"attempt":{work.attempt},"status":"SUCCESS"}}'
        case Finish() | Filter() | Skip():
            return _row(work, outcome, status=TERMINAL[type(outcome)])
        case Fail():
            return _row(work, outcome, status="FAILED", **_error(outcome))
        case HandOver():
            record({"data": outcome.data, "message": outcome.message})
            return ""
        case _:
            return _requeued(work, outcome)


def _requeued(work: Work, outcome: Advance | WaitUntil | WaitFor | Block | Retry | Release) -> str:
    match outcome:
        case Advance(stage=stage):
            return _move(
                work, outcome, what="advanced", stage=stage, steps=1, priority=outcome.priority
            )
        case WaitUntil(until=until):
            delay = until - dt.datetime.now(dt.UTC)
            return _move(work, outcome, what="waits", delay=_seconds(delay), steps=1)
        case WaitFor(item=item, at_most=at_most):
            return _move(
                work, outcome, what="waits for an item",
                delay=_seconds(at_most), steps=1,
                # A `New` has no id yet: `spawn_and_wait` encodes again when it has.
                waits_for=None if isinstance(item, New) else item,
            )  # fmt: skip
        case Block(on=on, recheck=recheck):
            return _move(
                work, outcome, what="blocked", status="BLOCKED",
                delay=max(_seconds(recheck), 1), blocked_on=on,
            )  # fmt: skip
        case Retry(delay=delay):
            return _move(
                work, outcome, what="retry", delay=_seconds(delay),
                retries=1, **_error(outcome),
            )  # fmt: skip
        case Release():
            return _move(work, outcome, what="released")


def _seconds(span: dt.timedelta) -> float:
    return max(0.0, min(span, LONGEST).total_seconds())


def _move(work: Work, outcome: Outcome, **fields: Any) -> str:
    plain: dict[str, Any] = {
        "status": "PENDING",
        "stage": work.stage,
        "delay": 0,
        "retries": 0,
        "steps": 0,
    }
    return _row(work, outcome, **plain | fields)


def _row(work: Work, outcome: Outcome, **fields: Any) -> str:
    return record(
        {
            "id": work.id,
            "attempt": work.attempt,
            "message": outcome.message,
            "data": outcome.data,
            **fields,
        }
    )


def _error(outcome: Retry | Fail) -> dict[str, str | None]:
    return {
        "error_class": outcome.error_class,
        "error_text": outcome.error_text,
        "fingerprint": outcome.fingerprint or None,
    }
