"""jobmill demo …: a fictional world to look around in."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from jobmill.cli.servers import commands
from jobmill.cli.support import output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Database, Tx
from jobmill.demo import cleanup, setup
from jobmill.demo.cleanup import DeletedCount
from jobmill.errors import Invalid

app = typer.Typer(no_args_is_help=True)

Day = Annotated[
    float,
    typer.Option(
        "--day", metavar="SECONDS", min=0.05, max=86_400, help="How long a day of the world takes."
    ),
]
Seed = Annotated[
    int, typer.Option(metavar="N", min=0, max=2**62, help="Another number, another world.")
]


@dataclass(frozen=True, slots=True)
class Status:
    on: bool
    began_at: dt.datetime | None = None
    day: float | None = None
    """Which day it is in the world."""
    holds: dict[str, int] | None = None


@app.command()
def start(day: Day = 120, seed: Seed = 7, as_json: AsJson = False) -> None:
    """Let the demo begin in a database that is empty; `jobmill up` then runs it."""

    async def act(tx: Tx) -> Status:
        await setup.begin(tx, seed=seed, day=dt.timedelta(seconds=day))
        return await _status(tx)

    done = session.ask(act, declared=True)
    if as_json:
        output.one(done, as_json=True)
    else:
        typer.echo("The demo is in this database. `jobmill up` runs it.")


@app.command()
def run(day: Day = 120, seed: Seed = 7) -> None:
    """Start everything as `up` does, in the demo world; it begins here if the database is empty."""

    async def prepare(database: Database) -> None:
        async with database.transaction() as tx:
            if not await setup.is_on(tx):
                await setup.begin(tx, seed=seed, day=dt.timedelta(seconds=day))

    settings = commands.quiet_settings()
    commands.run_all(settings, commands.listen(settings), prepare)


@app.command()
def status(as_json: AsJson = False) -> None:
    """Say whether this database holds the demo, and how far it has come."""
    found = session.ask(_status)
    if as_json or found.on:
        output.one(found, as_json=as_json)
    else:
        typer.echo("This is no demo. `jobmill demo run` starts one in an empty database.")


async def _status(tx: Tx) -> Status:
    world = await setup.find(tx)
    if world is None:
        return Status(False)
    day = world.at(dt.datetime.now(dt.UTC)).day
    held = {one.what: one.count for one in await cleanup.count(tx)}
    return Status(True, world.began_at, round(day, 1), held)


@app.command()
def clear(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """End the demo: remove all that is in this database, but the people who may sign in."""

    async def look(tx: Tx) -> Sequence[DeletedCount]:
        return await cleanup.count(tx) if await setup.is_on(tx) else []

    held = session.ask(look)
    if held and not yes:
        _ask(held)
    ended = session.use(cleanup.end)
    if as_json:
        removed = {one.what: one.count for one in held}
        output.print_json({"ended": ended, "removed": removed if ended else {}})
    else:
        typer.echo("The demo has ended." if ended else "There is no demo here; nothing to do.")


def _ask(held: Sequence[DeletedCount]) -> None:
    if not sys.stdin.isatty():
        raise Invalid("nobody is there to ask: --yes does it")
    counts = ", ".join(f"{one.count:,} {one.what}" for one in held if one.count)
    typer.echo(f"This removes everything: {counts}. It cannot be undone.", err=True)
    typer.confirm("End the demo?", abort=True, err=True)
