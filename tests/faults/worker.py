"""A worker process for chaos, with its log in a file."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import signal
from pathlib import Path

import psycopg

from jobmill.db import connect
from jobmill.errors import Unavailable
from jobmill.queue import Worker

from .pipeline import PIPELINE


async def main(url: str, lease: float) -> None:
    """Restart a worker that finds no database, as a supervisor would."""
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    while not stopped.is_set():
        try:
            async with connect(url, size=6) as database:
                worker = Worker(database, PIPELINE, lease=dt.timedelta(seconds=lease))
                running = asyncio.create_task(worker.run())
                stopping = asyncio.create_task(stopped.wait())
                await asyncio.wait([running, stopping], return_when=asyncio.FIRST_COMPLETED)
                stopping.cancel()
                worker.stop()
                await running
        except (Unavailable, psycopg.Error):
            await asyncio.sleep(0.2)


def run(url: str, lease: float, log: Path) -> None:
    """The whole process."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", filename=log, force=True)
    asyncio.run(main(url, lease))
