"""jobmill rotate: which sources are read next, and how often."""

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
from jobmill.rotation.board_import import ImportedBoard
from jobmill.rotation.planner import RunRequest
from jobmill.rotation.targets import Target
from jobmill.settings import Settings
from jobmill.tools import Tools

app = typer.Typer(no_args_is_help=True)
app.add_typer(searches.app, name="search")

SourceId = Annotated[int, typer.Argument(metavar="SOURCE", min=1, help="Number of the source.")]
PolicyOption = Annotated[
    Literal["yield", "seed"] | None,
    typer.Option(help="Use this policy instead of the configured one."),
]


@app.command()
def run(
    platform: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this platform; may be repeated.")
    ] = None,
    slices: Annotated[bool, typer.Option("--slices", help="Only searches and feeds.")] = False,
    companies: Annotated[bool, typer.Option("--companies", help="Only job boards.")] = False,
    max_calls: Annotated[
        int | None,
        typer.Option("--most", metavar="N", min=1, max=10_000, help="Maximum number of reads."),
    ] = None,
    policy: PolicyOption = None,
    trigger: Annotated[
        Literal["manual", "schedule"],
        typer.Option(help="Read now, or keep the pace of the schedule."),
    ] = "manual",
    later: Annotated[
        bool, typer.Option("--queue", help="Let a worker do it instead of waiting.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Choose the sources that are due, read them and report new jobs."""
    settings = environment.load_settings()
    names = [find_platform(name).name for name in platform or ()]
    if slices and companies:
        raise Invalid("use --slices or --companies, or neither of them to read everything")
    request = _make_request(settings, names, policy, trigger, max_calls, slices, companies)

    details = session.with_tools(
        lambda tools: _run(tools, settings, request, quiet=as_json, later=later)
    )
    if details is None:
        _print_nothing_due(as_json)
        return
    reports.print_run(details, as_json=as_json)


def _make_request(
    settings: Settings,
    names: list[str],
    policy: Literal["yield", "seed"] | None,
    trigger: Literal["manual", "schedule"],
    max_calls: int | None,
    slices: bool,
    companies: bool,
) -> RunRequest:
    request = rotation.request_from_settings(settings)
    kind = "slice" if slices else "company" if companies else None
    return replace(
        request,
        policy=policy or request.policy,
        trigger=trigger,
        platforms=names,
        kind=kind,
        max_calls=max_calls,
    )


async def _run(
    tools: Tools, settings: Settings, request: RunRequest, *, quiet: bool, later: bool
) -> reports.RunDetails | None:
    await assembly.declare_stages(tools, settings)
    async with tools.db.transaction() as tx:
        planned, items = await rotation.start_run(tx, request, os.environ)
    if planned.run_id is None:
        return None
    if not later and items:
        await foreground_worker.finish_items(
            tools, settings, (source.KIND,), list(items.values()), quiet=quiet
        )
    async with tools.db.transaction() as tx:
        return await reports.read_run(tx, planned.run_id)


def _print_nothing_due(as_json: bool) -> None:
    if as_json:
        output.print_json({"run": None, "chosen": 0})
    else:
        typer.echo("Nothing is due at this pace. `jobmill rotate due` lists what comes next.")


app.command()(reports.due)
app.command()(reports.status)
app.command()(reports.report)


@app.command()
def add(
    platform: Annotated[
        str, typer.Argument(metavar="PLATFORM", help="Platform, see `jobmill source platforms`.")
    ],
    slugs: Annotated[
        list[str], typer.Argument(metavar="SLUG", help="Name of the board on the platform.")
    ],
    priority: Annotated[int, typer.Option(min=0, max=1_000_000, help="Lower is read first.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Add job boards to the rotation without testing them; boards that keep failing are dropped."""
    boards = [
        board_import.ImportedBoard(board_import.board_source(platform, slug), priority)
        for slug in slugs
    ]
    _save_boards(boards, as_json)


@app.command("import")
def import_boards(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="CSV (platform,slug) or JSON lines; - is stdin.")
    ],
    as_json: AsJson = False,
) -> None:
    """Add many job boards, all or none: if a line is wrong, it is reported and none is added."""
    _save_boards(board_import.parse_boards(files.read_text(file)), as_json)


def _save_boards(boards: list[ImportedBoard], as_json: bool) -> None:
    done = session.in_transaction(lambda tx: board_import.import_boards(tx, boards))
    if as_json:
        output.print_record(done, as_json=True)
    else:
        already_added = f", {done.known:,} already added" if done.known else ""
        typer.echo(f"{output.format_count(done.new, 'new board')}{already_added}")


@app.command()
def pause(id: SourceId, as_json: AsJson = False) -> None:
    """Take a source out of the rotation until you resume it."""
    _change(id, lambda tx: targets.pause(tx, id, actor="command line"), as_json)


@app.command()
def resume(id: SourceId, as_json: AsJson = False) -> None:
    """Put a paused source back into the rotation."""
    _change(id, lambda tx: targets.resume(tx, id, actor="command line"), as_json)


@app.command()
def revive(id: SourceId, as_json: AsJson = False) -> None:
    """Reset the failures of a source and make it due now."""
    _change(id, lambda tx: targets.revive(tx, id, actor="command line"), as_json)


def _change(id: int, act: Callable[[Tx], Awaitable[Target]], as_json: bool) -> None:
    async def change(tx: Tx) -> Target:
        await targets.sync_source(tx, id)
        return await act(tx)

    target = session.in_transaction(change)
    if as_json:
        output.print_record(target, as_json=True)
    else:
        typer.echo(f"Source {id} is {target.status} in the rotation.")


@app.command()
def sync(id: SourceId, as_json: AsJson = False) -> None:
    """Read one source now; this counts as its turn."""
    scrape.scrape([id], everything=False, later=False, as_json=as_json)


@app.command()
def limit(
    platform: Annotated[
        str, typer.Argument(metavar="PLATFORM", help="Platform, see `jobmill source platforms`.")
    ],
    per_hour: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Reads per hour; default: no limit.")
    ] = None,
    per_day: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Reads per day; default: no limit.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Limit the number of reads of a platform."""
    name = find_platform(platform).name

    async def save_limit(tx: Tx) -> None:
        await platform_state.set_limits(
            tx, name, per_hour=per_hour, per_day=per_day, actor="command line"
        )

    session.in_transaction(save_limit)
    limits = {"platform": name, "per_hour": per_hour, "per_day": per_day}
    if as_json:
        output.print_json(limits)
    else:
        output.print_facts(limits)
