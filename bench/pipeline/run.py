"""Measures judging: listings a second of one core from saved board answers to matches, and where the time goes."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.pipeline.samples import Sampler
from evaluation.run import DATA
from jobmill import app, queue
from jobmill.boards.adapters import BY_NAME
from jobmill.catalog import sources
from jobmill.catalog.sources import NewSource
from jobmill.db import Database, connect
from jobmill.db.embedded import EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.matching import embeddings, example_profile, profile_document, profiles
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
class Measured:
    """Seconds, what became of the listings, and whose code the worker was in."""

    wall: float
    worker: float
    server: float | None
    """None where the system does not tell."""
    outcomes: dict[str, int]
    shares: dict[str, float]


@dataclass(frozen=True)
class Shelf:
    """A `Fetch` that answers with what was saved."""

    answers: Mapping[str, bytes]

    async def __call__(self, request: Request, validators: Validators | None = None) -> FetchResult:
        body = self.answers.get(request.url)
        return PageGone(request.url, 404) if body is None else Ok(request.url, body)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, default=DATA, help="where the real answers are")
    options = asked.parse_args()
    if not options.data.is_dir():
        print(f"Skipped: there are no real answers at {options.data}; --data names another folder.")
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedServer(Path(folder, "postgres")).use() as url,
    ):
        found = asyncio.run(_measure(url, Path(folder, "postgres"), options.data))
    _print(found)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(asdict(found), indent=1) + "\n")


async def _measure(url: str, home: Path, data: Path) -> Measured:
    async with connect(url, size=8) as database:
        await _prepare(database)
        shelf = Shelf({_url(board): (data / file).read_bytes() for board, file in BOARDS.items()})
        tools = Tools(database, shelf)
        # A model is loaded once in the life of a worker, not once a listing.
        await embeddings.embed(["warm"])
        sampler = Sampler()
        began, ours, theirs = time.perf_counter(), time.process_time(), _server_seconds(home)
        with sampler:
            await _work(database, tools)
        wall = time.perf_counter() - began
        ours, server = time.process_time() - ours, _server_seconds(home)
        spent = None if server is None or theirs is None else server - theirs
        return Measured(wall, ours, spent, await _outcomes(database), sampler.shares())


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
            tx, "main", profile_document.read_profile(example_profile.TEXT, "example")
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
        [found] = await cursor.fetchone() or [0]
    return found


async def _outcomes(database: Database) -> dict[str, int]:
    async with database.transaction() as tx:
        cursor = await tx.execute(
            "SELECT status::text, count(*) FROM queue.items WHERE kind = 'listing' GROUP BY 1"
        )
        return dict(await cursor.fetchall())


def _server_seconds(home: Path) -> float | None:
    """What the server and its helpers have used of a core; those that ended count for their parent."""
    if not Path("/proc/self/stat").exists():
        return None
    postmaster = int((home / "postmaster.pid").read_text().split()[0])
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(stat.parent.name) == postmaster or int(fields[1]) == postmaster:
            total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def _print(found: Measured) -> None:
    table = Table("figure", "value", title="Listings from saved answers to verdicts")
    for name, value in _rows(found):
        table.add_row(name, value)
    Console(width=120).print(table)


def _rows(found: Measured) -> Iterator[tuple[str, str]]:
    many, all_of_it = sum(found.outcomes.values()), found.worker + (found.server or 0)
    became = ", ".join(f"{count} {what}" for what, count in found.outcomes.items())
    server = "n/a" if found.server is None else f"{1000 * found.server / many:.1f}"
    counted = "worker alone" if found.server is None else "worker and server"
    yield "listings", f"{many} ({became})"
    yield "listings a second, one worker process", f"{many / found.wall:.0f}"
    yield f"listings a second of one core ({counted})", f"{many / all_of_it:.0f}"
    yield "core ms a listing: worker, server", f"{1000 * found.worker / many:.1f}, {server}"
    for name, share in found.shares.items():
        yield f"share of the worker's time: {name}", f"{share:.3f}"
    own = found.worker * found.shares.get("jobmill", 0)
    yield "share of all time outside our own code", f"{1 - own / all_of_it:.3f}"


if __name__ == "__main__":
    main()
