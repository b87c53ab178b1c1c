"""The pump and a database whose answers do not arrive."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt

import pytest

from jobmill.db import Database, open_connection
from jobmill.queue import Finish, Move, Stage, Stages, Work, leases, store
from jobmill.queue.processor_pool import ProcessorPool
from jobmill.queue.pump import Pump
from jobmill.queue.settlement import prepare_settlement
from jobmill.queue.stages import StartRate
from jobmill.queue.store import ClaimRequest
from jobmill.queue.worker import LEASE
from tests.faults.proxy import proxied

from .helpers import fetch, happened, new, put, stages, statuses


async def claimed(database: Database, worker: int) -> Work:
    async with database.transaction() as tx:
        [claimed] = await store.claim_items(tx, worker, [ClaimRequest("tea", "run", 1)])
    return claimed.work


async def until_finished(database: Database) -> None:
    while (await statuses(database))["SUCCESS"] == 0:
        await asyncio.sleep(0.01)


async def never(work: Work) -> Move:
    raise AssertionError


async def test_a_settlement_whose_answer_was_lost_at_the_stop_is_no_lost_lease(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    table = stages(tea=never)
    [id] = await put(database, table, new("tea"))
    async with database.transaction() as tx:
        worker = await leases.register_worker(tx, "here", LEASE)
    async with proxied(database.url) as proxy:
        proxy.decide = lambda request: "lose answer" if request.is_commit else "forward"
        pump = Pump(proxy.url, table, {}, notified=False, answer_limit=0.5)
        pump.enlist(worker)
        pump.put(prepare_settlement(await claimed(database, worker), Finish(), table))
        settling = asyncio.create_task(pump.settle())
        async with asyncio.timeout(20):
            await until_finished(database)
            settling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await settling
            proxy.decide = lambda request: "forward"
            await pump.leave()
    assert pump.held() == []
    assert "lease lost, nothing written" not in [record.message for record in caplog.records]
    assert await happened(database, id) == ["submitted", "started", "success"]


async def pump_with_lease(database: Database, table: Stages) -> Pump:
    pools = {phase: ProcessorPool(*phase, stage) for phase, stage in table.items()}
    pump = Pump(database.url, table, pools, notified=False, answer_limit=10)
    await renew_lease(database, pump)
    return pump


async def renew_lease(database: Database, pump: Pump) -> None:
    async with database.transaction() as tx:
        pump.enlist(await leases.register_worker(tx, "here", LEASE))


async def until_statements_wait(database: Database, count: int = 1) -> None:
    waiting = """
        SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'
        """
    async with asyncio.timeout(20):
        while await fetch(database, waiting) != [count]:
            await asyncio.sleep(0.01)


async def test_an_outcome_that_waits_is_dropped_with_its_lease(database: Database) -> None:
    table = stages(tea=never)
    await put(database, table, new("tea"))
    pump = await pump_with_lease(database, table)
    pump.put(prepare_settlement(await claimed(database, pump.worker), Finish(), table))
    pump.abandon()
    await renew_lease(database, pump)
    assert pump.held() == []


async def test_an_outcome_that_comes_after_its_lease_is_dropped(database: Database) -> None:
    table = stages(tea=never)
    await put(database, table, new("tea"))
    pump = await pump_with_lease(database, table)
    work = await claimed(database, pump.worker)
    pump.abandon()
    await renew_lease(database, pump)
    pump.put(prepare_settlement(work, Finish(), table))
    assert pump.held() == []


async def test_an_outcome_under_way_when_its_lease_is_lost_is_not_settled_again(
    database: Database,
) -> None:
    table = stages(tea=never)
    await put(database, table, new("tea"))
    pump = await pump_with_lease(database, table)
    pump.put(prepare_settlement(await claimed(database, pump.worker), Finish(), table))
    async with database.transaction() as rival:
        await rival.execute("LOCK TABLE queue.live")
        settling = asyncio.create_task(pump.settle())
        await until_statements_wait(database)
        pump.abandon()
        settling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await settling
    await renew_lease(database, pump)
    assert pump.held() == []


async def test_a_claim_under_way_when_the_lease_is_lost_is_not_run(database: Database) -> None:
    table = stages(tea=never)
    await put(database, table, new("tea"))
    pump = await pump_with_lease(database, table)
    async with await open_connection(database.url) as connection:
        async with database.transaction() as rival:
            # A claim reads the pauses; nothing else that the pump does needs them.
            await rival.execute("LOCK TABLE queue.pause")
            claiming = asyncio.create_task(pump.claim_or_sleep(connection))
            await until_statements_wait(database)
            pump.abandon()
            await renew_lease(database, pump)
        await claiming
    assert pump.held() == []


async def test_two_claims_at_once_share_a_start_rate(database: Database) -> None:
    """The second one counts what the first one starts, which it cannot see before that commits."""
    rate = StartRate(3, dt.timedelta(minutes=5))
    table = stages({"tea": Stage(never, rate=rate)})
    await put(database, table, *(new("tea", str(n)) for n in range(10)))
    pumps = [await pump_with_lease(database, table) for _ in range(2)]
    async with contextlib.AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(await open_connection(database.url)) for _ in pumps
        ]
        async with database.transaction() as rival:
            # A claim reads the pauses after it has asked for its share of the rate.
            await rival.execute("LOCK TABLE queue.pause")
            claims = [
                asyncio.create_task(pump.claim_or_sleep(connection))
                for pump, connection in zip(pumps, connections, strict=True)
            ]
            await until_statements_wait(database, len(pumps))
        await asyncio.gather(*claims)
    assert sorted(len(pump.held()) for pump in pumps) == [0, 3]
