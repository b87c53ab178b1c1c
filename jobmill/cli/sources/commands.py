"""jobmill source …: where listings come from."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import typer

from jobmill import queue
from jobmill.boards import add_source, source_run
from jobmill.boards.board_crawler import Progress
from jobmill.boards.source_run import Sample
from jobmill.catalog import history, sources
from jobmill.catalog.source_runs import SavedRun
from jobmill.catalog.sources import Incident, Source, SourceRun
from jobmill.cli.sources import discover, platforms
from jobmill.cli.support import output, posting_output, session, times
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import AppError, Invalid
from jobmill.pipelines import source
from jobmill.pipelines.source import work
from jobmill.tools import Tools

app = typer.Typer(no_args_is_help=True)

Id = Annotated[int, typer.Argument(metavar="ID", min=1, help="The number of a source.")]
StatusName = Literal["pending_validation", "active", "disabled", "rejected"]
Reason = Annotated[str, typer.Option(help="Why, for those who read it later.")]
Limit = Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="At most so many.")]
After = Annotated[int, typer.Option(metavar="ID", min=0, help="Only those after this one.")]


app.command()(discover.discover)
app.command()(platforms.detect)
app.command()(platforms.read)
app.command()(platforms.platforms)


@app.command()
def add(
    url: Annotated[str | None, typer.Argument(metavar="[URL]", help="A board or a page.")] = None,
    platform: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which platform: `source platforms`.")
    ] = None,
    token: Annotated[str | None, typer.Option(help="The board on the platform.")] = None,
    config: Annotated[
        str | None, typer.Option(metavar="JSON", help="The whole config, for html, rss and api.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What you call it.")] = None,
    company: Annotated[str | None, typer.Option(help="Whose postings they are.")] = None,
    website: Annotated[str | None, typer.Option(help="The company's own site.")] = None,
    test: Annotated[
        bool, typer.Option(help="Fetch it once before it is kept; without, it waits for that.")
    ] = True,
    enable: Annotated[
        bool, typer.Option("--enable", help="Enable it though it was not recognised for sure.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a source: recognise it, try it, keep it. What is not sure waits for `approval approve`."""
    wish = add_source.Wish(
        url=url,
        platform=platform,
        token=token,
        config=platforms.read_config(config),
        name=name,
        company=company,
        website=website,
        test=test,
        enable=enable,
    )
    output.print_record(
        session.with_tools(lambda tools: add_source.add(tools, wish, os.environ)), as_json=as_json
    )


@app.command("list")
def list_sources(
    status: Annotated[
        StatusName | None, typer.Option(case_sensitive=False, help="Only those of this status.")
    ] = None,
    platform: Annotated[str | None, typer.Option(metavar="NAME", help="Only of this one.")] = None,
    q: Annotated[str | None, typer.Option("--find", help="A part of the name or token.")] = None,
    after: After = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List sources with their health, in the order in which they came."""

    async def find(tx: Tx) -> list[Source]:
        return await sources.find(
            tx, status=status, source_type=platform, q=q, after=after, limit=limit + 1
        )

    found = session.in_transaction(find)
    if as_json:
        output.print_json_lines(found[:limit])
        return
    if not found:
        typer.echo("No sources. Add one: jobmill source add https://…")
        return
    output.print_entries(map(_entry, found[:limit]))
    if len(found) > limit:
        typer.echo(f"There are more: --after {found[limit - 1].id}")


def _entry(source: Source) -> tuple[int, Sequence[str | None], Sequence[str | None]]:
    when = source.last_scraped_at
    ran = f"{source.last_scraped_status} {times.format_minute(when)}" if when else None
    what = [source.name, source.source_type, source.status.replace("_", " ")]
    facts = [output.format_count(source.open_listings, "open listing"), ran, _health(source)]
    return source.id, what, facts


def _health(source: Source) -> str:
    if source.held_until:
        return f"held until {times.format_minute(source.held_until)}: trouble at the vendor"
    if source.disabled_reason:
        return source.disabled_reason
    if source.consecutive_failures:
        failures = output.format_count(source.consecutive_failures, "failure")
        return f"{failures} ({source.last_cause}): {source.last_detail}"
    if source.last_detail:
        return f"{source.last_cause}: {source.last_detail}"
    if source.status == "pending_validation":
        return f"waits for you: source test {source.id}, then approval approve source:{source.id}"
    return "ok" if source.last_scraped_at else "not run yet"


@dataclass(frozen=True)
class SourceStory:
    source: Source
    completeness: str
    needs_validation: bool
    incident: Incident | None
    runs: list[SourceRun]
    events: list[Any]


@app.command("show")
def show_source(id: Id, as_json: AsJson = False) -> None:
    """Show a source: its config, its health, its last runs and what happened to it."""

    async def find(tx: Tx) -> SourceStory:
        source = await sources.get(tx, id)
        return SourceStory(
            source,
            sources.completeness(source),
            sources.needs_validation(source),
            await sources.find_incident(tx, source.source_type),
            await sources.find_runs(tx, id),
            await history.find_events(tx, "source", id),
        )

    story = session.in_transaction(find)
    if as_json:
        output.print_record(story, as_json=True)
        return
    output.print_record(story.source, as_json=False)
    typer.echo(f"\ncompleteness: {story.completeness}")
    for run in story.runs:
        words = f"{times.format_minute(run.started_at)} {_outcome(run, run.outcome)}"
        typer.echo(output.printable(f"{words}{': ' + run.detail if run.detail else ''}"))
    for event in story.events:
        said = event.data.get("reason", "")
        typer.echo(output.printable(f"{times.format_minute(event.at)} {event.what} {said}"))


def _outcome(counts: SourceRun | RunRow, outcome: str) -> str:
    """A run in one line."""
    if outcome == "unchanged":
        return "unchanged since the last run"
    parts = {
        "new": counts.added,
        "changed": counts.changed,
        "closed": counts.closed,
        "opened again": counts.reopened,
        "repeated": counts.duplicates,
    }
    said = ", ".join(f"{number:,} {word}" for word, number in parts.items() if number)
    return f"{outcome}, {output.format_count(counts.seen, 'posting')}{': ' + said if said else ''}"


@app.command("test")
def try_source(id: Id, as_json: AsJson = False) -> None:
    """Fetch a source and show a sample of it; no listing is saved."""
    sample: Sample = session.with_tools(lambda tools: source_run.test(tools, id, os.environ))
    if as_json:
        output.print_json(sample.record())
    else:
        posting_output.print_postings(sample.postings)
        typer.echo(sample.words)
    if not sample.ok:
        raise typer.Exit(1)


@app.command()
def scrape(
    ids: Annotated[
        list[int] | None,
        typer.Argument(metavar="[ID]", min=1, help="The numbers of sources."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that are enabled.")] = False,
    later: Annotated[
        bool, typer.Option("--queue", help="Leave it to a worker instead of waiting for it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run sources now, and keep what they show."""
    if bool(ids) == everything:
        raise Invalid("name the sources to run, or say --all")
    if later:
        queued = session.in_transaction(partial(_enqueue, ids=ids), declared=True)
        output.print_rows(queued, as_json=as_json)
        return

    async def run(tools: Tools) -> list[RunRow]:
        async with tools.db.transaction() as tx:
            wanted = await _wanted(tx, ids)
        if ids and len(wanted) == 1:
            return [await _scrape_one(tools, wanted[0], as_json)]
        return [await _scrape_next(tools, id, as_json) for id in wanted]

    done = session.with_tools(run)
    if not as_json:
        _tell(done)
    if any(not row.ok for row in done):
        raise typer.Exit(1)


def _tell(done: list[RunRow]) -> None:
    if not done:
        typer.echo(
            "No source is enabled. `jobmill source list` shows them, `source enable` does it."
        )
    for row in done:
        detail = f": {row.detail}" if row.detail else ""
        typer.echo(output.printable(f"source {row.source}: {_outcome(row, row.outcome)}{detail}"))


async def _wanted(tx: Tx, ids: list[int] | None) -> list[int]:
    """The sources that were named, each of which exists, or all that are enabled."""
    if ids:
        return [(await sources.get(tx, id)).id for id in dict.fromkeys(ids)]
    return list(await sources.find_enabled_ids(tx))


@dataclass(frozen=True)
class Queued:
    source: int
    item: int | None
    note: str


async def _enqueue(tx: Tx, *, ids: list[int] | None) -> list[Queued]:
    wanted = await _wanted(tx, ids)
    answers = await queue.submit_all(tx, [work(id) for id in wanted])
    return [
        Queued(id, answer.live, answer.message)
        if isinstance(answer, queue.RefusedItem)
        else Queued(id, answer.id, "queued")
        for id, answer in zip(wanted, answers, strict=True)
    ]


@dataclass(frozen=True)
class RunRow:
    source: int
    outcome: str
    seen: int
    added: int
    changed: int
    closed: int
    reopened: int
    duplicates: int
    ok: bool
    detail: str | None

    @staticmethod
    def of(id: int, saved: SavedRun, detail: str | None) -> RunRow:
        counts = saved.counts
        ok = saved.outcome in ("complete", "unchanged", "truncated")
        return RunRow(
            id,
            saved.outcome,
            counts.seen,
            counts.added,
            counts.changed,
            counts.closed,
            counts.reopened,
            counts.duplicates,
            ok,
            detail,
        )


async def _scrape_next(tools: Tools, id: int, as_json: bool) -> RunRow:
    """One of several: that it cannot be asked, for want of a key or so, does not stop the others."""
    try:
        return await _scrape_one(tools, id, as_json)
    except AppError as error:
        row = RunRow(id, "not run", 0, 0, 0, 0, 0, 0, False, str(error))
        if as_json:
            output.print_json_lines([row])
        return row


async def _scrape_one(tools: Tools, id: int, as_json: bool) -> RunRow:
    with output.show_progress(f"source {id}", quiet=as_json) as tell:

        def told(progress: Progress) -> None:
            details = f", {progress.details} of {progress.details_wanted} details"
            tell(
                f"{progress.pages} pages, {progress.postings} postings"
                + (details if progress.details_wanted else "")
            )

        harvest = await source_run.run(tools, id, os.environ, tell=told)
    async with tools.db.transaction() as tx:
        saved = await source.keep(tx, id=id, harvest=harvest)
        detail = harvest.detail or (await sources.get(tx, id)).last_detail
    row = RunRow.of(id, saved, detail)
    if as_json:
        output.print_json_lines([row])
    return row


@app.command()
def enable(id: Id, as_json: AsJson = False) -> None:
    """Let a source run, after a failure or when you have looked at it."""
    _change(id, lambda tx: sources.enable(tx, id, actor="command line"), as_json)


@app.command()
def disable(id: Id, reason: Reason = "by hand", as_json: AsJson = False) -> None:
    """Stop a source until it is enabled again."""
    _change(id, lambda tx: sources.disable(tx, id, reason, actor="command line"), as_json)


@app.command()
def reject(id: Id, reason: Reason = "not wanted", as_json: AsJson = False) -> None:
    """Say that a source is not wanted: it stays known, and is not proposed again."""
    _change(id, lambda tx: sources.reject(tx, id, reason, actor="command line"), as_json)


def _change(id: int, act: Callable[[Tx], Awaitable[None]], as_json: bool) -> None:
    async def change(tx: Tx) -> Source:
        await act(tx)
        return await sources.get(tx, id)

    source = session.in_transaction(change)
    if as_json:
        output.print_record(source, as_json=True)
    else:
        typer.echo(f"source {id} ({source.name}) is {source.status}")
