"""Settlement: applies the outcomes of stages to their items and spawns the children."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.queue.items import AcceptedItem, Claim, ItemId, NewItem, RefusedItem, Status, Work
from jobmill.queue.spawn_rules import ChildItem
from jobmill.queue.stages import (
    MAX_STEPS,
    Advance,
    Block,
    Fail,
    Filter,
    Finish,
    HandOver,
    Outcome,
    Postpone,
    Release,
    Retry,
    Skip,
    Stages,
    WaitFor,
    WaitUntil,
)

from . import spawn_rules, store
from .value_encoding import MAX_DELAY, check_priority, encode_new_item, encode_row

log = logging.getLogger(__name__)

TERMINAL_STATUS: Mapping[type[Outcome], Status] = {
    Finish: "SUCCESS",
    Filter: "FILTERED",
    Skip: "SKIPPED",
    Fail: "FAILED",
}


class Settlement(NamedTuple):
    """An item and its encoded outcome. Encoding it first lets an invalid outcome fail only its own item."""

    work: Work
    outcome: Outcome
    row: str
    seconds: float = 0.0
    """How long the stage ran."""


class SettlementResult(NamedTuple):
    """What a settlement changed."""

    work: Work
    lost: bool = False
    """The worker no longer holds the claim: nothing was written."""
    refused: bool = False
    """The hand-over would have been a cycle: the item failed instead."""
    children: Sequence[AcceptedItem | RefusedItem] = ()
    """One result for each spawned child, and for an item or next stage that was refused."""
    settlement: Settlement | None = None
    """What was settled; None if nothing was written."""

    @property
    def moved(self) -> bool:
        return not self.lost and not self.refused


def prepare_settlement(
    work: Work, outcome: Outcome, stages: Stages, *, seconds: float = 0.0
) -> Settlement:
    """Check and encode an outcome; Invalid if the queue could not store it."""
    if isinstance(outcome, WaitUntil) and outcome.until.tzinfo is None:
        raise Invalid(f"the stage waits until {outcome.until}, which has no time zone")
    for new in _new_items(outcome):
        if (new.kind, new.stage) not in stages:
            raise Invalid(f"the stage spawned {new.kind}/{new.stage}, which is not a known phase")
        encode_new_item(new)
    if isinstance(outcome, Advance | HandOver) and (work.kind, outcome.stage) not in stages:
        raise Invalid(f"{work.kind} has no stage {outcome.stage!r}")
    if isinstance(outcome, Advance) and outcome.priority is not None:
        check_priority(outcome.priority)
    if isinstance(outcome, Advance | WaitUntil | Postpone | WaitFor) and work.steps >= MAX_STEPS:
        raise Invalid(
            f"the item advanced or waited {MAX_STEPS} times without ending: it is in a loop"
        )
    return Settlement(work, outcome, _encode(work, outcome), seconds)


async def settle_batch(tx: Tx, worker: int, batch: Sequence[Settlement]) -> list[SettlementResult]:
    """Apply a batch in few statements; a claim that the worker no longer holds changes and spawns nothing."""
    newest = _newest_attempts(batch)
    if len(newest) < len(batch):
        log.info("several attempts of one item in a batch")
    settlements = list(newest.values())
    handed_over, refused = await _hand_over(tx, worker, settlements)
    ends = [
        settlement.row for settlement in settlements if type(settlement.outcome) in TERMINAL_STATUS
    ]
    ends += [_encode(work, _refused_hand_over(answer)) for work, answer in refused]
    moves = [
        settlement.row
        for settlement in settlements
        if settlement.row and type(settlement.outcome) not in TERMINAL_STATUS
    ]
    settled = set(handed_over)
    if ends:
        settled.update(await store.end_items(tx, worker, ends))
    if moves:
        settled.update(await store.requeue_items(tx, worker, moves))
    failed = {work.claim for work, _ in refused}
    moved = settled - failed
    children = await _spawn(
        tx, [settlement for settlement in settlements if settlement.work.claim in moved]
    )
    children |= {work.claim: [answer] for work, answer in refused}

    def answer(settlement: Settlement) -> SettlementResult:
        claim = settlement.work.claim
        if claim not in settled or newest[claim.id] is not settlement:
            return SettlementResult(settlement.work, lost=True)
        return SettlementResult(
            settlement.work, False, claim in failed, children.get(claim, ()), settlement
        )

    return [answer(settlement) for settlement in batch]


def _newest_attempts(batch: Sequence[Settlement]) -> dict[ItemId, Settlement]:
    """One settlement per item: a process that lost its lease may hold several attempts of one item."""
    newest: dict[ItemId, Settlement] = {}
    for settlement in batch:
        other = newest.setdefault(settlement.work.id, settlement)
        if settlement.work.attempt > other.work.attempt:
            newest[settlement.work.id] = settlement
    return newest


async def spawn_awaited_item(
    tx: Tx, settlement: Settlement, move: WaitFor
) -> tuple[Settlement, AcceptedItem | RefusedItem] | None:
    """Spawn the awaited item or find the live one; None if the worker no longer holds the claim."""
    work = settlement.work
    if not await store.lock_claim(tx, work):
        return None
    assert isinstance(move.item, NewItem)
    [answer] = await spawn_rules.spawn_children(tx, [ChildItem(work.id, move.item)])
    # For other reasons the live item may be an ancestor that waits for this item: a deadlock.
    does_the_work = isinstance(answer, RefusedItem) and answer.reason in (
        "duplicate",
        "live elsewhere",
    )
    awaited = (
        answer.id if isinstance(answer, AcceptedItem) else answer.live if does_the_work else None
    )
    if awaited is None:
        # The spawn was refused for good (depth, circular, finished): run again at once.
        wait = replace(move, item=work.id, at_most=dt.timedelta())
    else:
        wait = replace(move, item=awaited)
    return settlement._replace(outcome=wait, row=_encode(work, wait)), answer


def needs_own_transaction(outcome: Outcome) -> bool:
    return outcome.save is not None or (
        isinstance(outcome, WaitFor) and isinstance(outcome.item, NewItem)
    )


def _new_items(outcome: Outcome) -> Sequence[NewItem]:
    if isinstance(outcome, WaitFor) and isinstance(outcome.item, NewItem):
        return [*outcome.spawn, outcome.item]
    return outcome.spawn


async def _hand_over(
    tx: Tx, worker: int, batch: Sequence[Settlement]
) -> tuple[list[Claim], list[tuple[Work, RefusedItem]]]:
    """The claims that were handed over, and the refused hand-overs."""
    moves = [
        (settlement.work, settlement.outcome)
        for settlement in batch
        if isinstance(settlement.outcome, HandOver)
    ]
    if not moves:
        return [], []
    answers = await spawn_rules.hand_over_items(tx, worker, moves)
    refused = [
        (work, answer)
        for work, _ in moves
        if isinstance(answer := answers.get(work.claim), RefusedItem)
    ]
    return [claim for claim, answer in answers.items() if isinstance(answer, AcceptedItem)], refused


def _refused_hand_over(answer: RefusedItem) -> Fail:
    return Fail(f"Could not hand over: {answer.message}", "permanent", answer.message, "")


async def _spawn(
    tx: Tx, settlements: Sequence[Settlement]
) -> dict[Claim, list[AcceptedItem | RefusedItem]]:
    claims: list[Claim] = []
    children: list[ChildItem] = []
    for settlement in settlements:
        for new in settlement.outcome.spawn:
            claims.append(settlement.work.claim)
            children.append(ChildItem(settlement.work.id, new))
    answers: dict[Claim, list[AcceptedItem | RefusedItem]] = {}
    if children:
        for claim, answer in zip(
            claims, await spawn_rules.spawn_children(tx, children), strict=True
        ):
            answers.setdefault(claim, []).append(answer)
    return answers


def _encode(work: Work, outcome: Outcome) -> str:
    """The outcome as the row that `store.end` or `store.requeue` reads."""
    match outcome:
        case Finish(message=None, data=None):
            # By far the most common outcome; nothing in it needs escaping.
            return f'{{"id":{work.id},"attempt":{work.attempt},"status":"SUCCESS"}}'
        case Finish() | Filter() | Skip():
            return _row(work, outcome, status=TERMINAL_STATUS[type(outcome)])
        case Fail():
            return _row(work, outcome, status="FAILED", **_error(outcome))
        case HandOver():
            encode_row({"data": outcome.data, "message": outcome.message})
            return ""
        case _:
            return _requeued(work, outcome)


def _requeued(
    work: Work, outcome: Advance | WaitUntil | Postpone | WaitFor | Block | Retry | Release
) -> str:
    match outcome:
        case Advance(stage=stage):
            return _move(
                work, outcome, what="advanced", stage=stage, steps=1, priority=outcome.priority
            )
        case WaitUntil(until=until):
            return _move(work, outcome, what="waits", until=until.isoformat(), steps=1)
        case Postpone(delay=delay):
            return _move(work, outcome, what="waits", delay=_seconds(delay), steps=1)
        case WaitFor(item=item, at_most=at_most):
            return _move(
                work, outcome, what="waits for an item",
                delay=_seconds(at_most), steps=1,
                # A `NewItem` has no id yet: `spawn_awaited_item` encodes the outcome again.
                waits_for=None if isinstance(item, NewItem) else item,
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
    return max(0.0, min(span, MAX_DELAY).total_seconds())


def _move(work: Work, outcome: Outcome, **fields: Any) -> str:
    defaults: dict[str, Any] = {
        "status": "PENDING",
        "stage": work.stage,
        "delay": 0,
        "retries": 0,
        "steps": 0,
    }
    return _row(work, outcome, **defaults | fields)


def _row(work: Work, outcome: Outcome, **fields: Any) -> str:
    return encode_row(
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
