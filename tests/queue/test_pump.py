"""The pump and a database whose answers do not arrive."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from jobmill.db import Database
from jobmill.queue import Finish, Move, Work, crew, store
from jobmill.queue.pump import Pump
from jobmill.queue.settle import prepare
from jobmill.queue.store import Want
from jobmill.queue.worker import LEASE

from .kit import happened, new, put, stages, statuses


class Relay:
    """Between the pump and the server; from the first commit on, answers wait until it opens again."""

    def __init__(self, url: str) -> None:
        known = conninfo_to_dict(url)
        self._socket = f"{known['host']}/.s.PGSQL.{known.get('port', 5432)}"
        self.open = asyncio.Event()
        self.open.set()
        self._committed = False

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, ours = await asyncio.open_unix_connection(self._socket)
        with contextlib.suppress(ConnectionError):
            async with asyncio.TaskGroup() as group:
                group.create_task(self._carry(reader, ours))
                group.create_task(self._carry(theirs, writer, answers=True))

    async def _carry(
        self, source: asyncio.StreamReader, to: asyncio.StreamWriter, *, answers: bool = False
    ) -> None:
        while heard := await source.read(65536):
            if b"COMMIT" in heard and not self._committed:
                self._committed = True
                self.open.clear()
            if answers:
                await self.open.wait()
            to.write(heard)
            await to.drain()
        to.close()


@asynccontextmanager
async def relay_before(url: str) -> AsyncIterator[tuple[Relay, str]]:
    relay = Relay(url)
    async with await asyncio.start_server(relay.pass_on, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield relay, make_conninfo(url, host="127.0.0.1", port=port, sslmode="disable")


async def claimed(database: Database, worker: int) -> Work:
    async with database.transaction() as tx:
        [one] = await store.claim(tx, worker, [Want("tea", "run", 1)])
    return one.work


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
    async with relay_before(database.url) as (relay, url):
        pump = Pump(url, table, {}, notified=False, answer_limit=10)
        pump.enlist(worker)
        pump.put(prepare(await claimed(database, worker), Finish(), table))
        settling = asyncio.create_task(pump.settle())
        async with asyncio.timeout(20):
            await until_finished(database)
            settling.cancel()
            await asyncio.sleep(0)
            relay.open.set()
            with contextlib.suppress(asyncio.CancelledError):
                await settling
            await pump.leave()
    assert pump.held() == []
    assert [one for one in caplog.records if one.levelno >= logging.WARNING] == []
    assert await happened(database, id) == ["submitted", "started", "success"]
