"""jobmill demo: try Jobmill with fictional companies and people."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from jobmill.cli.servers import up
from jobmill.cli.servers.listener import listen
from jobmill.cli.servers.startup import load_quiet_settings
from jobmill.cli.support import output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Database, Tx
from jobmill.demo import cleanup, setup
from jobmill.demo.cleanup import DeletedCount
from jobmill.errors import Invalid

app = typer.Typer(no_args_is_help=True)

DayLength = Annotated[
    float,
    typer.Option(
        "--day", metavar="SECONDS", min=0.05, max=86_400, help="Length of a day in the demo."
    ),
]
Seed = Annotated[
    int,
    typer.Option(metavar="N", min=0, max=2**62, help="Random seed; each gives different data."),
]


@dataclass(frozen=True, slots=True)
class _DemoStatus:
    on: bool
    began_at: dt.datetime | None = None
    day: float | None = None
    """The current day in the demo."""
    holds: dict[str, int] | None = None


@app.command()
def start(day: DayLength = 120, seed: Seed = 7, as_json: AsJson = False) -> None:
    """Put the demo into an empty database; `jobmill up` then runs it."""

    async def begin(tx: Tx) -> _DemoStatus:
        await setup.start_demo(tx, seed=seed, day=dt.timedelta(seconds=day))
        return await _read_status(tx)

    demo_status = session.in_transaction(begin, declared=True)
    output.print_result(demo_status, "The demo is in this database. `jobmill up` runs it.", as_json)


@app.command()
def run(day: DayLength = 120, seed: Seed = 7) -> None:
    """Start everything like `jobmill up`, with the demo; an empty database gets it first."""

    async def begin(database: Database) -> None:
        async with database.transaction() as tx:
            if not await setup.is_demo(tx):
                await setup.start_demo(tx, seed=seed, day=dt.timedelta(seconds=day))

    settings = load_quiet_settings()
    up.run_all(settings, listen(settings), begin)


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show whether this database holds the demo, and its current day."""
    demo_status = session.in_transaction(_read_status)
    if as_json or demo_status.on:
        output.print_record(demo_status, as_json=as_json)
    else:
        typer.echo("There is no demo here. `jobmill demo run` starts one in an empty database.")


async def _read_status(tx: Tx) -> _DemoStatus:
    world = await setup.read_world(tx)
    if world is None:
        return _DemoStatus(False)
    day = world.at(dt.datetime.now(dt.UTC)).day
    counts = {table.what: table.count for table in await cleanup.count_data(tx)}
    return _DemoStatus(True, world.began_at, round(day, 1), counts)


@app.command()
def clear(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """End the demo: delete everything in this database except people with access."""

    async def count_rows(tx: Tx) -> Sequence[DeletedCount]:
        return await cleanup.count_data(tx) if await setup.is_demo(tx) else []

    tables = session.in_transaction(count_rows)
    if tables and not yes:
        _confirm(tables)
    ended = session.with_database(cleanup.end_demo)
    removed = {table.what: table.count for table in tables} if ended else {}
    text = "The demo has ended." if ended else "There is no demo here; nothing to do."
    output.print_result({"ended": ended, "removed": removed}, text, as_json)


def _confirm(tables: Sequence[DeletedCount]) -> None:
    if not sys.stdin.isatty():
        raise Invalid("cannot ask for confirmation without a terminal: use --yes")
    counts = ", ".join(f"{table.count:,} {table.what}" for table in tables if table.count)
    typer.echo(f"This deletes everything: {counts}. It cannot be undone.", err=True)
    typer.confirm("End the demo?", abort=True, err=True)
