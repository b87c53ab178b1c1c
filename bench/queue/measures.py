"""Four measurements that are the same for every queue: drain, save, enqueue, latency.

The script of a queue describes it as a `System` and passes it to `main`, which prints one line of
JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from typing import Any, LiteralString, Protocol

import psycopg

PAUSE = 0.005
BULK = 1_000
WARM_UP = 20

spawning = multiprocessing.get_context("spawn")


class Producer(Protocol):
    """Adds items over one connection; each call has committed when it returns."""

    async def one(self, number: int) -> object: ...

    async def many(self, numbers: range) -> object: ...


class Work(Protocol):
    """Runs the queue's own worker until the process is ended.

    The handler calls `started` first. If `saves`, it then inserts one row into `saved (item)`.
    """

    def __call__(
        self, url: str, started: Callable[[], None], *, saves: bool, batch: int
    ) -> Coroutine[Any, Any, None]: ...


@dataclass(frozen=True)
class System:
    """One queue: how to install, fill and work it, and how its own tables count what is done."""

    version: str
    install: Callable[[str], Awaitable[None]]
    producer: Callable[[str], AbstractAsyncContextManager[Producer]]
    work: Work
    done: LiteralString
    saving: str = "separate transaction"
    run: Callable[[Coroutine[Any, Any, Any]], Any] = asyncio.run


class Mark:
    """How many items a worker process has started, and when, in memory its parent can read."""

    def __init__(self) -> None:
        self._count = spawning.RawValue("q", 0)
        self._first = spawning.RawValue("d", 0.0)
        self._last = spawning.RawValue("d", 0.0)

    def __call__(self) -> None:
        now = time.monotonic()
        if not self._count.value:
            self._first.value = now
        self._last.value = now
        self._count.value += 1

    @property
    def count(self) -> int:
        return self._count.value

    @property
    def first(self) -> float:
        return self._first.value

    @property
    def last(self) -> float:
        return self._last.value


class WorkerProcesses:
    """Worker processes and their marks."""

    def __init__(self, processes: Sequence[BaseProcess], marks: Sequence[Mark]) -> None:
        self._processes = processes
        self._marks = marks

    @property
    def count(self) -> int:
        return sum(mark.count for mark in self._marks)

    @property
    def first(self) -> float:
        return min(mark.first for mark in self._marks if mark.count)

    @property
    def last(self) -> float:
        return max(mark.last for mark in self._marks)

    def check(self) -> None:
        if any(process.exitcode is not None for process in self._processes):
            raise SystemExit("a worker process ended before its time")


@contextmanager
def worker_processes(
    system: System, url: str, *, workers: int, saves: bool, batch: int
) -> Generator[WorkerProcesses]:
    """Worker processes that have loaded their code and begin together; killed at the end."""
    marks = [Mark() for _ in range(workers)]
    gate = spawning.Barrier(workers)
    processes = [
        spawning.Process(target=_work, args=(system, url, mark, gate, saves, batch))
        for mark in marks
    ]
    for process in processes:
        process.start()
    try:
        yield WorkerProcesses(processes, marks)
    finally:
        for process in processes:
            process.kill()
            process.join()


def _work(system: System, url: str, mark: Mark, gate: Any, saves: bool, batch: int) -> None:
    gate.wait()
    system.run(system.work(url, mark, saves=saves, batch=batch))


def drain(
    system: System, url: str, *, items: int, workers: int = 1, saves: bool = False, batch: int = 0
) -> dict[str, float]:
    """Items per second from the first item's start until the queue's own tables count all as done.

    The items are there before the workers start. Time to import, connect and register is left out,
    because the clock begins in the first handler. The tables are read only after every handler has
    run, so that counting takes nothing from the run; they are then read every few milliseconds.
    """
    system.run(fill(system, url, items))
    with psycopg.connect(url, autocommit=True) as db:
        settle(db)
        with worker_processes(system, url, workers=workers, saves=saves, batch=batch) as working:
            ended = _when_done(db, system, working, items)
            began = working.first
        _check_saved(db, items if saves else 0)
    return {"per_second": items / (ended - began)}


def save(
    system: System, url: str, *, items: int, workers: int = 1, batch: int = 0
) -> dict[str, Any]:
    """The same as `drain`, with a handler that also writes one row of its own."""
    rate = drain(system, url, items=items, workers=workers, saves=True, batch=batch)
    return {**rate, "saving": system.saving}


def _when_done(
    db: psycopg.Connection, system: System, working: WorkerProcesses, items: int
) -> float:
    while working.count < items:
        working.check()
        time.sleep(PAUSE)
    while True:
        now = time.monotonic()
        row = db.execute(system.done).fetchone()
        if row and row[0] >= items:
            return now
        working.check()
        time.sleep(PAUSE)


async def fill(system: System, url: str, items: int) -> None:
    async with system.producer(url) as producer:
        for start in range(0, items, BULK):
            await producer.many(range(start, min(start + BULK, items)))


def settle(db: psycopg.Connection) -> None:
    """Leave no statistics to gather and no pages to flush from the filling."""
    db.execute("VACUUM (ANALYZE)")
    db.execute("CHECKPOINT")


def _check_saved(db: psycopg.Connection, items: int) -> None:
    row = db.execute("SELECT count(*) FROM saved").fetchone()
    # At least: a queue may run an item twice.
    if not row or row[0] < items:
        raise SystemExit(f"{row and row[0]} rows were saved for {items} items")


async def enqueue(system: System, url: str, *, items: int) -> dict[str, float]:
    """Items per second by one call and one commit for each, and by calls of a thousand."""
    async with system.producer(url) as producer:
        for number in range(WARM_UP):
            await producer.one(number)
        singles = max(items // 10, 100)
        began = time.monotonic()
        for number in range(singles):
            await producer.one(number)
        single = singles / (time.monotonic() - began)

        calls = max(items // BULK, 3)
        began = time.monotonic()
        for call in range(calls):
            await producer.many(range(call * BULK, (call + 1) * BULK))
        bulk = calls * BULK / (time.monotonic() - began)
    return {"single_per_second": single, "bulk_per_second": bulk}


async def latency(system: System, url: str, *, items: int, batch: int = 0) -> dict[str, float]:
    """Milliseconds from the call that enqueues an item to the start of its handler, when idle."""
    pauses = random.Random(1)
    waits: list[float] = []
    with worker_processes(system, url, workers=1, saves=False, batch=batch) as working:
        async with system.producer(url) as producer:
            for number in range(WARM_UP + items):
                sent_at = time.monotonic()
                await producer.one(number)
                while working.count <= number:
                    working.check()
                    await asyncio.sleep(0.001)
                waits.append((working.last - sent_at) * 1_000)
                await asyncio.sleep(pauses.uniform(0.03, 0.06))
    cuts = statistics.quantiles(waits[WARM_UP:], n=100, method="inclusive")
    return {"p50_ms": cuts[49], "p99_ms": cuts[98]}


def main(system: System) -> None:
    args = _arguments()
    url, items, workers, batch = args.url, args.items, args.workers, args.batch
    system.run(_prepare(system, url))
    match args.measure:
        case "drain":
            figures = drain(system, url, items=items, workers=workers, batch=batch)
        case "save":
            figures = save(system, url, items=items, workers=workers, batch=batch)
        case "enqueue":
            figures = system.run(enqueue(system, url, items=items))
        case _:
            figures = system.run(latency(system, url, items=items, batch=batch))
    print(json.dumps({"version": system.version, **figures}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measure", choices=["drain", "save", "enqueue", "latency"])
    parser.add_argument("--url", required=True, help="an empty database")
    parser.add_argument("--items", type=int, default=2_000, help="or samples, for latency")
    parser.add_argument(
        "--workers", type=int, default=1, help="worker processes, for drain and save"
    )
    parser.add_argument(
        "--batch", type=int, default=0, help="items per claim; 0 is the queue's best"
    )
    return parser.parse_args()


async def _prepare(system: System, url: str) -> None:
    await system.install(url)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE TABLE saved (item bigint NOT NULL)")
