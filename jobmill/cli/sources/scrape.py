"""jobmill source test, scrape: read sources now."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated

import typer

from jobmill import queue
from jobmill.app import declare_stages
from jobmill.boards import source_reader
from jobmill.boards.board_crawler import CrawlProgress
from jobmill.boards.source_reader import BoardSample
from jobmill.catalog import sources
from jobmill.catalog.crawl_results import RunCounts, SavedRun
from jobmill.catalog.sources import SourceRun
from jobmill.cli.support import environment, output, posting_output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.pipelines import source
from jobmill.tools import Tools

SourceId = Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the source.")]


def sample_source(id: SourceId, as_json: AsJson = False) -> None:
    """Read a source and show a sample of its jobs, without saving them."""
    sample: BoardSample = session.with_tools(
        lambda tools: source_reader.test_source(tools, id, os.environ)
    )
    if as_json:
        output.print_json(sample.to_json())
    else:
        posting_output.print_postings(sample.postings)
        typer.echo(sample.summary)
    if not sample.ok:
        raise typer.Exit(1)


def scrape(
    ids: Annotated[
        list[int] | None,
        typer.Argument(metavar="ID", min=1, help="Numbers of the sources."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All enabled sources.")] = False,
    later: Annotated[
        bool, typer.Option("--queue", help="Let a worker do it instead of waiting.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read sources now and save their jobs."""
    if bool(ids) == everything:
        raise Invalid("name the sources to read, or use --all")
    if later:
        queued = session.in_transaction(partial(_enqueue, ids=ids), declared=True)
        output.print_rows(queued, as_json=as_json)
        return

    async def scrape_all(tools: Tools) -> list[_RunResult]:
        async with tools.db.transaction() as tx:
            source_ids = await _choose_sources(tx, ids)
        if ids and len(source_ids) == 1:
            return [await _scrape_source(tools, source_ids[0], as_json)]
        return [await _scrape_or_report(tools, id, as_json) for id in source_ids]

    results = session.with_tools(scrape_all)
    if not as_json:
        _print_results(results)
    if any(not result.ok for result in results):
        raise typer.Exit(1)


def _print_results(results: list[_RunResult]) -> None:
    if not results:
        typer.echo(
            "No source is enabled. List them with `jobmill source list`, "
            "enable one with `jobmill source enable ID`."
        )
    for result in results:
        detail = f": {result.detail}" if result.detail else ""
        outcome = describe_run(result, result.outcome)
        typer.echo(output.printable(f"source {result.source}: {outcome}{detail}"))


async def _choose_sources(tx: Tx, ids: list[int] | None) -> list[int]:
    """Check that the named sources exist, or return all enabled ones."""
    if ids:
        return [(await sources.get(tx, id)).id for id in dict.fromkeys(ids)]
    return list(await sources.find_enabled_ids(tx))


async def _enqueue(tx: Tx, *, ids: list[int] | None) -> list[dict[str, object]]:
    source_ids = await _choose_sources(tx, ids)
    submissions = await queue.submit_all(tx, [source.new_item(id) for id in source_ids])
    return [
        {"source": id, "item": submission.live, "note": submission.message}
        if isinstance(submission, queue.RefusedItem)
        else {"source": id, "item": submission.id, "note": "queued"}
        for id, submission in zip(source_ids, submissions, strict=True)
    ]


@dataclass(frozen=True, kw_only=True)
class _RunResult(RunCounts):
    source: int
    outcome: str
    ok: bool
    detail: str | None

    @staticmethod
    def from_saved(id: int, saved: SavedRun, detail: str | None) -> _RunResult:
        ok = saved.outcome in ("complete", "unchanged", "truncated")
        return _RunResult(
            **asdict(saved.counts), source=id, outcome=saved.outcome, ok=ok, detail=detail
        )


def describe_run(counts: SourceRun | _RunResult, outcome: str) -> str:
    if outcome == "unchanged":
        return "unchanged since the last run"
    parts = {
        "new": counts.added,
        "changed": counts.changed,
        "closed": counts.closed,
        "reopened": counts.reopened,
        "duplicate": counts.duplicates,
    }
    changes = ", ".join(f"{number:,} {name}" for name, number in parts.items() if number)
    total = output.format_count(counts.seen, "posting")
    return f"{outcome}, {total}{': ' + changes if changes else ''}"


async def _scrape_or_report(tools: Tools, id: int, as_json: bool) -> _RunResult:
    """Scrape one of several sources; an error such as a missing key does not stop the others."""
    try:
        return await _scrape_source(tools, id, as_json)
    except AppError as error:
        result = _RunResult(source=id, outcome="not run", ok=False, detail=str(error))
        if as_json:
            output.print_json_lines([result])
        return result


async def _postpone(tools: Tools, id: int, wait: dt.timedelta, detail: str) -> _RunResult:
    """Let a worker read the source when its host may be asked again. Nothing was sent."""
    await declare_stages(tools, environment.load_settings())
    async with tools.db.transaction() as tx:
        [queued] = await queue.submit_all(tx, [source.new_item(id, delay=wait)])
        until = await server_time(tx) + wait
    item = queued.live if isinstance(queued, queue.RefusedItem) else queued.id
    note = f"{detail}. Task {item} reads it after {until:%Y-%m-%d %H:%M} UTC"
    return _RunResult(source=id, outcome="waiting", ok=True, detail=note)


async def _scrape_source(tools: Tools, id: int, as_json: bool) -> _RunResult:
    if excluded := await source.find_exclusion(tools, id):
        raise Conflict(f"source {id} is not read: {excluded}. Change the stop list of your profile")
    with output.show_progress(f"source {id}", quiet=as_json) as update:

        def show_progress(progress: CrawlProgress) -> None:
            details = f", {progress.details} of {progress.details_needed} details"
            update(
                f"{progress.pages} pages, {progress.postings} postings"
                + (details if progress.details_needed else "")
            )

        recorder = source.HostWaitRecorder(tools.fetch)
        crawl = await source_reader.crawl_source(
            replace(tools, fetch=recorder), id, os.environ, report=show_progress
        )
    if crawl.outcome == "held" and not crawl.calls and recorder.wait:
        result = await _postpone(tools, id, recorder.wait, crawl.detail or "")
        if as_json:
            output.print_json_lines([result])
        return result
    async with tools.db.transaction() as tx:
        saved = await source.save_crawl(tx, id=id, crawl=crawl)
        detail = crawl.detail or (await sources.get(tx, id)).last_detail
    result = _RunResult.from_saved(id, saved, detail)
    if as_json:
        output.print_json_lines([result])
    return result
