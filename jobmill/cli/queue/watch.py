"""The screen of `jobmill queue watch`: drawn anew every second until somebody has seen enough."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import termios
import time
import tty
from collections import deque
from collections.abc import Generator

from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from jobmill.cli.queue import tables
from jobmill.cli.support import environment
from jobmill.db import CONNECTION_ERRORS, Database
from jobmill.queue import overview
from jobmill.queue.overview import Overview
from jobmill.settings import Settings

EVERY = 1.0
PATIENCE = 5.0
"""Seconds that the database may take to answer before the screen says so."""

WINDOW = 30.0
"""Seconds that the shown rate of runs is taken over."""


async def show(settings: Settings) -> None:
    """Draw until Ctrl-C or q."""
    # A line in the log would tear the picture; what it would say of the database, the screen says.
    logging.disable()
    async with environment.open_database(settings) as database:
        leave = asyncio.Event()
        with _keys(leave), Live(screen=True, auto_refresh=False) as live:
            rate = Rate()
            while not leave.is_set():
                live.update(await _draw(database, rate), refresh=True)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(leave.wait(), EVERY)


class Rate:
    """How many runs end in a second, from the counts as they grow."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, at: float, runs: int) -> float | None:
        """Runs a second over the last while; None until there is something to compare."""
        self._seen.append((at, runs))
        while at - self._seen[0][0] > WINDOW:
            self._seen.popleft()
        then, before = self._seen[0]
        return (runs - before) / (at - then) if at > then else None


async def _draw(database: Database, rate: Rate) -> RenderableType:
    try:
        async with asyncio.timeout(PATIENCE), database.transaction() as tx:
            seen = await overview.read_overview(tx)
    except (*CONNECTION_ERRORS, TimeoutError) as error:
        words = " ".join(str(error).split()) or "it takes too long"
        return Panel(Text(f"The database does not answer: {words}. Trying again."), title="jobmill")
    return screen(seen, rate.add(time.monotonic(), _runs(seen)))


def screen(seen: Overview, rate: float | None) -> Group:
    """Phases, processors, alerts and how fast it goes."""
    found = tables.stats(seen)
    ran = sum(one.runs for one in found.runs)
    speed = "" if rate is None else f", {rate:,.1f} a second"
    return Group(
        Panel(tables.phases(seen.phases), title="phases"),
        Panel(tables.tiles(seen.processors), title="processors"),
        Panel(Group(*tables.alerts(seen.alerts, most=5)), title="alerts"),
        Text(f"{tables.count(ran, 'run')}{speed}    q or Ctrl-C leaves", style="bright_black"),
    )


def _runs(seen: Overview) -> int:
    return sum(one.runs for one in seen.tallies)


@contextlib.contextmanager
def _keys(leave: asyncio.Event) -> Generator[None]:
    """Set `leave` on Ctrl-C and on q, and give the terminal back as it was."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, leave.set)
    if not sys.stdin.isatty():
        yield
        return
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)

    def read() -> None:
        keys = os.read(keyboard, 64)
        if not keys or b"q" in keys.lower():
            leave.set()

    tty.setcbreak(keyboard)
    loop.add_reader(keyboard, read)
    try:
        yield
    finally:
        loop.remove_reader(keyboard)
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
