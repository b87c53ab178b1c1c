"""The queue, cut before and after every statement.

The operation is then done again on a new connection, as the product does, and the checker looks at what
is left: nothing lost, nothing twice, whichever statement was the last one to reach the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from collections.abc import Iterable
from typing import LiteralString

import pytest

from jobmill import queue
from jobmill.db import Database
from jobmill.queue import Move, NotAdmitted, Work, leases, schedule, store
from jobmill.queue.group_commit import settle_and_save
from jobmill.queue.settlement import Settlement, prepare_settlement
from jobmill.queue.store import ClaimRequest
from tests.queue.helpers import drain, fetch, make_due

from .checker import violations
from .history import Operation
from .pipeline import PIPELINE, order
from .sweep import Sweep, do

LEASE = dt.timedelta(hours=1)
HELD: LiteralString = "SELECT count(*) FROM queue.live WHERE status = 'PROCESSING'"


async def run_due(database: Database, worker: int, phases: Iterable[tuple[str, str]]) -> None:
    """Run what is due, without the many connections that a worker opens for each drain."""
    await do(database, store.unpark_due_items)
    requests = [ClaimRequest(*phase, 100) for phase in phases]
    while claims := await do(database, store.claim_items, worker, requests):
        batch: list[tuple[Settlement, Move]] = []
        for work in (claim.work for claim in claims):
            move = await PIPELINE[work.kind, work.stage].run(work)
            batch.append((prepare_settlement(work, move, PIPELINE), move))
        await do(database, settle_and_save, worker, batch)


async def finish(database: Database) -> None:
    """Run everything to its end, through all waits."""
    worker = await do(database, leases.register_worker, "here", LEASE)
    async with asyncio.timeout(60):
        while await is_live(database):
            await run_due(database, worker, PIPELINE)
            await make_due(database)


async def is_live(database: Database) -> bool:
    return await fetch(database, "SELECT EXISTS (SELECT FROM queue.live)") == [True]


async def check(database: Database, keys: list[str]) -> None:
    async with asyncio.timeout(60):
        while await is_live(database):
            await drain(database, PIPELINE)
            await make_due(database)
    assert violations(database.url, [Operation("client", key, "ok") for key in keys]) == []


async def submitted(database: Database, position: int) -> str:
    """The key of an order that neither waits nor fails before its first move."""
    key = f"order {position}a"
    await do(database, queue.submit, order(key))
    return key


async def test_a_submission_is_stored_once_wherever_it_is_cut(
    database: Database, sweep: Sweep
) -> None:
    keys: list[str] = []
    for position in sweep.positions():
        keys.append(f"order {position}")
        if not await sweep.attempt(position, queue.submit, order(keys[-1])):
            # Refused if the first submission was committed.
            with contextlib.suppress(NotAdmitted):
                await do(database, queue.submit, order(keys[-1]))
    await check(database, keys)


async def test_a_claim_loses_no_item_wherever_it_is_cut(database: Database, sweep: Sweep) -> None:
    keys: list[str] = []
    wants = [ClaimRequest("order", "start", 1)]
    for position in sweep.positions():
        keys.append(await submitted(database, position))
        worker = await do(database, leases.register_worker, "here", LEASE)
        if not await sweep.attempt(position, store.claim_items, worker, wants):
            # The worker reconnects and releases claims that it does not know.
            await do(database, leases.release_unknown_claims, worker)
            assert await fetch(database, HELD) == [0]
            assert len(await do(database, store.claim_items, worker, wants)) == 1
        await do(database, leases.release_unknown_claims, worker)
        await finish(database)
    await check(database, keys)


async def run_at(
    database: Database, worker: int, kind: str, stage: str
) -> list[tuple[Settlement, Move]]:
    """The outcome of an item at this stage, ready to be settled."""
    work = await claim_at(database, worker, kind, stage)
    move = await PIPELINE[kind, stage].run(work)
    return [(prepare_settlement(work, move, PIPELINE), move)]


async def claim_at(database: Database, worker: int, kind: str, stage: str) -> Work:
    """Run the pipeline until an item reaches this stage, and claim it."""
    others = [phase for phase in PIPELINE if phase != (kind, stage)]
    async with asyncio.timeout(60):
        while True:
            claims = await do(database, store.claim_items, worker, [ClaimRequest(kind, stage, 1)])
            if claims:
                return claims[0].work
            await run_due(database, worker, others)
            await make_due(database)


@pytest.mark.parametrize(
    ("kind", "stage", "moves"),
    [
        ("order", "start", 1),
        ("order", "pack", 1),
        ("order", "pack", 2),
        ("order", "ship", 1),
        ("line", "run", 1),
        ("line", "close", 1),
    ],
    ids=["advance", "wait for", "hand over", "end", "advance without save", "end without save"],
)
async def test_a_settlement_happens_once_wherever_it_is_cut(
    database: Database, sweep: Sweep, kind: str, stage: str, moves: int
) -> None:
    """Each move with its save and its spawns; `moves` counts how often the stage has to run."""
    keys: list[str] = []
    worker = await do(database, leases.register_worker, "here", LEASE)
    for position in sweep.positions():
        keys.append(await submitted(database, position))
        for _ in range(moves - 1):
            await do(database, settle_and_save, worker, await run_at(database, worker, kind, stage))
        batch = await run_at(database, worker, kind, stage)
        if not await sweep.attempt(position, settle_and_save, worker, batch):
            await do(database, settle_and_save, worker, batch)
        await finish(database)
    await check(database, keys)


async def test_a_rescue_happens_once_wherever_it_is_cut(database: Database, sweep: Sweep) -> None:
    keys: list[str] = []
    for position in sweep.positions():
        keys.append(await submitted(database, position))
        dead = await do(database, leases.register_worker, "dead", LEASE)
        await do(database, store.claim_items, dead, [ClaimRequest("order", "start", 1)])
        async with database.transaction() as tx:
            await tx.execute("UPDATE queue.worker SET heartbeat_at = heartbeat_at - 2 * lease")
        if not await sweep.attempt(position, leases.rescue_abandoned_items):
            await do(database, leases.rescue_abandoned_items)
        assert await fetch(database, HELD) == [0]
        rescues = "SELECT count(*) FROM queue.event WHERE type = 'rescued'"
        assert await fetch(database, rescues) == [position + 1]
        await finish(database)
    await check(database, keys)


async def test_a_schedule_submits_one_item_wherever_it_is_cut(
    database: Database, sweep: Sweep
) -> None:
    planned = schedule.Schedule("daily", dt.timedelta(hours=1), order("planned"))
    tick = schedule.schedule_task([planned])
    await do(database, schedule.declare_schedules, [planned])
    for position in sweep.positions():
        async with database.transaction() as tx:
            await tx.execute("UPDATE queue.schedule SET next_at = now() - interval '1 second'")
        if not await sweep.attempt(position, tick):
            await do(database, tick)
        roots = "SELECT count(*) FROM queue.item WHERE parent_id IS NULL"
        assert await fetch(database, roots) == [position + 1], "one item a tick"
        assert await fetch(database, "SELECT next_at > now() FROM queue.schedule") == [True]
        await finish(database)
