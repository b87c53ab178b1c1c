"""The demo's own time: sources are called and people act as often as the world's days pass."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import random

from jobmill.catalog import sources
from jobmill.catalog.sources import Source
from jobmill.db import CONNECTION_ERRORS, Database, Tx
from jobmill.demo import hiring, seeds
from jobmill.demo.companies import COMPANIES
from jobmill.demo.world import Now, World
from jobmill.errors import AppError
from jobmill.pipelines import rotation
from jobmill.rotation.planner import RunRequest

log = logging.getLogger(__name__)

TICK = 1 / 40
"""How often something happens, in days of the world."""
CALL = 1 / 4
"""How often a source is called."""
TOGETHER = 1 / 4
"""The share of all sources that a run waits for."""
SHORTEST = 0.1


async def tick(tx: Tx, dice: random.Random) -> World | None:
    """Let a moment pass; None where the demo is over."""
    world = await seeds.find(tx)
    if world is None:
        return None
    now = world.at(dt.datetime.now(dt.UTC))
    await _call(tx, now)
    await _mend(tx, now)
    await hiring.move(tx, dice)
    return world


async def _call(tx: Tx, now: Now) -> None:
    """Let the rotation run for the sources whose last call is a while ago by the world's clock: it
    counts in our days, and would leave them alone for hours."""
    before = now.at - CALL * now.world.day
    found = await sources.find(tx, status="active", limit=1_000)
    due = [one.id for one in found if one.last_scraped_at and one.last_scraped_at < before]
    # Several at a time, so that a run is worth looking at.
    if due and len(due) >= len(found) * TOGETHER:
        await rotation.start(tx, RunRequest(trigger="manual", sources=due), {})


async def _mend(tx: Tx, now: Now) -> None:
    """Somebody looks after what failures have disabled, once its trouble is over."""
    for one in await sources.find(tx, status="disabled", limit=1_000):
        if one.retry_at and not _is_troubled(one, now):
            await sources.enable(tx, one.id, actor="demo")


def _is_troubled(one: Source, now: Now) -> bool:
    return any(one.company_name == firm.name and now.trouble(firm) for firm in COMPANIES)


class Life:
    """Runs beside a worker until it is stopped or the demo is over."""

    def __init__(self, database: Database, seed: int | None = None) -> None:
        self._db = database
        self._dice = random.Random(seed)
        self._stop = asyncio.Event()
        self.over = asyncio.Event()
        """Set when somebody has ended the demo."""

    async def run(self) -> None:
        pause = SHORTEST
        while not self._stop.is_set():
            try:
                async with self._db.transaction() as tx:
                    world = await tick(tx, self._dice)
            except (AppError, *CONNECTION_ERRORS) as error:
                log.warning("the demo stands still", extra={"error": str(error)})
            else:
                if world is None:
                    self.over.set()
                    await self._stop.wait()
                    return
                pause = max(SHORTEST, TICK * world.day.total_seconds())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause)

    def stop(self) -> None:
        self._stop.set()
