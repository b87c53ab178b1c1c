"""A standby takes over from a primary that was killed, or that hangs without closing a connection."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jobmill import queue
from jobmill.db import connect
from jobmill.db.migrate import migrate
from jobmill.queue import Worker
from tests.queue.helpers import fetch

from .checker import EVIDENCE, violations
from .history import Operation
from .pipeline import PIPELINE, order
from .replicas import PostgresServer, Replicas, replicas

LEASE = dt.timedelta(seconds=4)


@pytest.fixture
def pair(home: Path) -> Iterator[Replicas]:
    with replicas(home / "pair") as pair:
        yield pair


@asynccontextmanager
async def working(url: str) -> AsyncIterator[None]:
    async with connect(url) as database:
        worker = Worker(database, PIPELINE, lease=LEASE, grace=dt.timedelta(seconds=1))
        running = asyncio.create_task(worker.run())
        try:
            yield
        finally:
            worker.stop()
            await running


async def submit(url: str, keys: list[str]) -> None:
    async with connect(url) as database, database.transaction() as tx:
        for key in keys:
            await queue.submit(tx, order(key))


async def until_all_ended(url: str) -> None:
    async with asyncio.timeout(90), connect(url) as database:
        while await fetch(database, "SELECT count(*) FROM queue.live") != [0]:
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("fail", [PostgresServer.kill, PostgresServer.freeze])
async def test_work_continues_on_the_standby(
    pair: Replicas, fail: Callable[[PostgresServer], None]
) -> None:
    async with connect(pair.primary.url()) as database, database.transaction() as tx:
        await migrate(tx)
        await tx.execute(EVIDENCE)
        await queue.declare_stages(tx, PIPELINE)
    before = [f"before {n}" for n in range(40)]
    after = [f"after {n}" for n in range(10)]
    async with working(pair.url):
        await submit(pair.url, before)
        await asyncio.sleep(0.5)
        fail(pair.primary)
        await asyncio.to_thread(pair.promote)
        await submit(pair.url, after)
        await until_all_ended(pair.standby.url())
    history = [Operation("client", key, "ok") for key in before + after]
    assert violations(pair.standby.url(), history) == []
