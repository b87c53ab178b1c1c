"""jobmill source: list, show, enable, disable and reject sources."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from jobmill.catalog import history, sources
from jobmill.catalog.sources import Incident, Source, SourceRun
from jobmill.cli.sources import add, platforms, scrape
from jobmill.cli.sources.scrape import SourceId
from jobmill.cli.support import output, session, times
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Tx

app = typer.Typer(no_args_is_help=True)
app.command()(add.discover)
app.command()(platforms.detect)
app.command()(platforms.read)
app.command("platforms")(platforms.list_platforms)
app.command()(add.add)

ACTOR = "command line"
StatusName = Literal["pending_validation", "active", "disabled", "rejected"]
Reason = Annotated[str, typer.Option(help="Reason, shown in the history.")]


@app.command("list")
def list_sources(
    status: Annotated[
        StatusName | None, typer.Option(case_sensitive=False, help="Only sources of this status.")
    ] = None,
    platform: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only sources of this platform.")
    ] = None,
    q: Annotated[str | None, typer.Option("--find", help="Part of the name or token.")] = None,
    after: Annotated[
        int, typer.Option(metavar="ID", min=0, help="Only sources after this one.")
    ] = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List sources and their health, oldest first."""

    rows = session.in_transaction(
        lambda tx: sources.find(
            tx, status=status, source_type=platform, q=q, after=after, limit=limit + 1
        )
    )
    empty = "No sources. Add one: jobmill source add https://…"
    output.print_page(rows, _entry, limit=limit, option="--after", empty=empty, as_json=as_json)


def _entry(source: Source) -> tuple[int, Sequence[str | None], Sequence[str | None]]:
    at = source.last_scraped_at
    last_run = f"{source.last_scraped_status} {times.format_minute(at)}" if at else None
    title = [source.name, source.source_type, source.status.replace("_", " ")]
    details = [output.format_count(source.open_listings, "open job"), last_run, _health(source)]
    return source.id, title, details


def _health(source: Source) -> str:
    if source.held_until:
        return f"on hold until {times.format_minute(source.held_until)}: the platform has problems"
    if source.disabled_reason:
        return source.disabled_reason
    if source.consecutive_failures:
        failures = output.format_count(source.consecutive_failures, "failure")
        return f"{failures} ({source.last_cause}): {source.last_detail}"
    if source.last_detail:
        return f"{source.last_cause}: {source.last_detail}"
    if source.status == "pending_validation":
        test, approve = f"source test {source.id}", f"approval approve source:{source.id}"
        return f"needs your approval: {test}, then {approve}"
    return "ok" if source.last_scraped_at else "not run yet"


@dataclass(frozen=True)
class _SourceDetails:
    source: Source
    completeness: str
    needs_validation: bool
    incident: Incident | None
    runs: list[SourceRun]
    events: list[Any]


@app.command("show")
def show_source(id: SourceId, as_json: AsJson = False) -> None:
    """Show a source: its configuration, health, last runs and history."""

    async def read_details(tx: Tx) -> _SourceDetails:
        source = await sources.get(tx, id)
        return _SourceDetails(
            source,
            sources.completeness(source),
            sources.needs_validation(source),
            await sources.find_incident(tx, source.source_type),
            await sources.find_runs(tx, id),
            await history.find_events(tx, "source", id),
        )

    details = session.in_transaction(read_details)
    if as_json:
        output.print_record(details, as_json=True)
        return
    output.print_record(details.source, as_json=False)
    typer.echo(f"\ncompleteness: {details.completeness}")
    for run in details.runs:
        text = f"{times.format_minute(run.started_at)} {scrape.describe_run(run, run.outcome)}"
        typer.echo(output.printable(f"{text}{': ' + run.detail if run.detail else ''}"))
    for event in details.events:
        reason = event.data.get("reason", "")
        typer.echo(output.printable(f"{times.format_minute(event.at)} {event.what} {reason}"))


app.command("test")(scrape.sample_source)
app.command()(scrape.scrape)


@app.command()
def enable(id: SourceId, as_json: AsJson = False) -> None:
    """Enable a source, also one that was disabled after failures."""
    _change(id, lambda tx: sources.enable(tx, id, actor=ACTOR), as_json)


@app.command()
def disable(id: SourceId, reason: Reason = "by hand", as_json: AsJson = False) -> None:
    """Disable a source until you enable it again."""
    _change(id, lambda tx: sources.disable(tx, id, reason, actor=ACTOR), as_json)


@app.command()
def reject(id: SourceId, reason: Reason = "not wanted", as_json: AsJson = False) -> None:
    """Reject a source, so that it is never proposed again."""
    _change(id, lambda tx: sources.reject(tx, id, reason, actor=ACTOR), as_json)


def _change(id: int, act: Callable[[Tx], Awaitable[None]], as_json: bool) -> None:
    async def change(tx: Tx) -> Source:
        await act(tx)
        return await sources.get(tx, id)

    source = session.in_transaction(change)
    output.print_result(source, f"Source {id} ({source.name}) is {source.status}.", as_json)
