"""oban-py: claims up to its limit, and finishes in one transaction what has ended since."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version

import uvloop
from oban import Job, Oban, worker
from oban.schema import install
from psycopg_pool import AsyncConnectionPool

from bench.queue import measures

LIMIT = 100
CONNECTIONS = 20


def pool(url: str, size: int) -> AsyncConnectionPool:
    return AsyncConnectionPool(url, min_size=size, max_size=size, open=False)


async def set_up(url: str) -> None:
    async with pool(url, 1) as connections:
        await install(connections)


class ObanProducer:
    def __init__(self, queue: Oban) -> None:
        self._queue = queue

    async def one(self, number: int) -> None:
        await self._queue.enqueue(item(number))

    async def many(self, numbers: range) -> None:
        await self._queue.enqueue_many([item(number) for number in numbers])


def item(number: int) -> Job:
    return Job("items.Item", queue="items", args={"number": number})


@asynccontextmanager
async def producer(url: str) -> AsyncIterator[ObanProducer]:
    async with pool(url, 1) as connections:
        yield ObanProducer(Oban(pool=connections))


async def work(url: str, started: Callable[[], None], *, saves: bool, batch: int) -> None:
    async with pool(url, CONNECTIONS) as connections:

        @worker(queue="items")
        class Item:
            # The name that the producer gives to its items.
            __module__, __qualname__ = "items", "Item"

            async def process(self, job: Job) -> None:
                started()
                if saves:
                    async with connections.connection() as db:
                        await db.execute(
                            "INSERT INTO saved (item) VALUES (%s)", (job.args["number"],)
                        )

        async with Oban(pool=connections, queues={"items": batch or LIMIT}):
            await asyncio.Event().wait()


if __name__ == "__main__":
    measures.main(
        measures.System(
            version=version("oban"),
            install=set_up,
            producer=producer,
            work=work,
            done="SELECT count(*) FROM oban_jobs WHERE state = 'completed'",
            run=uvloop.run,
        )
    )
