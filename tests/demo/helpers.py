"""The demo as the command runs it, in a test's own database."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from jobmill import app
from jobmill.db import Database
from jobmill.demo import session, setup
from jobmill.demo.session import DemoSession
from jobmill.outside.fetch import open_fetch
from jobmill.settings import Settings
from jobmill.tools import Tools


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
