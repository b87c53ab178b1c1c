"""The settler: connections that break, and leases that are lost before an outcome is settled."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from jobmill.db import Database
from jobmill.queue import Finish, Work, leases, store
from jobmill.queue.settlement import Settlement, prepare_settlement
from jobmill.queue.store import ClaimRequest
from jobmill.queue.worker import LEASE
from tests.faults.proxy import proxied

from .helpers import (
    LeasedProcess,
    happened,
    never,
    new,
    put,
    stages,
    statuses,
    until_statements_wait,
)


async def claim_tea(database: Database, worker: int) -> Work:
    async with database.transaction() as tx:
        [claimed] = await store.claim_items(tx, worker, [ClaimRequest("tea", "run", 1)])
    return claimed.work


async def claimed_and_finished(database: Database) -> tuple[LeasedProcess, Settlement]:
    """A process with a lease, and the outcome of an item that it claimed, not yet handed to its settler."""
    table = stages(tea=never)
    await put(database, table, new("tea"))
    process = LeasedProcess(database.url, table)
    await process.register(database)
    work = await claim_tea(database, process.lease.worker)
    return process, prepare_settlement(work, Finish(), table)


async def until_finished(database: Database) -> None:
    while (await statuses(database))["SUCCESS"] == 0:
        await asyncio.sleep(0.01)


async def test_a_settlement_whose_answer_was_lost_at_the_stop_is_not_a_lost_lease(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    table = stages(tea=never)
    [id] = await put(database, table, new("tea"))
    async with database.transaction() as tx:
        worker = await leases.register_worker(tx, "here", LEASE)
    async with proxied(database.url) as proxy:
        proxy.decide = lambda request: "lose answer" if request.is_commit else "forward"
        process = LeasedProcess(proxy.url, table, answer_limit=0.5)
        process.start_lease(worker)
        process.settler.put(prepare_settlement(await claim_tea(database, worker), Finish(), table))
        settling = asyncio.create_task(process.settler.run())
        async with asyncio.timeout(20):
            await until_finished(database)
            settling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await settling
            proxy.decide = lambda request: "forward"
            await process.settler.finish()
    assert process.claims() == []
    assert "lease lost, nothing written" not in [record.message for record in caplog.records]
    assert await happened(database, id) == ["submitted", "started", "success"]


async def test_losing_the_lease_drops_the_outcomes_that_wait(database: Database) -> None:
    process, outcome = await claimed_and_finished(database)
    process.settler.put(outcome)
    process.lose_lease()
    await process.register(database)
    assert process.claims() == []


async def test_an_outcome_that_arrives_after_its_lease_was_lost_is_dropped(
    database: Database,
) -> None:
    process, outcome = await claimed_and_finished(database)
    process.lose_lease()
    await process.register(database)
    process.settler.put(outcome)
    assert process.claims() == []


async def test_an_outcome_in_flight_when_its_lease_is_lost_is_not_settled_again(
    database: Database,
) -> None:
    process, outcome = await claimed_and_finished(database)
    process.settler.put(outcome)
    async with database.transaction() as rival:
        await rival.execute("LOCK TABLE queue.live")
        settling = asyncio.create_task(process.settler.run())
        await until_statements_wait(database)
        process.lose_lease()
        settling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await settling
    await process.register(database)
    assert process.claims() == []
