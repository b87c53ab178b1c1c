"""Measures what child processes cost on normal content, and what they save on hostile content."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from evaluation.goal import Goal
from jobmill.boards import readable_board
from jobmill.boards.adapters import find_platform
from jobmill.errors import AppError
from jobmill.extract.page import page_reader
from jobmill.sandbox import Sandbox, read_untrusted
from tests.security import readers
from tests.security.corpus import DOCUMENTS

TURNS = 11
PULSE_SECONDS = 0.005


def measure_cost(pages: dict[str, str], boards: dict[str, Path]) -> Goal:
    """Time in a child process over time in this one, for all content together."""
    sandbox = Sandbox(size=1)
    calls: list[tuple[Callable[..., object], tuple[object, ...]]] = [
        (_read_board, (name, file.read_bytes())) for name, file in boards.items()
    ]
    calls += [(_read_page, (html,)) for html in pages.values()]
    here = there = 0.0
    for function, arguments in calls:
        sandbox.call_now(function, *arguments, cpu_seconds=60)
        pairs = [
            (
                _seconds(lambda f=function, a=arguments: f(*a)),
                _seconds(lambda f=function, a=arguments: sandbox.call_now(f, *a, cpu_seconds=60)),
            )
            for _ in range(TURNS)
        ]
        here += statistics.median(pair[0] for pair in pairs)
        there += statistics.median(pair[1] for pair in pairs)
    sandbox.close()
    return Goal("ingest.child_process_cost", there / here, 1.10, at_most=True)


async def measure_responsiveness() -> Goal:
    """The 99th percentile of how late the event loop is while hostile documents are read, in ms."""
    delays: list[float] = []
    pulse = asyncio.create_task(_pulse(delays))
    for document in DOCUMENTS.values():
        body = await asyncio.to_thread(document.build)
        with contextlib.suppress(AppError):
            await read_untrusted(readers.read, document.kind, body, f"resume{document.suffix}")
    pulse.cancel()
    late = 1_000 * statistics.quantiles(delays, n=100)[98]
    return Goal("ingest.loop_delay_p99_ms", late, 100, at_most=True)


async def _pulse(delays: list[float]) -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(PULSE_SECONDS)
        delays.append(time.perf_counter() - began - PULSE_SECONDS)


def _read_board(platform: str, body: bytes) -> object:
    return readable_board.read_saved_response(find_platform(platform), body)


def _read_page(html: str) -> object:
    return page_reader.read_posting(html, "https://x.example/1")


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began
