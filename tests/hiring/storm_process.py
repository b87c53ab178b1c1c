"""One process of the storm: it serves pages at a port, or is a worker."""

from __future__ import annotations

import asyncio
import os
import socket

from jobmill.db import connect
from jobmill.hiring.waitlist import deadlines
from jobmill.queue import Worker
from jobmill.queue.worker import PeriodicTask
from jobmill.web.server import Server
from jobmill.web.site import create_app


def run(url: str, port: int, folder: str) -> None:
    """Run until killed; port 0 is a worker."""
    os.environ["JOBMILL_DATA_DIR"] = folder
    asyncio.run(_run(url, port))


async def _run(url: str, port: int) -> None:
    async with connect(url, size=4) as database:
        if not port:
            task = PeriodicTask(deadlines.POLL_SECONDS, deadlines.run_cycle)
            await Worker(database, {}, periodic_tasks=[task]).run()
            return
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        await Server(create_app(database), listener).run()
