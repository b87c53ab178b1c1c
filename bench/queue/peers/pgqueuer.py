"""PgQueuer on asyncpg: claims by the batch, and buffers completions by the batch."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version

import asyncpg
import uvloop
from pgqueuer import AsyncpgDriver, PgQueuer, Queries
from pgqueuer.models import Job

from bench.queue import measures

BATCH = 100
SAVERS = 20


@asynccontextmanager
async def queries(url: str) -> AsyncIterator[Queries]:
    connection = await asyncpg.connect(url)
    try:
        yield Queries(AsyncpgDriver(connection))
    finally:
        await connection.close()


async def install(url: str) -> None:
    async with queries(url) as queue:
        await queue.install()


class PgQueuerProducer:
    def __init__(self, queue: Queries) -> None:
        self._queue = queue

    async def one(self, number: int) -> None:
        await self._queue.enqueue("item", b"%d" % number)

    async def many(self, numbers: range) -> None:
        count = len(numbers)
        await self._queue.enqueue(
            ["item"] * count, [b"%d" % number for number in numbers], [0] * count
        )


@asynccontextmanager
async def producer(url: str) -> AsyncIterator[PgQueuerProducer]:
    async with queries(url) as queue:
        yield PgQueuerProducer(queue)


async def work(url: str, started: Callable[[], None], *, saves: bool, batch: int) -> None:
    queue = PgQueuer.from_asyncpg_connection(await asyncpg.connect(url))
    pool = await asyncpg.create_pool(url, min_size=SAVERS, max_size=SAVERS) if saves else None

    @queue.entrypoint("item")
    async def item(job: Job) -> None:
        started()
        if pool:
            await pool.execute("INSERT INTO saved (item) VALUES ($1)", int(job.payload or b"0"))

    await queue.run(batch_size=batch or BATCH)


if __name__ == "__main__":
    measures.main(
        measures.System(
            version=version("pgqueuer"),
            install=install,
            producer=producer,
            work=work,
            done="SELECT count(*) FROM pgqueuer_log WHERE status = 'successful'",
            run=uvloop.run,
        )
    )
