"""jobmill rotate: which sources are read next, and how often."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Awaitable, Callable
from dataclasses import fields, replace
from typing import Annotated, Literal

import typer

from jobmill import app as assembly
from jobmill.boards.adapters import find_platform
from jobmill.boards.quotas import QUOTAS
from jobmill.cli.rotation import reports, searches
from jobmill.cli.sources import scrape
from jobmill.cli.support import environment, files, foreground_worker, output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.pipelines import rotation, source
from jobmill.rotation import board_import, platform_state, target_settings, targets
from jobmill.rotation.board_import import ImportedBoard
from jobmill.rotation.planner import RunRequest
from jobmill.rotation.target_settings import TargetTiming
from jobmill.rotation.targets import Target
from jobmill.settings import Settings
from jobmill.tools import Tools

app = typer.Typer(no_args_is_help=True)
app.add_typer(searches.app, name="search")

SourceId = Annotated[int, typer.Argument(metavar="SOURCE", min=1, help="Number of the source.")]


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
    policy: Annotated[
        Literal["yield", "seed"] | None,
        typer.Option(help="Use this policy instead of the configured one."),
    ] = None,
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
    request = rotation.request_from_settings(settings)
    request = replace(
        request,
        policy=policy or request.policy,
        trigger=trigger,
        platforms=names,
        kind="slice" if slices else "company" if companies else None,
        max_calls=max_calls,
    )
    details = session.with_tools(
        lambda tools: _run(tools, settings, request, quiet=as_json, later=later)
    )
    if details is None:
        text = "Nothing is due at this pace. `jobmill rotate due` lists what comes next."
        output.print_result({"run": None, "chosen": 0}, text, as_json)
        return
    reports.print_run(details, as_json=as_json)


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
        return await reports.read_run(tx, settings, planned.run_id)


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
    priority: Annotated[int, typer.Option(min=0, max=100, help="Higher is read first.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Add job boards to the rotation without testing them.

    Boards that keep failing are disabled and tried again later.
    """
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
    already_added = f", {done.known:,} already added" if done.known else ""
    output.print_result(
        done, f"{output.format_count(done.new, 'new board')}{already_added}", as_json
    )


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


@app.command("set")
def change_settings(
    id: SourceId,
    priority: Annotated[
        int | None, typer.Option(min=0, max=100, help="Higher is read first.")
    ] = None,
    interval: searches.Interval = None,
    window: searches.Window = None,
    as_json: AsJson = False,
) -> None:
    """Set the priority, the minimum interval or the call window of a source."""
    if priority is None and interval is None and window is None:
        raise Invalid("set something: --priority, --interval or --window")

    async def change(tx: Tx) -> Target:
        if priority is not None:
            await target_settings.set_priority(tx, id, priority, actor="command line")
        target = await targets.get(tx, id, lock=True)
        timing = TargetTiming(
            parse_span(interval, target.own_interval), parse_span(window, target.own_window)
        )
        return await target_settings.set_timing(tx, id, timing, actor="command line")

    _change(id, change, as_json)


def parse_span(text: str | None, unchanged: dt.timedelta | None) -> dt.timedelta | None:
    """A duration, None for `usual`, or the old value where there is no option."""
    return unchanged if text is None else searches.parse_duration(text)


JSON_NAMES = {
    "added_at": "known_at",
    "new_listings": "found",
    "observed_days": "looked",
    "entries": "shown",
    "entry_days": "shown_days",
    "new_per_day": "rho",
    "loss_rate": "d",
    "blocked_until": "gate_at",
}
"""Fields of a target that `--json` has printed under other names since it exists."""


def _to_json(target: Target) -> dict[str, object]:
    names = [field.name for field in fields(target)]
    return {JSON_NAMES.get(name, name): getattr(target, name) for name in names}


def _change(id: int, act: Callable[[Tx], Awaitable[Target]], as_json: bool) -> None:
    async def change(tx: Tx) -> Target:
        await targets.sync_source(tx, id)
        return await act(tx)

    target = session.in_transaction(change)
    output.print_result(
        _to_json(target), f"Source {id} is {target.status} in the rotation.", as_json
    )


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
    default: Annotated[
        bool, typer.Option("--default", help="Return to the default quota of the platform.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Limit the number of reads of a platform, in place of its default quota."""
    name = find_platform(platform).name
    if default and (per_hour, per_day) != (None, None):
        raise Invalid("use --default, or --per-hour and --per-day")

    async def save_limit(tx: Tx) -> None:
        if default:
            await platform_state.reset_limits(tx, name, actor="command line")
        else:
            await platform_state.set_limits(
                tx, name, per_hour=per_hour, per_day=per_day, actor="command line"
            )

    session.in_transaction(save_limit)
    limits = {"platform": name, "per_hour": per_hour, "per_day": per_day}
    if default and (quota := QUOTAS.get(name)):
        limits["requests_per_day"] = quota.per_day
    if as_json:
        output.print_json(limits)
    else:
        output.print_facts(limits)
