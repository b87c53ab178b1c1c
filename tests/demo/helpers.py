"""The demo as the command runs it, in a test's own database."""

from __future__ import annotations

import asyncio
import datetime as dt
import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import LiteralString

from jobmill import app
from jobmill.db import Database
from jobmill.demo import session, setup, simulation
from jobmill.demo.session import DemoSession
from jobmill.outside.fetch import open_fetch
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.queue.helpers import fetch as fetch_rows

PATIENCE = 300.0


async def begin(database: Database, *, day: float = 120) -> None:
    """The demo before any worker runs."""
    await app.declare_stages(Tools(database), Settings())
    async with database.transaction() as tx:
        await setup.start_demo(tx, day=dt.timedelta(seconds=day))


@asynccontextmanager
async def running(database: Database) -> AsyncIterator[DemoSession]:
    """A started demo with its sites, its clock and a real worker."""
    settings = Settings(host_interval_seconds=0.001)
    async with (
        session.open_session(settings, database) as staged,
        open_fetch(database, staged.settings) as fetch,
    ):
        worker = app.build_worker(Tools(database, fetch), staged.settings)
        assert staged.clock
        tasks = [asyncio.create_task(run) for run in (worker.run(), staged.clock.run())]
        try:
            yield staged
        finally:
            worker.stop()
            staged.clock.stop()
            await asyncio.gather(*tasks)


async def set_clock(database: Database, days: float) -> None:
    """Make demo days long, so that no failure starts or ends on a slow machine."""
    day = dt.timedelta(hours=1)
    async with database.transaction() as tx:
        statement = "UPDATE demo.world SET day = %(day)s, began_at = now() - %(days)s * %(day)s"
        await tx.execute(statement, {"day": day, "days": days})


async def see(database: Database, signs: Mapping[str, LiteralString]) -> None:
    """Let the demo people act until all conditions hold."""
    dice = random.Random(7)
    deadline = time.monotonic() + PATIENCE
    while left := [
        name for name, sql in signs.items() if await fetch_rows(database, sql) != [True]
    ]:
        assert time.monotonic() < deadline, left
        async with database.transaction() as tx:
            await simulation.advance(tx, dice)
        await asyncio.sleep(0.3)
