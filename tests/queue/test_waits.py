"""An item that missed the end of the item it waits for is woken later."""

from __future__ import annotations

import asyncio
import datetime as dt

import pytest

from jobmill.db import Database, open_connection
from jobmill.queue import Finish, HandOver, ItemId, Move, Stage, Work, leases, store
from jobmill.queue.processor_pool import ProcessorPool
from jobmill.queue.settlement import prepare_settlement, settle_batch
from jobmill.queue.store import ClaimRequest
from jobmill.queue.worker import LEASE

from .helpers import LeasedProcess, fetch, new, put, running, stages


async def nothing(work: Work) -> Move:
    return Finish()


TABLE = stages({name: Stage(nothing) for name in ("tea/run", "kettle/fill", "kettle/boil")})


@pytest.fixture
async def waiting(database: Database) -> tuple[ItemId, ItemId]:
    """Tea that will wait for the kettle, and the kettle."""
    tea, kettle = await put(database, TABLE, new("tea"), new("kettle/fill", "copper"))
    return tea, kettle


async def lie_down(database: Database, tea: ItemId, awaited: ItemId) -> None:
    """Park an item as a settlement does that read the awaited item before it ended."""
    async with database.transaction() as tx:
        await tx.execute(
            """
            UPDATE queue.live
               SET parked = true, waits_for = %s, available_at = now() + interval '1 hour'
             WHERE id = %s
            """,
            [awaited, tea],
        )


async def end(database: Database, kind: str, stage: str, outcome: Move) -> None:
    async with database.transaction() as tx:
        worker = await leases.register_worker(tx, "here", LEASE)
        [claimed] = await store.claim_items(tx, worker, [ClaimRequest(kind, stage, 1)])
        [answer] = await settle_batch(
            tx, worker, [prepare_settlement(claimed.work, outcome, TABLE)]
        )
        assert answer.moved


async def test_an_item_wakes_if_it_missed_the_end_of_its_awaited_item(
    database: Database, waiting: tuple[ItemId, ItemId]
) -> None:
    tea, kettle = waiting
    await end(database, "kettle", "fill", Finish())
    await lie_down(database, tea, kettle)
    async with database.transaction() as tx:
        assert await store.wake_stranded_waiters(tx) == 1
    assert await fetch(database, "SELECT parked FROM queue.live WHERE id = %s", [tea]) == [False]


async def test_an_item_follows_its_awaited_item_if_it_missed_the_hand_over(
    database: Database, waiting: tuple[ItemId, ItemId]
) -> None:
    tea, kettle = waiting
    await end(database, "kettle", "fill", HandOver("boil"))
    await lie_down(database, tea, kettle)
    async with database.transaction() as tx:
        assert await store.wake_stranded_waiters(tx) == 0
    [heir] = await fetch(database, "SELECT id FROM queue.live WHERE kind = 'kettle'")
    waits = "SELECT parked, waits_for FROM queue.live WHERE id = %s"
    assert await fetch(database, waits, [tea]) == [(True, heir)]


async def test_an_item_keeps_waiting_for_a_live_item(
    database: Database, waiting: tuple[ItemId, ItemId]
) -> None:
    tea, kettle = waiting
    await lie_down(database, tea, kettle)
    async with database.transaction() as tx:
        assert await store.wake_stranded_waiters(tx) == 0


async def test_every_worker_looks_for_stranded_waiters(
    database: Database, waiting: tuple[ItemId, ItemId]
) -> None:
    tea, kettle = waiting
    await end(database, "kettle", "fill", Finish())
    await lie_down(database, tea, kettle)
    async with running(database, TABLE) as worker, asyncio.timeout(20):
        while not worker.runs:
            await asyncio.sleep(0.02)


async def test_a_worker_that_becomes_idle_looks_once_more_before_it_waits(
    database: Database,
) -> None:
    """A producer that commits before the worker's flag is visible sends no notification."""
    table = stages(tea=nothing)
    await put(database, table)
    pools = {("tea", "run"): ProcessorPool("tea", "run", table["tea", "run"])}
    process = LeasedProcess(database.url, table, pools, notified=True)
    async with await open_connection(database.url) as connection:
        process.start_lease(await leases.register_worker(connection, "here", dt.timedelta(hours=1)))
        await process.claimer.claim_or_wait(connection)
        [id] = await put(database, table, new("tea"))
        await process.claimer.claim_or_wait(connection)
        assert await fetch(database, "SELECT idle FROM queue.worker") == [True]
        assert process.claims() == []
        await process.claimer.claim_or_wait(connection)
    assert [claim.id for claim in process.claims()] == [id]
