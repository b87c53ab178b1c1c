"""jobmill rotate due, status, report: what is due, and the results of reads."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import asdict, dataclass, replace
from typing import Annotated

import typer

from jobmill.boards.adapters import find_platform
from jobmill.cli.support import environment, output, session, times
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Tx
from jobmill.pipelines import rotation
from jobmill.rotation import calls, due_targets, planner, rotation_status, targets
from jobmill.rotation.calls import CallReport
from jobmill.rotation.due_targets import DueList, DueTarget
from jobmill.rotation.rotation_status import (
    BlockedTargets,
    CallDay,
    PlatformYield,
    RunReport,
    TargetAge,
)
from jobmill.rotation.targets import RunProblem
from jobmill.settings import Settings

MAX_LISTED_CALLS = 20
HOURS_PER_YEAR = 8_760


def due(
    platform: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this platform.")
    ] = None,
    ahead: Annotated[
        float,
        typer.Option(
            metavar="HOURS",
            min=0,
            max=HOURS_PER_YEAR,
            help="Also list what is due within this time.",
        ),
    ] = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List what `rotate run` would read now, in its order, then what is queued or due later."""
    request = rotation.request_from_settings(environment.load_settings())
    if platform:
        request = replace(request, platforms=[find_platform(platform).name])

    async def find_due(tx: Tx) -> DueList:
        at, span = await planner.clock(tx), dt.timedelta(hours=ahead)
        return await due_targets.list_due(tx, request, at, os.environ, ahead=span, limit=limit)

    due_list = session.in_transaction(find_due)
    empty = describe_nothing_due(ahead)
    output.print_list(due_list.targets, _entry, empty=empty, as_json=as_json)
    for name, why in sorted(due_list.unavailable.items()):
        if not as_json:
            output.print_wrapped(f"{name} is not read now: {why}")


def describe_nothing_due(ahead: float) -> str:
    """Also tell how to look further ahead, up to a year."""
    text = f"Nothing is due within {ahead:g} hours." if ahead else "Nothing is due."
    further = min(max(24, 2 * ahead), HOURS_PER_YEAR)
    if further <= ahead:
        return text
    return f"{text} `jobmill rotate due --ahead {further:g}` looks further ahead."


def _entry(target: DueTarget) -> output.Entry:
    title = [target.name, target.platform, target.kind, "queued" if target.queued else None]
    last = target.last_success_at
    last_read = f"last read {times.format_minute(last)}" if last else "never read"
    new = f"{target.new_jobs_last:,} new jobs" if target.new_jobs_last is not None else None
    failures = output.format_count(target.fail_count, "failure") if target.fail_count else None
    due_at = f"due {times.format_minute(target.due_at)}" if target.due_at else None
    return target.source, title, [due_at, last_read, new, failures]


@dataclass(frozen=True)
class _RotationStatus:
    platforms: list[PlatformYield]
    days: list[CallDay]
    staleness: list[TargetAge]
    blocked: list[BlockedTargets]


def status(
    hours: Annotated[
        float, typer.Option(metavar="N", min=1, max=2_160, help="Number of hours to look back.")
    ] = 24,
    as_json: AsJson = False,
) -> None:
    """Show new jobs by platform and day, how long ago sources were read, and what is blocked."""

    async def read_status(tx: Tx) -> _RotationStatus:
        await targets.sync_changed_sources(tx)
        at = await planner.clock(tx)
        return _RotationStatus(
            await rotation_status.yield_by_platform(tx, at, dt.timedelta(hours=hours)),
            await rotation_status.calls_by_day(tx, at),
            await rotation_status.target_ages(tx, at),
            await rotation_status.blocked_targets(tx, at, os.environ),
        )

    rotation_now = session.in_transaction(read_status)
    if as_json:
        output.print_record(rotation_now, as_json=True)
    else:
        _print_status(rotation_now, hours)


def _print_status(rotation: _RotationStatus, hours: float) -> None:
    if rotation.platforms:
        output.print_table([_platform_row(row) for row in rotation.platforms], as_json=False)
    else:
        targets_count = sum(age.targets for age in rotation.staleness)
        hint = (
            "run` reads what is due" if targets_count else "add greenhouse NAME` adds a job board"
        )
        typer.echo(f"No reads in the last {hours:g} hours. `jobmill rotate {hint}.")
    if rotation.days:
        output.print_table(rotation.days, as_json=False)
    output.print_table(rotation.staleness, as_json=False)
    for blocked in rotation.blocked:
        count = f" ({output.format_count(blocked.targets, 'target')})" if blocked.targets else ""
        output.print_wrapped(f"{blocked.what}{count}: {blocked.why}")


def _platform_row(row: PlatformYield) -> dict[str, object]:
    """The columns that fit on a line of 80 characters; `--json` has all."""
    return {
        **output.pick(row, "platform", "calls", "results", "new"),
        "rate": row.new_per_call,
        **output.pick(row, "wasted", "failed"),
        "unique": row.unique_listings,
    }


def report(
    run: Annotated[
        int | None,
        typer.Argument(metavar="RUN", min=1, help="Number of the run; default: the last one."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show which sources a run of the rotation chose, and their results so far."""
    settings = environment.load_settings()
    print_run(session.in_transaction(lambda tx: read_run(tx, settings, run)), as_json=as_json)


@dataclass(frozen=True)
class RunDetails:
    report: RunReport
    next_due: dt.datetime | None
    """When a run has something to read; None if nothing can be read."""
    calls: list[CallReport]
    failed: list[RunProblem]
    not_read: list[RunProblem]


async def read_run(tx: Tx, settings: Settings, run: int | None) -> RunDetails:
    """Read a run, or the last one."""
    run_report = await rotation_status.run_report(tx, run)
    request = rotation.request_from_settings(settings)
    return RunDetails(
        run_report,
        await due_targets.next_due_at(tx, request, await planner.clock(tx), os.environ),
        await calls.calls_of_run(tx, run_report.run),
        await calls.failed_calls(tx, run_report.run),
        await targets.uncalled_targets(tx, run_report.run),
    )


def print_run(details: RunDetails, *, as_json: bool) -> None:
    if as_json:
        fields = asdict(details)
        output.print_json(fields.pop("report") | fields)
        return
    if not details.report.chosen:
        typer.echo("Nothing can be read now. `jobmill rotate due` lists what comes next.")
    else:
        facts = {name: value for name, value in asdict(details.report).items() if name != "skipped"}
        output.print_facts(facts | {"next_due": details.next_due})
    for call in details.failed[:MAX_LISTED_CALLS]:
        output.print_wrapped(f"{call.platform} {call.slug} failed: {call.why}")
    if details.report.failures > MAX_LISTED_CALLS:
        typer.echo(
            f"and {details.report.failures - MAX_LISTED_CALLS:,} more failed; --json lists up to 100"
        )
    for target in details.not_read[:MAX_LISTED_CALLS]:
        output.print_wrapped(f"{target.platform} {target.slug} was not read: {target.why}")
    for name, why in sorted(details.report.skipped.items()):
        output.print_wrapped(f"{name} was skipped: {why}")
