"""The pipeline that the fault tests run: every kind of move, each leaving evidence for the checker."""

from __future__ import annotations

import datetime as dt
import zlib

from jobmill.db import Tx
from jobmill.queue import (
    Advance,
    Finish,
    HandOver,
    Move,
    NewItem,
    Stage,
    Stages,
    WaitFor,
    WaitUntil,
    Work,
)
from jobmill.queue.stages import Save

CHILDREN_OF = ["start", "box", "ship"]
"""Stages of an order that spawn a child; `box` is the wait of the stage `pack`."""
MANY_RETRIES = 1_000
"""Each lost lease costs a retry, and the faults take leases again and again."""


def order(key: str) -> NewItem:
    return NewItem("order", "start", key, {"children_of": CHILDREN_OF})


def child(work: Work, kind: str, stage: str) -> NewItem:
    """A child with the attempt and the stage that spawned it in its key."""
    data = {"spawned_by_attempt": work.attempt, "spawned_by_stage": stage, "children_of": []}
    return NewItem(kind, "run", f"{work.key} {stage} by {work.attempt}", data)


def evidence(work: Work, stage: str) -> Save:
    async def save(tx: Tx) -> None:
        await tx.execute(
            "INSERT INTO chaos.saved VALUES (%s, %s, %s)", [work.id, stage, work.attempt]
        )

    return save


async def start(work: Work) -> Move:
    """Save, spawn a line and advance; some orders wait first, some fail once."""
    chance = zlib.crc32(work.key.encode()) % 10
    if chance == 0 and work.steps == 0:
        return WaitUntil(dt.datetime.now(dt.UTC) + dt.timedelta(seconds=0.2))
    if chance == 1 and work.retry_count == 0:
        raise RuntimeError("the first try of this order always fails")
    return Advance("pack", save=evidence(work, "start"), spawn=[child(work, "line", "start")])


async def pack(work: Work) -> Move:
    """Wait for the box, which is a separate item, then hand over."""
    if work.waited_for is None:
        box = child(work, "box", "box")
        return WaitFor(box, at_most=dt.timedelta(minutes=5), save=evidence(work, "box"))
    return HandOver("ship", save=evidence(work, "pack"))


async def ship(work: Work) -> Move:
    return Finish(save=evidence(work, "ship"), spawn=[child(work, "line", "ship")])


async def save_only(work: Work) -> Move:
    return Finish(save=evidence(work, "run"))


async def write(work: Work) -> Move:
    """Without a save: settled in a batch with others, and perhaps together with its next attempt."""
    return Advance("close", data={**work.data, "written_by": work.attempt})


async def close(work: Work) -> Move:
    """Store the attempt that finished the item in its data."""
    data = {**work.data, "finished_by": work.attempt}
    return Finish(data=data, spawn=[child(work, "note", "close")])


PIPELINE: Stages = {
    ("order", "start"): Stage(start, capacity=1_000_000, max_retries=MANY_RETRIES),
    ("order", "pack"): Stage(pack, capacity=1_000_000, max_retries=MANY_RETRIES),
    ("order", "ship"): Stage(ship, capacity=1_000_000, max_retries=MANY_RETRIES),
    ("box", "run"): Stage(save_only, capacity=1_000_000, max_retries=MANY_RETRIES),
    ("line", "run"): Stage(write, capacity=1_000_000, max_retries=MANY_RETRIES),
    ("line", "close"): Stage(close, capacity=1_000_000, max_retries=MANY_RETRIES),
    ("note", "run"): Stage(save_only, capacity=1_000_000, max_retries=MANY_RETRIES),
}
