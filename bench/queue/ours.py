"""Jobmill in the queue benchmark: every guarantee on, as the product runs it."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version

import uvloop

from bench.queue import measures
from jobmill import db, queue
from jobmill.db import Tx, migrate
from jobmill.queue import Finish, Move, NewItem, Stage, Stages, Work, Worker

# Practically no capacity limit, because no peer has one.
CAPACITY = 10_000_000


def stages(started: Callable[[], None], *, saves: bool) -> Stages:
    async def nothing(work: Work) -> Move:
        started()
        return Finish()

    async def row(work: Work) -> Move:
        started()

        async def save(tx: Tx) -> None:
            await tx.execute("INSERT INTO saved (item) VALUES (%s)", [work.id])

        return Finish(save=save)

    return {("bench", "run"): Stage(row if saves else nothing, capacity=CAPACITY)}


async def install(url: str) -> None:
    async with db.connect(url) as database, database.transaction() as tx:
        await migrate.migrate(tx)
        await queue.declare_stages(tx, stages(lambda: None, saves=False))


class JobmillProducer:
    def __init__(self, connection: Tx) -> None:
        self._connection = connection
        # The same work is never alive twice, so every item needs its own key.
        self._keys = itertools.count()

    async def one(self, number: int) -> None:
        # A single statement is its own transaction on an autocommit connection.
        await queue.submit(self._connection, self._new())

    async def many(self, numbers: range) -> None:
        async with self._connection.transaction():
            await queue.submit_all(self._connection, [self._new() for _ in numbers])

    def _new(self) -> NewItem:
        return NewItem("bench", "run", str(next(self._keys)))


@asynccontextmanager
async def producer(url: str) -> AsyncGenerator[JobmillProducer]:
    async with await db.open_connection(url) as connection:
        yield JobmillProducer(connection)


async def work(url: str, started: Callable[[], None], *, saves: bool, batch: int) -> None:
    async with db.connect(url) as database:
        await Worker(database, stages(started, saves=saves)).run()


SYSTEM = measures.System(
    version=version("jobmill"),
    install=install,
    producer=producer,
    work=work,
    done="SELECT count(*) FROM queue.ending WHERE status = 'SUCCESS'",
    saving="same transaction",
    run=uvloop.run,
)

if __name__ == "__main__":
    measures.main(SYSTEM)
