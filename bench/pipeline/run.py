"""Measures judging: listings per second of one core from saved responses of boards to matches, and
the share of each package."""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import cpu_time
from bench.pipeline.sampler import Sampler
from evaluation.run import DATA
from jobmill import app, queue
from jobmill.boards.adapters import BY_NAME
from jobmill.catalog import sources
from jobmill.catalog.sources import NewSource
from jobmill.db import Database, connect
from jobmill.db.embedded import EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.matching import embeddings, profile_document, profiles
from jobmill.outside.request import FetchResult, Ok, PageGone, Request, Validators
from jobmill.pipelines import source
from jobmill.queue import Worker
from jobmill.queue.feed import feed_task
from jobmill.queue.worker import PeriodicTask
from jobmill.settings import Settings
from jobmill.tools import Tools

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results" / "pipeline.json"
BOARDS = {
    ("greenhouse", "stripe"): "ats_greenhouse/stripe__enjoiyourlife.json",
    ("lever", "matchgroup"): "ats_lever/matchgroup__enjoiyourlife.json",
    ("ashby", "ramp"): "ats_ashby/ramp__enjoiyourlife.json",
}


@dataclass(frozen=True)
class PipelineFigures:
    """Seconds, the listings by status, and the worker's time by package."""

    wall: float
    worker: float
    server: float | None
    """None if the system does not report it."""
    outcomes: dict[str, int]
    shares: dict[str, float]


@dataclass(frozen=True)
class Shelf:
    """A `Fetch` that returns saved responses."""

    answers: Mapping[str, bytes]

    async def __call__(self, request: Request, validators: Validators | None = None) -> FetchResult:
        body = self.answers.get(request.url)
        return PageGone(request.url, 404) if body is None else Ok(request.url, body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="where the real answers are")
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"Skipped: there are no real answers at {options.data}; --data names another folder.")
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedServer(Path(folder, "postgres")).use() as url,
    ):
        figures = asyncio.run(_measure(url, Path(folder, "postgres"), options.data))
    _print(figures)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(asdict(figures), indent=1) + "\n")


async def _measure(url: str, home: Path, data: Path) -> PipelineFigures:
    async with connect(url, size=8) as database:
        await _prepare(database)
        shelf = Shelf({_url(board): (data / file).read_bytes() for board, file in BOARDS.items()})
        tools = Tools(database, shelf)
        # A worker loads the embedding model once, so loading it is not measured.
        embeddings.embed("warm")
        sampler = Sampler()
        began, ours, theirs = time.perf_counter(), time.process_time(), _server_seconds(home)
        with sampler:
            await _work(database, tools)
        wall = time.perf_counter() - began
        ours, server = time.process_time() - ours, _server_seconds(home)
        spent = None if server is None or theirs is None else server - theirs
        return PipelineFigures(wall, ours, spent, await _outcomes(database), sampler.shares())


def _url(board: tuple[str, str]) -> str:
    platform = BY_NAME[board[0]]
    assert platform.first_request
    return platform.first_request(platform.config.model_validate({"board_token": board[1]})).url


async def _prepare(database: Database) -> None:
    async with database.transaction() as tx:
        await migrate(tx)
    async with database.transaction() as tx:
        await queue.declare_stages(tx, app.build_stages(Tools(database), Settings()))
        await profiles.save(
            tx, "main", profile_document.read_profile(profile_document.read_example(), "example")
        )
        ids = [
            (await sources.add(tx, NewSource(token, name, token, {"board_token": token}), enabled=True))[0]
            for name, token in BOARDS
        ]  # fmt: skip
        await queue.submit_all(tx, [source.new_item(id) for id in ids])


async def _work(database: Database, tools: Tools) -> None:
    periodic_tasks = [PeriodicTask(60, feed_task(feed), on_feed_notify=True) for feed in app.FEEDS]
    worker = Worker(database, app.build_stages(tools, Settings()), periodic_tasks=periodic_tasks)
    running = asyncio.create_task(worker.run())
    while await _left(database):
        await asyncio.sleep(0.05)
    worker.stop()
    await running


async def _left(database: Database) -> int:
    async with database.transaction() as tx:
        cursor = await tx.execute(
            "SELECT (SELECT count(*) FROM queue.live) + (SELECT count(*) FROM matching.judging_queue)"
        )
        [count] = await cursor.fetchone() or [0]
    return count


async def _outcomes(database: Database) -> dict[str, int]:
    async with database.transaction() as tx:
        cursor = await tx.execute(
            "SELECT status::text, count(*) FROM queue.items WHERE kind = 'listing' GROUP BY 1"
        )
        return dict(await cursor.fetchall())


def _server_seconds(home: Path) -> float | None:
    """The processor time of the server; None if the system does not report it."""
    if not Path("/proc/self/stat").exists():
        return None
    return cpu_time.server_seconds(cpu_time.postmaster_pid(home))


def _print(figures: PipelineFigures) -> None:
    table = Table("figure", "value", title="Listings from saved answers to verdicts")
    for name, value in _rows(figures):
        table.add_row(name, value)
    Console(width=120).print(table)


def _rows(figures: PipelineFigures) -> Iterator[tuple[str, str]]:
    many, all_of_it = sum(figures.outcomes.values()), figures.worker + (figures.server or 0)
    became = ", ".join(f"{count} {what}" for what, count in figures.outcomes.items())
    server = "n/a" if figures.server is None else f"{1000 * figures.server / many:.1f}"
    counted = "worker alone" if figures.server is None else "worker and server"
    yield "listings", f"{many} ({became})"
    yield "listings a second, one worker process", f"{many / figures.wall:.0f}"
    yield f"listings a second of one core ({counted})", f"{many / all_of_it:.0f}"
    yield "core ms a listing: worker, server", f"{1000 * figures.worker / many:.1f}, {server}"
    for name, share in figures.shares.items():
        yield f"share of the worker's time: {name}", f"{share:.3f}"
    own_seconds = figures.worker * figures.shares.get("jobmill", 0)
    yield "share of all time outside our own code", f"{1 - own_seconds / all_of_it:.3f}"


if __name__ == "__main__":
    main()
