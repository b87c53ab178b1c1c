"""What queue tests share: stages from plain functions, items with defaults, a look at the tables."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, LiteralString

from jobmill import queue
from jobmill.db import Database, Tx
from jobmill.queue import ItemId, NewItem, Stage, Stages, Work, Worker, inspect, leases, store
from jobmill.queue.stages import Run
from jobmill.queue.store import ClaimRequest

SOON = dt.timedelta(seconds=3)
"""A lease short enough for tests in which workers die."""


def phase(name: str) -> tuple[str, str]:
    kind, _, stage = name.partition("/")
    return kind, stage or "run"


def stages(more: dict[str, Stage] | None = None, /, **runs: Run) -> Stages:
    """`stages(tea=run)` is the phase tea/run; `stages({"tea/boil": Stage(…)})` names the stage."""
    table = {phase(kind): Stage(run) for kind, run in runs.items()}
    return table | {phase(name): stage for name, stage in (more or {}).items()}


def new(name: str, key: str = "earl-grey", **more: Any) -> NewItem:
    return NewItem(*phase(name), key, **more)


async def put(database: Database, table: Stages, *news: NewItem) -> list[ItemId]:
    """Declare the stages and submit roots; each must be let in."""
    async with database.transaction() as tx:
        await queue.declare_stages(tx, table)
        return [await queue.submit(tx, one) for one in news]


async def drain(database: Database, table: Stages, **options: Any) -> int:
    return await Worker(database, table, **options).drain()


@asynccontextmanager
async def running(database: Database, table: Stages, **options: Any) -> AsyncIterator[Worker]:
    worker = Worker(database, table, **{"lease": SOON, **options})
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await task


async def fetch(source: Database | Tx, sql: LiteralString, params: Sequence[Any] = ()) -> list[Any]:
    """All rows; the values themselves where there is one column."""
    if isinstance(source, Database):
        async with source.transaction() as tx:
            return await fetch(tx, sql, params)
    rows = await (await source.execute(sql, params)).fetchall()
    return [row[0] if len(row) == 1 else row for row in rows]


async def statuses(database: Database) -> Counter[str]:
    return Counter(await fetch(database, "SELECT status FROM queue.items"))


async def item(database: Database, id: ItemId) -> inspect.Item:
    async with database.transaction() as tx:
        return await inspect.get_item(tx, id)


async def happened(database: Database, id: ItemId) -> list[str]:
    """What the timeline of an item says, in order."""
    return await fetch(
        database, "SELECT what FROM queue.event WHERE item_id = %s ORDER BY id", [id]
    )


async def make_due(database: Database) -> None:
    """Let the time pass that parked items wait for."""
    async with database.transaction() as tx:
        await tx.execute("UPDATE queue.live SET available_at = now() WHERE parked")


async def claim(database: Database, kind: str, stage: str) -> Work:
    """The next item of a phase, as a new worker claims it."""
    async with database.transaction() as tx:
        worker = await leases.register_worker(tx, "a worker", SOON)
        [claimed] = await store.claim_items(tx, worker, [ClaimRequest(kind, stage, 1)])
    return claimed.work


async def lose_leases(database: Database) -> None:
    """Let every worker be silent for so long that others take over what it holds."""
    async with database.transaction() as tx:
        await tx.execute("UPDATE queue.worker SET beat_at = now() - interval '1 hour'")
        await leases.rescue_abandoned_items(tx)


async def claim_twice(database: Database, kind: str, stage: str) -> tuple[Work, Work]:
    """Two attempts of the next item of a phase: the first worker lost its lease to the second."""
    stale = await claim(database, kind, stage)
    await lose_leases(database)
    return stale, await claim(database, kind, stage)
