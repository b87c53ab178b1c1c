"""jobmill rotate …: which sources are called next, and what calls bring."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated, Literal

import typer

from jobmill import app as assembly
from jobmill.boards.adapters import find_platform
from jobmill.cli.rotation import reports, searches
from jobmill.cli.sources import scrape
from jobmill.cli.support import environment, files, foreground_worker, output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.pipelines import rotation, source
from jobmill.rotation import board_import, platform_state, targets
from jobmill.rotation.board_import import ImportedBoard, ImportResult
from jobmill.rotation.planner import RunRequest
from jobmill.rotation.targets import Target
from jobmill.settings import Settings
from jobmill.tools import Tools

app = typer.Typer(no_args_is_help=True)
app.add_typer(searches.app, name="search")

Id = Annotated[int, typer.Argument(metavar="SOURCE", min=1, help="The number of a source.")]
PolicyOption = Annotated[
    Literal["yield", "seed"] | None,
    typer.Option(help="Choose by this policy instead of the one that is set."),
]


@app.command()
def run(
    platform: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this one; may be repeated.")
    ] = None,
    slices: Annotated[bool, typer.Option("--slices", help="Only searches and feeds.")] = False,
    companies: Annotated[bool, typer.Option("--companies", help="Only boards.")] = False,
    most: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=10_000, help="At most so many calls.")
    ] = None,
    policy: PolicyOption = None,
    trigger: Annotated[
        Literal["manual", "schedule"],
        typer.Option(help="As a person asks for it, or at the pace of the schedule."),
    ] = "manual",
    later: Annotated[
        bool, typer.Option("--queue", help="Leave the calls to a worker instead of waiting.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Choose what is called next, call it, and tell what it brought."""
    settings = environment.load_settings()
    names = [find_platform(name).name for name in platform or ()]
    if slices and companies:
        raise Invalid("--slices and --companies: leave both out to call all")
    wish = _wish(settings, names, policy, trigger, most, slices, companies)

    async def act(tools: Tools) -> reports.Run | None:
        return await _run(tools, settings, wish, quiet=as_json, later=later)

    told = session.with_tools(act)
    if told is None:
        _nothing(as_json)
        return
    reports.show_report(told, as_json=as_json)


def _wish(
    settings: Settings,
    names: list[str],
    policy: Literal["yield", "seed"] | None,
    trigger: Literal["manual", "schedule"],
    most: int | None,
    slices: bool,
    companies: bool,
) -> RunRequest:
    wish = rotation.wish_of(settings)
    kind = "slice" if slices else "company" if companies else None
    return replace(
        wish,
        policy=policy or wish.policy,
        trigger=trigger,
        platforms=names,
        kind=kind,
        max_calls=most,
    )


async def _run(
    tools: Tools, settings: Settings, wish: RunRequest, *, quiet: bool, later: bool
) -> reports.Run | None:
    await assembly.declare_stages(tools, settings)
    async with tools.db.transaction() as tx:
        planned, items = await rotation.start(tx, wish, os.environ)
    if planned.run_id is None:
        return None
    if not later and items:
        await foreground_worker.finish_items(
            tools, settings, (source.KIND,), list(items.values()), quiet=quiet
        )
    async with tools.db.transaction() as tx:
        return await reports.look_at(tx, planned.run_id)


def _nothing(as_json: bool) -> None:
    if as_json:
        output.print_json({"run": None, "chosen": 0})
    else:
        typer.echo("No call is due at this pace. `jobmill rotate due` shows what comes next.")


app.command()(reports.due)
app.command()(reports.status)
app.command()(reports.report)


@app.command()
def add(
    platform: Annotated[str, typer.Argument(metavar="PLATFORM", help="`source platforms`.")],
    slugs: Annotated[list[str], typer.Argument(metavar="SLUG", help="The board on it.")],
    priority: Annotated[
        int, typer.Option(min=0, max=1_000_000, help="Lower is called first.")
    ] = 100,
    as_json: AsJson = False,
) -> None:
    """Add boards to the rotation; they run without a test, and those that fail are given up."""
    found = [
        board_import.ImportedBoard(board_import.board_source(platform, slug), priority)
        for slug in slugs
    ]
    _import(found, as_json)


@app.command("import")
def import_boards(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="CSV (platform,slug) or JSON lines; - is stdin.")
    ],
    as_json: AsJson = False,
) -> None:
    """Add many boards at once; where a line is wrong it is named, and nothing is added."""
    _import(board_import.parse_boards(files.read_text(file)), as_json)


def _import(found: list[ImportedBoard], as_json: bool) -> None:
    async def keep(tx: Tx) -> ImportResult:
        return await board_import.import_boards(tx, found)

    done = session.in_transaction(keep)
    if as_json:
        output.print_record(done, as_json=True)
    else:
        known = f", {done.known:,} known already" if done.known else ""
        typer.echo(f"{output.format_count(done.new, 'new board')}{known}")


@app.command()
def pause(id: Id, as_json: AsJson = False) -> None:
    """Leave a source out of the rotation until it is resumed."""
    _change(id, lambda tx: targets.pause(tx, id, actor="command line"), as_json)


@app.command()
def resume(id: Id, as_json: AsJson = False) -> None:
    """Let a source that was paused take its turn again."""
    _change(id, lambda tx: targets.resume(tx, id, actor="command line"), as_json)


@app.command()
def revive(id: Id, as_json: AsJson = False) -> None:
    """Forget the failures of a source, and let it run at once."""
    _change(id, lambda tx: targets.revive(tx, id, actor="command line"), as_json)


def _change(id: int, act: Callable[[Tx], Awaitable[Target]], as_json: bool) -> None:
    async def change(tx: Tx) -> Target:
        await targets.sync_source(tx, id)
        return await act(tx)

    target = session.in_transaction(change)
    if as_json:
        output.print_record(target, as_json=True)
    else:
        typer.echo(f"source {id} is {target.status} in the rotation")


@app.command()
def sync(id: Id, as_json: AsJson = False) -> None:
    """Run one source now, whatever its turn; it counts as its turn."""
    scrape.scrape([id], everything=False, later=False, as_json=as_json)


@app.command()
def limit(
    platform: Annotated[str, typer.Argument(metavar="PLATFORM", help="`source platforms`.")],
    per_hour: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Calls an hour; left out: no limit.")
    ] = None,
    per_day: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Calls a day; left out: no limit.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how many calls a platform takes at most."""
    name = find_platform(platform).name

    async def keep(tx: Tx) -> None:
        await platform_state.set_limits(
            tx, name, per_hour=per_hour, per_day=per_day, actor="command line"
        )

    session.in_transaction(keep)
    told = {"platform": name, "per_hour": per_hour, "per_day": per_day}
    if as_json:
        output.print_json(told)
    else:
        output.print_facts(told)
