"""jobmill rotate due, status and report: how the rotation goes."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from jobmill.boards.adapters import find_platform
from jobmill.cli.support import environment, output, session, times
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.rotation import calls, planner, rotation_status, targets
from jobmill.rotation.calls import CallReport, FailedCall
from jobmill.rotation.rotation_status import (
    BlockedTargets,
    CallDay,
    DueTarget,
    PlatformYield,
    RunReport,
    TargetAge,
)
from jobmill.rotation.targets import UncalledTarget

NAMED = 20
"""So many calls that failed are named to people."""


FURTHEST = 8_760
"""Hours: a year."""


def due(
    platform: Annotated[str | None, typer.Option(metavar="NAME", help="Only of this one.")] = None,
    ahead: Annotated[
        float, typer.Option(metavar="HOURS", min=0, max=FURTHEST, help="Also what is due by then.")
    ] = 0,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="At most so many.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """List what is due, in the order of its turn."""
    policy = environment.load_settings().rotation_policy
    name = find_platform(platform).name if platform else None

    async def find(tx: Tx) -> list[DueTarget]:
        await targets.sync_changed_sources(tx)
        at, span = await planner.clock(tx), dt.timedelta(hours=ahead)
        return await rotation_status.due_targets(
            tx, at, policy, platform=name, ahead=span, limit=limit
        )

    found = session.in_transaction(find)
    if as_json:
        output.print_json_lines(found)
    elif not found:
        typer.echo(nothing_due(ahead))
    else:
        output.print_entries((one.source, _what(one), _facts(one)) for one in found)


def nothing_due(ahead: float) -> str:
    """What there is to say, and how to look further than that, if one can."""
    found = f"Nothing is due within {ahead:g} hours." if ahead else "Nothing is due."
    further = min(max(24, 2 * ahead), FURTHEST)
    if further <= ahead:
        return found
    return f"{found} `jobmill rotate due --ahead {further:g}` looks further ahead."


def _what(one: DueTarget) -> list[str | None]:
    return [one.name, one.platform, one.kind, "queued" if one.queued else None]


def _facts(one: DueTarget) -> list[str | None]:
    last = one.last_success_at
    seen = f"last seen {times.format_minute(last)}" if last else "never seen"
    new = f"{one.new_jobs_last:,} new then" if one.new_jobs_last is not None else None
    failed = output.format_count(one.fail_count, "failure") if one.fail_count else None
    return [f"due {times.format_minute(one.due_at)}", seen, new, failed]


@dataclass(frozen=True)
class Status:
    platforms: list[PlatformYield]
    days: list[CallDay]
    staleness: list[TargetAge]
    standing_still: list[BlockedTargets]


def status(
    hours: Annotated[
        float, typer.Option(metavar="N", min=1, max=2_160, help="How far to look back.")
    ] = 24,
    as_json: AsJson = False,
) -> None:
    """Tell what calls brought, by platform and by day, how stale targets are, and what is off."""

    async def look(tx: Tx) -> Status:
        await targets.sync_changed_sources(tx)
        at = await planner.clock(tx)
        return Status(
            await rotation_status.yield_by_platform(tx, at, dt.timedelta(hours=hours)),
            await rotation_status.calls_by_day(tx, at),
            await rotation_status.target_ages(tx, at),
            await rotation_status.blocked_targets(tx, at, os.environ),
        )

    found = session.in_transaction(look)
    if as_json:
        output.print_record(found, as_json=True)
    else:
        _show_status(found, hours)


def _show_status(found: Status, hours: float) -> None:
    if found.platforms:
        output.print_table([_Brought.of(one) for one in found.platforms], as_json=False)
    else:
        known = sum(one.targets for one in found.staleness)
        hint = "run` makes some" if known else "add greenhouse NAME` adds a board to call"
        typer.echo(f"No calls in the last {hours:g} hours. `jobmill rotate {hint}.")
    if found.days:
        output.print_table(found.days, as_json=False)
    output.print_table(found.staleness, as_json=False)
    for one in found.standing_still:
        targets = f" ({output.format_count(one.targets, 'target')})" if one.targets else ""
        output.print_wrapped(f"{one.what}{targets}: {one.why}")


@dataclass(frozen=True)
class _Brought:
    """A platform as a line of 80 letters holds it; `--json` has it all."""

    platform: str
    calls: int
    results: int
    new: int
    a_call: float
    """New listings per call."""
    wasted: int
    failed: int
    unique: int

    @staticmethod
    def of(one: PlatformYield) -> _Brought:
        return _Brought(
            one.platform,
            one.calls,
            one.results,
            one.new,
            one.new_per_call,
            one.wasted,
            one.failed,
            one.unique_listings,
        )


def report(
    run: Annotated[
        int | None, typer.Argument(metavar="[RUN]", min=1, help="Its number; left out: the last.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a run of the rotation chose, and what came of it so far."""

    async def find(tx: Tx) -> Run:
        return await look_at(tx, run)

    show_report(session.in_transaction(find), as_json=as_json)


@dataclass(frozen=True)
class Run:
    """A run, with what became of its targets."""

    report: RunReport
    calls: list[CallReport]
    failed: list[FailedCall]
    held: list[UncalledTarget]


async def look_at(tx: Tx, run: int | None) -> Run:
    """That run, or the last one."""
    told = await rotation_status.run_report(tx, run)
    return Run(
        told,
        await calls.calls_of_run(tx, told.run),
        await calls.failed_calls(tx, told.run),
        await targets.uncalled_targets(tx, told.run),
    )


def show_report(told: Run, *, as_json: bool) -> None:
    """A run, as far as it has come."""
    if as_json:
        more = asdict(told)
        output.print_json(more.pop("report") | more)
        return
    if not told.report.chosen:
        typer.echo("Nothing can be called now. `jobmill rotate due` shows what comes next.")
    else:
        facts = {name: one for name, one in asdict(told.report).items() if name != "skipped"}
        output.print_facts(facts)
    for one in told.failed[:NAMED]:
        output.print_wrapped(f"{one.platform} {one.slug} failed: {one.why}")
    if told.report.failures > NAMED:
        typer.echo(f"and {told.report.failures - NAMED:,} more failed: --json names up to 100")
    for one in told.held[:NAMED]:
        output.print_wrapped(f"{one.platform} {one.slug} was not called: {one.why}")
    for name, why in sorted(told.report.skipped.items()):
        output.print_wrapped(f"{name} was passed over: {why}")
