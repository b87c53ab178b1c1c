"""The pump and a database whose answers do not arrive."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from jobmill.db import Database
from jobmill.queue import Finish, Move, Work, crew, store
from jobmill.queue.pump import Pump
from jobmill.queue.settle import prepare
from jobmill.queue.store import Want
from jobmill.queue.worker import LEASE
from tests.faults.proxy import proxied

from .kit import happened, new, put, stages, statuses


async def claimed(database: Database, worker: int) -> Work:
    async with database.transaction() as tx:
        [claimed] = await store.claim(tx, worker, [Want("tea", "run", 1)])
    return claimed.work


async def until_finished(database: Database) -> None:
    while (await statuses(database))["SUCCESS"] == 0:
        await asyncio.sleep(0.01)


async def test_a_settlement_whose_answer_was_lost_at_the_stop_is_no_lost_lease(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async def never(work: Work) -> Move:
        raise AssertionError

    table = stages(tea=never)
    [id] = await put(database, table, new("tea"))
    async with database.transaction() as tx:
        worker = await crew.join(tx, "here", LEASE)
    async with proxied(database.url) as proxy:
        proxy.decide = lambda request: "lose answer" if request.is_commit else "forward"
        pump = Pump(proxy.url, table, {}, notified=False, answer_limit=0.5)
        pump.enlist(worker)
        pump.put(prepare(await claimed(database, worker), Finish(), table))
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
