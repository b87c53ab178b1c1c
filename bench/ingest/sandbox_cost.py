"""Measures what child processes cost on normal content, and what they save on hostile content."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psycopg
from starlette.types import ASGIApp

from evaluation.goal import Goal
from jobmill.boards import readable_board
from jobmill.boards.adapters import find_platform
from jobmill.db import connect
from jobmill.db.embedded import EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.errors import AppError
from jobmill.extract.page import page_reader
from jobmill.sandbox import CPU_SECONDS, ReaderStopped, Sandbox, read_untrusted
from jobmill.sandbox.pool import MEMORY
from jobmill.web import site
from jobmill.web.server import Server
from tests.security import readers
from tests.security.corpus import DOCUMENTS, DocumentKind, HostileDocument

TURNS = 11
HEALTH_SECONDS = 0.05
DEADLINE_SECONDS = 0.01
"""How often both are tried: often enough for a 99th percentile, too rarely to keep a core busy."""


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


async def measure_responsiveness() -> list[Goal]:
    """What a server in this process notices while hostile documents are read: how long `/healthz`
    takes, how late deadlines fire, and how many documents exceed their limits."""
    healthz: list[float] = []
    lateness: list[float] = []
    usages: list[_Usage] = []
    with tempfile.TemporaryDirectory() as folder, EmbeddedServer(Path(folder, "p")).use() as url:
        async with await psycopg.AsyncConnection.connect(url) as tx:
            await migrate(tx)
        async with connect(url) as database, _served(site.create_app(database)) as client:
            tasks = [
                asyncio.create_task(_check_health(client, healthz)),
                asyncio.create_task(_meet_deadlines(lateness)),
            ]
            print(f"{'document':<44}{'CPU seconds':>12}{'MB':>7}{'wall seconds':>14}")
            for name, document in DOCUMENTS.items():
                body = await asyncio.to_thread(document.build)
                began = time.perf_counter()
                usage = await _read_hostile(document, body)
                usages.append(usage)
                wall = time.perf_counter() - began
                row = f"{name:<44}{usage.cpu_seconds:>12.2f}{usage.megabytes:>7.0f}{wall:>14.2f}"
                print(row, flush=True)
            for task in tasks:
                task.cancel()
    worst_cpu = max(usage.cpu_seconds for usage in usages)
    worst_memory = max(usage.megabytes for usage in usages)
    return [
        Goal("ingest.healthz_p99_ms", _percentile_ms(healthz), 100, at_most=True),
        Goal("ingest.loop_delay_p99_ms", _percentile_ms(lateness), 100, at_most=True),
        Goal("ingest.deadline_late_max_ms", 1_000 * max(lateness), 500, at_most=True),
        Goal("ingest.hostile_documents", len(usages), 60),
        Goal("ingest.hostile_cpu_max_s", worst_cpu, CPU_SECONDS, at_most=True),
        Goal("ingest.hostile_memory_max_mb", worst_memory, 256, at_most=True),
    ]


@dataclass(frozen=True)
class _Usage:
    cpu_seconds: float
    megabytes: float


async def _read_hostile(document: HostileDocument, body: bytes) -> _Usage:
    """What a fresh child uses beyond what it needs to start. A stopped one used its whole limit."""
    arguments = (document.kind, body, f"resume{document.suffix}")
    try:
        return _Usage(*await read_untrusted(_read_and_measure, *arguments))
    except ReaderStopped as error:
        if "of memory" in str(error):
            return _Usage(0, MEMORY / 2**20)
        if "CPU" in str(error) or "nested too deeply" in str(error):
            return _Usage(CPU_SECONDS, 0)
        raise


def _read_and_measure(kind: DocumentKind, body: bytes, file: str) -> tuple[float, float]:
    before = resource.getrusage(resource.RUSAGE_SELF)
    with contextlib.suppress(AppError):
        readers.read(kind, body, file)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu_seconds, (after.ru_maxrss - before.ru_maxrss) / 1024


@asynccontextmanager
async def _served(app: ASGIApp) -> AsyncIterator[httpx2.AsyncClient]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(app, listener)
    serving = asyncio.create_task(server.run())
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client
    server.stop()
    await serving


async def _check_health(client: httpx2.AsyncClient, seconds: list[float]) -> None:
    while True:
        began = time.perf_counter()
        answer = await client.get("/healthz")
        assert answer.status_code == 200, answer.text
        seconds.append(time.perf_counter() - began)
        await asyncio.sleep(HEALTH_SECONDS)


async def _meet_deadlines(lateness: list[float]) -> None:
    while True:
        deadline = time.perf_counter() + DEADLINE_SECONDS
        await asyncio.sleep(DEADLINE_SECONDS)
        lateness.append(time.perf_counter() - deadline)


def _percentile_ms(seconds: list[float]) -> float:
    return 1_000 * statistics.quantiles(seconds, n=100)[98]


def _read_board(platform: str, body: bytes) -> object:
    return readable_board.read_saved_response(find_platform(platform), body)


def _read_page(html: str) -> object:
    return page_reader.read_posting(html, "https://x.example/1")


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began
