"""The screen of `jobmill queue watch`, redrawn every second."""

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
from jobmill.cli.support import environment, output
from jobmill.db import CONNECTION_ERRORS, Database
from jobmill.queue import overview
from jobmill.queue.overview import Overview
from jobmill.settings import Settings

REFRESH_SECONDS = 1.0
DATABASE_TIMEOUT = 5.0
"""Seconds without an answer of the database until the screen says so."""

RATE_WINDOW = 30.0
"""Seconds over which the rate of runs is measured."""


async def run(settings: Settings) -> None:
    """Redraw the screen until Ctrl-C or q."""
    # Log lines would break the screen, which reports database errors itself.
    logging.disable()
    async with environment.open_database(settings) as database:
        quit_event = asyncio.Event()
        with _handle_keys(quit_event), Live(screen=True, auto_refresh=False) as live:
            rate = RunRate()
            while not quit_event.is_set():
                live.update(await _draw(database, rate), refresh=True)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(quit_event.wait(), REFRESH_SECONDS)


class RunRate:
    """Runs per second, computed from the growing total."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def add(self, at: float, runs: int) -> float | None:
        """Add a sample and return runs per second; None after the first sample."""
        self._samples.append((at, runs))
        while at - self._samples[0][0] > RATE_WINDOW:
            self._samples.popleft()
        first_at, first_runs = self._samples[0]
        return (runs - first_runs) / (at - first_at) if at > first_at else None


async def _draw(database: Database, rate: RunRate) -> RenderableType:
    try:
        async with asyncio.timeout(DATABASE_TIMEOUT), database.transaction() as tx:
            queue = await overview.read_overview(tx)
    except (*CONNECTION_ERRORS, TimeoutError) as error:
        reason = " ".join(str(error).split()) or "timeout"
        return Panel(Text(f"The database does not answer: {reason}. Retrying."), title="jobmill")
    runs = sum(tally.runs for tally in queue.run_counters)
    return draw_screen(queue, rate.add(time.monotonic(), runs))


def draw_screen(queue: Overview, rate: float | None) -> Group:
    runs = sum(phase.runs for phase in tables.summarize(queue).runs)
    speed = "" if rate is None else f", {rate:,.1f} per second"
    return Group(
        Panel(tables.phase_table(queue.phases), title="phases"),
        Panel(tables.processor_tiles(queue.processors), title="processors"),
        Panel(Group(*tables.alert_lines(queue.alerts, limit=5)), title="alerts"),
        Text(
            f"{output.format_count(runs, 'run')}{speed}    q or Ctrl-C: quit", style="bright_black"
        ),
    )


@contextlib.contextmanager
def _handle_keys(quit_event: asyncio.Event) -> Generator[None]:
    """Set the event on Ctrl-C and on q, and restore the terminal at the end."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, quit_event.set)
    if not sys.stdin.isatty():
        yield
        return
    terminal = sys.stdin.fileno()
    attributes = termios.tcgetattr(terminal)

    def read_keys() -> None:
        keys = os.read(terminal, 64)
        if not keys or b"q" in keys.lower():
            quit_event.set()

    tty.setcbreak(terminal)
    loop.add_reader(terminal, read_keys)
    try:
        yield
    finally:
        loop.remove_reader(terminal)
        termios.tcsetattr(terminal, termios.TCSADRAIN, attributes)
