"""awa: a Rust core that claims and completes in batches and calls Python handlers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from urllib.parse import urlsplit

import asyncpg
import uvloop
from awa import AsyncClient

from bench.queue import measures

CONNECTIONS = 10
SAVERS = 20
# The fastest settings in our measurements: batches of 500, and no deadline per claim.
QUEUE = {"name": "items", "max_workers": 500, "deadline_duration_ms": 0}


@dataclass
class AwaItem:
    number: int


@asynccontextmanager
async def opened(url: str, connections: int) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(with_host(url), connections) as client:
        yield client


def with_host(url: str) -> str:
    """The Rust driver requires a host in the URL even if `?host=` names a socket."""
    parts = urlsplit(url)
    return url if parts.hostname else parts._replace(netloc=f"{parts.netloc}localhost").geturl()


async def install(url: str) -> None:
    async with opened(url, 1) as client:
        await client.migrate()
        await client.install_queue_storage()


class AwaProducer:
    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def one(self, number: int) -> None:
        await self._client.insert(AwaItem(number), queue="items")

    async def many(self, numbers: range) -> None:
        await self._client.enqueue_many_copy([AwaItem(number) for number in numbers], queue="items")


@asynccontextmanager
async def producer(url: str) -> AsyncIterator[AwaProducer]:
    async with opened(url, 1) as client:
        yield AwaProducer(client)


async def work(url: str, started: Callable[[], None], *, saves: bool, batch: int) -> None:
    pool = await asyncpg.create_pool(url, min_size=SAVERS, max_size=SAVERS) if saves else None
    async with opened(url, CONNECTIONS) as client:

        @client.task(AwaItem, queue="items")
        async def item(job) -> None:
            started()
            if pool:
                await pool.execute("INSERT INTO saved (item) VALUES ($1)", job.args.number)

        await client.start([QUEUE])
        await asyncio.Event().wait()


if __name__ == "__main__":
    measures.main(
        measures.System(
            version=version("awa-pg"),
            install=install,
            producer=producer,
            work=work,
            # Completions are rows of a batch each; old ones are folded into a sum.
            done="""
            SELECT (SELECT coalesce(sum(completed_count), 0) FROM awa.receipt_completion_batches)
                 + (SELECT count(*) FROM awa.done_entries WHERE state = 'completed')
                 + (SELECT coalesce(sum(pruned_completed_count), 0) FROM awa.queue_terminal_rollups)
            """,
            run=uvloop.run,
        )
    )
