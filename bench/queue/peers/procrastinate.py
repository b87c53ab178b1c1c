"""Procrastinate: one item per fetch, finished one by one on pooled connections."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version

import uvloop
from procrastinate import App, PsycopgConnector
from procrastinate.tasks import Task
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from bench.queue import measures

CONCURRENCY = 10


async def autocommit(connection: AsyncConnection) -> None:
    await connection.set_autocommit(True)


@asynccontextmanager
async def opened(url: str, size: int) -> AsyncIterator[tuple[App, AsyncConnectionPool]]:
    """An app on a pool without a check before and a transaction around each statement."""
    app = App(connector=PsycopgConnector())
    async with (
        AsyncConnectionPool(url, min_size=size, max_size=size, configure=autocommit) as pool,
        app.open_async(pool),
    ):
        yield app, pool


async def install(url: str) -> None:
    async with opened(url, 1) as (app, _):
        await app.schema_manager.apply_schema_async()


class ProcrastinateProducer:
    def __init__(self, task: Task) -> None:
        self._task = task

    async def one(self, number: int) -> None:
        await self._task.defer_async(number=number)

    async def many(self, numbers: range) -> None:
        await self._task.batch_defer_async(*({"number": number} for number in numbers))


@asynccontextmanager
async def producer(url: str) -> AsyncIterator[ProcrastinateProducer]:
    async with opened(url, 1) as (app, _):

        async def item(number: int) -> None: ...

        yield ProcrastinateProducer(app.task(name="item")(item))


async def work(url: str, started: Callable[[], None], *, saves: bool, batch: int) -> None:
    async with opened(url, CONCURRENCY) as (app, pool):

        @app.task(name="item")
        async def item(number: int) -> None:
            started()
            if saves:
                async with pool.connection() as db:
                    await db.execute("INSERT INTO saved (item) VALUES (%s)", (number,))

        await app.run_worker_async(concurrency=CONCURRENCY, install_signal_handlers=False)


if __name__ == "__main__":
    measures.main(
        measures.System(
            version=version("procrastinate"),
            install=install,
            producer=producer,
            work=work,
            done="SELECT count(*) FROM procrastinate_jobs WHERE status = 'succeeded'",
            run=uvloop.run,
        )
    )
