"""Simulates the days of the demo: sources are read and applicants act."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import random

from jobmill.catalog import sources
from jobmill.catalog.sources import Source
from jobmill.db import CONNECTION_ERRORS, Database, Tx
from jobmill.demo.companies import COMPANIES
from jobmill.errors import AppError
from jobmill.pipelines import rotation
from jobmill.rotation.planner import RunRequest

from . import hiring, setup
from .state import DemoMoment, World

log = logging.getLogger(__name__)

ACTION_INTERVAL = 1 / 40
"""Interval between actions, in demo days."""
READ_INTERVAL = 1 / 4
"""Interval between reads of a source, in demo days."""
MIN_DUE_SHARE = 1 / 4
"""A run starts when this share of all sources is due."""
MIN_PAUSE_SECONDS = 0.1


async def advance(tx: Tx, dice: random.Random) -> World | None:
    """Advance the demo by one step; None if it has ended."""
    world = await setup.read_world(tx)
    if world is None:
        return None
    now = world.at(dt.datetime.now(dt.UTC))
    await _read_due_sources(tx, now)
    await _reenable_sources(tx, now)
    await hiring.act_once(tx, dice)
    return world


async def _read_due_sources(tx: Tx, now: DemoMoment) -> None:
    """Start a rotation run for sources that are due by the demo's clock: the rotation counts real
    days and would wait for hours."""
    before = now.at - READ_INTERVAL * now.world.day
    active = await sources.find(tx, status="active", limit=1_000)
    due = [
        source.id for source in active if source.last_scraped_at and source.last_scraped_at < before
    ]
    # Several sources per run, so that its page has something to show.
    if due and len(due) >= len(active) * MIN_DUE_SHARE:
        await rotation.start_run(tx, RunRequest(trigger="manual", sources=due), {})


async def _reenable_sources(tx: Tx, now: DemoMoment) -> None:
    """Re-enable sources that failures disabled, once their failure is over."""
    for source in await sources.find(tx, status="disabled", limit=1_000):
        if source.retry_at and not _is_failing(source, now):
            await sources.enable(tx, source.id, actor="demo")


def _is_failing(source: Source, now: DemoMoment) -> bool:
    return any(source.company_name == firm.name and now.failure(firm) for firm in COMPANIES)


class DemoSimulation:
    """Runs beside a worker until it is stopped or the demo ends."""

    def __init__(self, database: Database, seed: int | None = None) -> None:
        self._db = database
        self._dice = random.Random(seed)
        self._stop = asyncio.Event()
        self.over = asyncio.Event()
        """Set when the demo was ended."""

    async def run(self) -> None:
        pause = MIN_PAUSE_SECONDS
        while not self._stop.is_set():
            try:
                async with self._db.transaction() as tx:
                    world = await advance(tx, self._dice)
            except (AppError, *CONNECTION_ERRORS) as error:
                log.warning("the demo could not advance", extra={"error": str(error)})
            else:
                if world is None:
                    self.over.set()
                    await self._stop.wait()
                    return
                pause = max(MIN_PAUSE_SECONDS, ACTION_INTERVAL * world.day.total_seconds())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause)

    def stop(self) -> None:
        self._stop.set()
