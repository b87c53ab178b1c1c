"""A process with a worker that only expires offers."""

from __future__ import annotations

import asyncio

from jobmill.db import connect
from jobmill.hiring.waitlist import deadlines
from jobmill.queue import Worker
from jobmill.queue.worker import PeriodicTask


async def main(url: str) -> None:
    async with connect(url, size=3) as database:
        print("ready", flush=True)
        chore = PeriodicTask(deadlines.POLL_SECONDS, deadlines.expire_due_openings)
        await Worker(database, {}, periodic_tasks=[chore]).run()


def run(url: str) -> None:
    """The whole process."""
    asyncio.run(main(url))
