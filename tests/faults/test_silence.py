"""Connections that die silently: every wait of a worker ends, and work continues."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import psycopg
import pytest

from jobmill import db
from jobmill.db import Database, Tx, connect, open_connection
from jobmill.queue import Finish, Move, Stage, Stages, Work, Worker, leases, store
from jobmill.queue.group_commit import GroupCommitter
from jobmill.queue.held_lease import HeldLease
from jobmill.queue.settlement import prepare_settlement
from tests.queue.helpers import fetch, item, new, put, stages, statuses

from .pipeline import MANY_RETRIES
from .proxy import Action, FaultProxy, Link, Request

LEASE = dt.timedelta(seconds=3)


async def save_a_row(work: Work) -> Move:
    async def save(tx: Tx) -> None:
        await tx.execute("INSERT INTO public.saved VALUES (%s)", [work.id])

    return Finish(save=save)


async def finish(work: Work) -> Move:
    return Finish()


TABLE: Stages = stages(
    {
        "tea": Stage(finish, max_retries=MANY_RETRIES),
        "cake": Stage(save_a_row, max_retries=MANY_RETRIES),
    }
)


@pytest.fixture(autouse=True)
async def saved(database: Database) -> None:
    async with database.transaction() as tx:
        await tx.execute("CREATE TABLE public.saved (item bigint)")


@asynccontextmanager
async def working(url: str, table: Stages = TABLE) -> AsyncIterator[Worker]:
    """A worker with all connections through `url`."""
    async with connect(url) as database:
        worker = Worker(database, table, lease=LEASE, grace=dt.timedelta(seconds=1))
        running = asyncio.create_task(worker.run())
        try:
            yield worker
        finally:
            worker.stop()
            await running


async def until(database: Database, succeeded: int) -> None:
    async with asyncio.timeout(60):
        while (await statuses(database))["SUCCESS"] < succeeded:
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    "fault", [Link.black_hole, Link.half_open, Link.lose_requests, Link.lose_answers, Link.cut]
)
async def test_a_worker_continues_after_all_its_connections_died(
    database: Database, proxy: FaultProxy, fault: Callable[[Link], None]
) -> None:
    async with working(proxy.url):
        await put(database, TABLE, *(new("tea", f"before {n}") for n in range(5)))
        await until(database, 5)
        proxy.each(fault)
        await put(database, TABLE, *(new("tea", f"after {n}") for n in range(5)))
        await put(database, TABLE, *(new("cake", f"after {n}") for n in range(5)))
        await until(database, 15)
    assert await fetch(database, "SELECT count(*), count(DISTINCT item) FROM public.saved") == [
        (5, 5)
    ]


@pytest.mark.parametrize("action", ["lose answer", "cut before", "cut after"])
async def test_a_worker_whose_commits_get_no_answer_loses_its_lease(
    database: Database, proxy: FaultProxy, action: Action
) -> None:
    """Everything except COMMIT gets through, so heartbeats without a transaction would keep the items."""

    def spoil_commits(request: Request) -> Action:
        return action if request.is_commit else "forward"

    async with working(proxy.url):
        await put(database, TABLE, new("tea", "first"))
        await until(database, 1)
        proxy.decide = spoil_commits
        ids = await put(database, TABLE, *(new("cake", str(n)) for n in range(10)))
        async with working(database.url):
            # Either the commit of the cut-off worker arrived, or the healthy one took over.
            await until(database, 11)
    saved = await fetch(database, "SELECT count(*), count(DISTINCT item) FROM public.saved")
    assert saved == [(10, 10)]
    # The lost lease costs a retry, the failed commits do not.
    assert {(await item(database, id)).retry_count for id in ids} <= {0, 1}


async def test_a_worker_whose_settlements_get_no_answer_loses_its_lease(
    database: Database, proxy: FaultProxy
) -> None:
    """Its heartbeats get through, so only the worker itself can notice that it cannot settle."""

    def spoil_settlements(request: Request) -> Action:
        return "cut before" if "SELECT id, attempt FROM settled" in request.sql else "forward"

    proxy.decide = spoil_settlements
    await put(database, TABLE, new("tea"))
    rescues = "SELECT count(*) FROM queue.event WHERE type = 'rescued'"
    async with working(proxy.url), asyncio.timeout(LEASE.total_seconds() * 8):
        while await fetch(database, rescues) == [0]:
            await asyncio.sleep(0.05)


async def test_a_worker_without_heartbeats_cancels_its_runs(
    database: Database, proxy: FaultProxy
) -> None:
    effects: list[str] = []
    stopped = asyncio.Event()

    async def mail_all_day(work: Work) -> Move:
        try:
            while True:
                effects.append(work.key)
                await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            stopped.set()
            raise

    table = stages(tea=mail_all_day)
    await put(database, table, new("tea"))
    async with working(proxy.url, table):
        async with asyncio.timeout(20):
            while not effects:
                await asyncio.sleep(0.02)
        proxy.refusing = True
        proxy.each(Link.black_hole)
        async with asyncio.timeout(LEASE.total_seconds() * 3):
            await stopped.wait()
        assert (await statuses(database))["PROCESSING"] == 1, "no other worker has taken over yet"
        proxy.refusing = False


async def test_losing_the_lease_ends_a_waiting_save(database: Database, proxy: FaultProxy) -> None:
    """Without its lease a save can only be refused, so it need not wait for the database."""
    await put(database, TABLE, new("cake"))
    lease = HeldLease(LEASE)
    async with database.transaction() as tx:
        lease.start(await leases.register_worker(tx, "here", LEASE), time.monotonic())
        request = store.ClaimRequest("cake", "run", 1)
        [claimed] = await store.claim_items(tx, lease.worker, [request])
    move = await save_a_row(claimed.work)
    proxy.decide = lambda request: "cut before" if request.is_commit else "forward"
    async with connect(proxy.url) as cut:
        committer = GroupCommitter(cut, lease)
        running = asyncio.create_task(committer.run())
        saving = asyncio.create_task(
            committer.save(prepare_settlement(claimed.work, move, TABLE), move)
        )
        await asyncio.sleep(0.5)
        assert not saving.done()
        lease.end()
        try:
            async with asyncio.timeout(10):
                await saving
        finally:
            running.cancel()
    assert await fetch(database, "SELECT count(*) FROM public.saved") == [0]


async def test_a_wait_for_an_answer_times_out(database: Database, proxy: FaultProxy) -> None:
    async with await open_connection(proxy.url, answer_limit=0.5) as connection:
        proxy.each(Link.black_hole)
        async with asyncio.timeout(20):
            with pytest.raises(psycopg.OperationalError):
                await connection.execute("SELECT 1")


async def test_a_pool_returns_no_dead_connection(
    database: Database, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "CHECK_LIMIT", 1.0)
    async with connect(proxy.url, size=1) as pool:
        assert await fetch(pool, "SELECT 1") == [1]
        proxy.each(Link.black_hole)
        async with asyncio.timeout(20):
            assert await fetch(pool, "SELECT 2") == [2]


async def test_stages_inside_a_query_do_not_block_their_worker(
    database: Database, proxy: FaultProxy
) -> None:
    """All connections of the stages' pool are in use when they go silent."""
    limit = LEASE.total_seconds() * 3 / 4
    querying = asyncio.Event()

    async with connect(proxy.url, size=4, answer_limit=limit) as pool:

        async def query(work: Work) -> Move:
            async with pool.transaction() as tx:
                if work.key.startswith("slow") and work.attempt == 1:
                    querying.set()
                    await tx.execute("SELECT pg_sleep(1)")
            return Finish()

        table = stages({"tea": Stage(query, processors=4)})
        await put(database, table, *(new("tea", f"slow {n}") for n in range(4)))
        worker = Worker(pool, table, lease=LEASE, grace=dt.timedelta(seconds=1))
        running = asyncio.create_task(worker.run())
        async with asyncio.timeout(20):
            await querying.wait()
        proxy.each(Link.black_hole)
        await put(database, table, *(new("tea", f"quick {n}") for n in range(4)))
        await until(database, 8)
        worker.stop()
        await running


async def test_a_connection_is_closed_although_its_rollback_was_cancelled(
    database: Database, proxy: FaultProxy
) -> None:
    connection = await open_connection(proxy.url, answer_limit=5)

    async def ask() -> None:
        async with connection:
            await connection.execute("BEGIN")
            proxy.each(Link.black_hole)
            await connection.execute("SELECT 1")

    asking = asyncio.create_task(ask())
    while not asking.done():
        # As a stopping worker does, until its tasks are gone.
        await asyncio.sleep(0.2)
        asking.cancel()
    assert connection.closed
