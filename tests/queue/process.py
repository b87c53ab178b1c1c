"""A worker process for tests, stopped by SIGTERM."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import random
import signal

from jobmill.db import Database, Tx, connect
from jobmill.errors import Unavailable
from jobmill.queue import Finish, Move, NewItem, Stage, Stages, Work, Worker


async def quick(work: Work) -> Move:
    """Write one row with the move."""
    await asyncio.sleep(float(work.data.get("seconds", 0)))

    async def save(tx: Tx) -> None:
        await tx.execute("INSERT INTO public.saved VALUES (%s, %s)", [work.id, os.getpid()])

    return Finish(save=save)


async def node(work: Work) -> Move:
    """A node of the graph in its item's data: spawn the neighbours, although the graph has cycles."""
    await asyncio.sleep(random.random() * 0.05)
    graph, prefix = work.data["graph"], work.data["prefix"]
    name = work.key.removeprefix(prefix)

    async def save(tx: Tx) -> None:
        await tx.execute(
            "INSERT INTO public.ran VALUES (%s, %s, %s)", [work.tracking_id, work.kind, work.key]
        )

    neighbours = [NewItem(kind, "run", prefix + other, work.data) for kind, other in graph[name]]
    return Finish(save=save, spawn=neighbours)


async def slow(work: Work) -> Move:
    """Say that the run has begun, which is later than its claim, and take a while."""
    print("started", flush=True)
    return await quick(work)


PIPELINES: dict[str, Stages] = {
    "quick": {("quick", "run"): Stage(quick, capacity=10_000_000)},
    "graph": {(kind, "run"): Stage(node, capacity=1_000_000) for kind in ("a", "b", "c")},
    "slow": {("slow", "run"): Stage(slow, run_limit=dt.timedelta(minutes=5))},
}


async def work(database: Database, pipeline: str, lease: dt.timedelta) -> None:
    worker = Worker(database, PIPELINES[pipeline], lease=lease)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
    print("ready", flush=True)
    await worker.run()


async def main(url: str, pipeline: str, lease: float) -> None:
    """Restart a worker that finds no database, as a supervisor would."""
    while True:
        try:
            async with connect(url, size=6) as database:
                return await work(database, pipeline, dt.timedelta(seconds=lease))
        except Unavailable:
            await asyncio.sleep(0.2)


def run(url: str, pipeline: str, lease: float) -> None:
    """The whole process."""
    asyncio.run(main(url, pipeline, lease))
