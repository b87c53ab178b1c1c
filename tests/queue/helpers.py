"""Helpers of the queue tests: stages from plain functions, items with defaults, reads of the tables."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, LiteralString

from jobmill import queue
from jobmill.db import Database, Tx
from jobmill.queue import ItemId, NewItem, Stage, Stages, Work, Worker, inspect, leases, store
from jobmill.queue.claimer import Claimer
from jobmill.queue.held_lease import HeldLease
from jobmill.queue.items import Claim
from jobmill.queue.processor_pool import ProcessorPool
from jobmill.queue.settler import Settler
from jobmill.queue.stages import Move, Run
from jobmill.queue.store import ClaimRequest
from jobmill.queue.worker import LEASE

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
    """Declare the stages and submit roots, which must all be accepted."""
    async with database.transaction() as tx:
        await queue.declare_stages(tx, table)
        return [await queue.submit(tx, new) for new in news]


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
    """All rows; plain values if there is only one column."""
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
    """The events of an item, in order."""
    return await fetch(
        database, "SELECT type FROM queue.event WHERE item_id = %s ORDER BY id", [id]
    )


async def make_due(database: Database) -> None:
    """Make all parked items due."""
    async with database.transaction() as tx:
        await tx.execute(
            "UPDATE queue.live SET available_at = now() WHERE parked AND available_at > now()"
        )


async def claim(database: Database, kind: str, stage: str) -> Work:
    """Claim the next item of a phase with a new worker."""
    async with database.transaction() as tx:
        worker = await leases.register_worker(tx, "a worker", SOON)
        [claimed] = await store.claim_items(tx, worker, [ClaimRequest(kind, stage, 1)])
    return claimed.work


async def lose_leases(database: Database) -> None:
    """Let the leases of all workers lapse, and rescue their items."""
    async with database.transaction() as tx:
        await tx.execute("UPDATE queue.worker SET heartbeat_at = now() - interval '1 hour'")
        await leases.rescue_abandoned_items(tx)


class LeasedProcess:
    """The claimer and the settler of one process and the lease they share, without a worker's loops."""

    def __init__(
        self,
        url: str,
        table: Stages,
        pools: Mapping[tuple[str, str], ProcessorPool] | None = None,
        *,
        notified: bool = False,
        answer_limit: float = 10.0,
    ) -> None:
        self.lease = HeldLease(LEASE)
        self.settler = Settler(url, table, self.lease, answer_limit=answer_limit)
        self.claimer = Claimer(
            url,
            pools or {},
            self.settler,
            self.lease,
            notified=notified,
            answer_limit=answer_limit,
        )

    def start_lease(self, worker: int) -> None:
        self.lease.start(worker, time.monotonic())
        self.claimer.resume()

    def lose_lease(self) -> None:
        self.lease.end()
        self.settler.drop_all()

    async def register(self, database: Database) -> None:
        async with database.transaction() as tx:
            self.start_lease(await leases.register_worker(tx, "here", LEASE))

    def claims(self) -> list[Claim]:
        return self.claimer.claims()


async def never(work: Work) -> Move:
    """A stage that no test runs."""
    raise AssertionError


async def until_statements_wait(database: Database, count: int = 1) -> None:
    """Return when this many statements wait for locks."""
    waiting = """
        SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'
        """
    async with asyncio.timeout(20):
        while await fetch(database, waiting) != [count]:
            await asyncio.sleep(0.01)


async def claim_twice(database: Database, kind: str, stage: str) -> tuple[Work, Work]:
    """Claim the next item of a phase twice; the first worker loses its lease before the second claims it."""
    stale = await claim(database, kind, stage)
    await lose_leases(database)
    return stale, await claim(database, kind, stage)
