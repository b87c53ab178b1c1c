"""Measures judging: listings a second of one core from saved board answers to matches, and where the time goes."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.pipeline.samples import Sampler
from evaluation.run import DATA
from jobmill import app, queue
from jobmill.catalog import sources
from jobmill.catalog.sources import NewSource
from jobmill.db import Database, connect
from jobmill.db.embedded import Embedded
from jobmill.db.migrate import migrate
from jobmill.ingest.adapters import BY_NAME
from jobmill.matching import document, example, profiles
from jobmill.outside.request import Answer, Gone, Ok, Request, Validators
from jobmill.pipelines import source
from jobmill.queue import Worker
from jobmill.queue.feed import feeder
from jobmill.queue.worker import Chore
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
class Shelf:
    """A `Fetch` that answers with what was saved."""

    answers: Mapping[str, bytes]

    async def __call__(self, request: Request, validators: Validators | None = None) -> Answer:
        body = self.answers.get(request.url)
        return Gone(request.url, 404) if body is None else Ok(request.url, body)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, default=DATA, help="where the real answers are")
    options = asked.parse_args()
    if not options.data.is_dir():
        print(f"Skipped: there are no real answers at {options.data}; --data names another folder.")
        return
    with tempfile.TemporaryDirectory() as folder, Embedded(Path(folder, "postgres")).use() as url:
        told = asyncio.run(_measure(url, Path(folder, "postgres"), options.data))
    _print(told)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(told, indent=1) + "\n")


async def _measure(url: str, home: Path, data: Path) -> dict[str, object]:
    async with connect(url, size=8) as database:
        await _prepare(database)
        shelf = Shelf({_url(board): (data / file).read_bytes() for board, file in BOARDS.items()})
        tools = Tools(database, shelf)
        # A model is loaded once in the life of a worker, not once a listing.
        await _warm(database)
        sampler = Sampler()
        began, ours, theirs = time.perf_counter(), time.process_time(), _server_seconds(home)
        with sampler:
            await _work(database, tools)
        wall = time.perf_counter() - began
        ours, theirs = time.process_time() - ours, _server_seconds(home) - theirs
        return {"wall": wall, "worker": ours, "server": theirs} | {
            "outcomes": await _outcomes(database),
            "shares": sampler.shares(),
        }


async def _warm(database: Database) -> None:
    from jobmill.matching import meaning

    await meaning.embed(["warm"])


def _url(board: tuple[str, str]) -> str:
    platform = BY_NAME[board[0]]
    assert platform.first
    return platform.first(platform.config.model_validate({"board_token": board[1]})).url


async def _prepare(database: Database) -> None:
    async with database.transaction() as tx:
        await migrate(tx)
    async with database.transaction() as tx:
        await queue.declare(tx, app.stages(Tools(database), Settings()))
        await profiles.save(tx, "main", document.read(example.TEXT, "example"))
        ids = [
            (await sources.add(tx, NewSource(token, name, token, {"board_token": token}), enabled=True))[0]
            for name, token in BOARDS
        ]  # fmt: skip
        await queue.submit_all(tx, [source.work(id) for id in ids])


async def _work(database: Database, tools: Tools) -> None:
    chores = [Chore(60, feeder(feed), when_told=True) for feed in app.FEEDS]
    worker = Worker(database, app.stages(tools, Settings()), chores=chores)
    running = asyncio.create_task(worker.run())
    while await _left(database):
        await asyncio.sleep(0.05)
    worker.stop()
    await running


async def _left(database: Database) -> int:
    async with database.transaction() as tx:
        cursor = await tx.execute(
            "SELECT (SELECT count(*) FROM queue.live) + (SELECT count(*) FROM matching.waiting)"
        )
        [found] = await cursor.fetchone() or [0]
    return found


async def _outcomes(database: Database) -> dict[str, int]:
    async with database.transaction() as tx:
        cursor = await tx.execute(
            "SELECT status::text, count(*) FROM queue.items WHERE kind = 'listing' GROUP BY 1"
        )
        return dict(await cursor.fetchall())


def _server_seconds(home: Path) -> float:
    """What the server and its helpers have used of a core; those that ended count for their parent."""
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


def _print(told: dict[str, object]) -> None:
    outcomes = Counter[str](told["outcomes"])  # pyright: ignore[reportArgumentType]
    many = outcomes.total()
    wall, worker, server = (float(str(told[name])) for name in ("wall", "worker", "server"))
    table = Table("figure", "value", title="Listings from saved answers to verdicts", title_justify="left")  # fmt: skip
    table.add_row(
        "listings", f"{many} ({', '.join(f'{n} {what}' for what, n in outcomes.items())})"
    )
    table.add_row("listings a second, one worker process", f"{many / wall:.0f}")
    table.add_row(
        "listings a second of one core (worker and server)", f"{many / (worker + server):.0f}"
    )
    table.add_row(
        "core milliseconds a listing: worker, server",
        f"{1000 * worker / many:.1f}, {1000 * server / many:.1f}",
    )
    shares: dict[str, float] = told["shares"]  # pyright: ignore[reportAssignmentType]
    for name, share in sorted(shares.items(), key=lambda one: -one[1]):
        table.add_row(f"share of the worker's time: {name}", f"{share:.3f}")
    outside = (worker * (1 - shares.get("jobmill", 0)) + server) / (worker + server)
    table.add_row("share of all time outside our own code", f"{outside:.3f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
