"""jobmill company: employers of jobs in the catalog."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from jobmill import app as assembly
from jobmill import queue
from jobmill.catalog import companies, history, sources
from jobmill.catalog.companies import Company, board_needs_approval, completeness
from jobmill.catalog.history import CatalogEvent
from jobmill.catalog.sources import Source
from jobmill.cli.support import environment, foreground_worker, hints, output, session, times
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import Invalid
from jobmill.pipelines import company as pipeline
from jobmill.queue import ItemId, inspect
from jobmill.tools import Tools

app = typer.Typer(no_args_is_help=True)

TierName = Literal["S", "A", "B", "C", "D"]


@dataclass(frozen=True)
class _AddedCompany:
    id: int
    name: str
    website: str | None
    item: int | None
    """The queue item that analyzes the company."""
    note: str


@app.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the company.")],
    website: Annotated[str | None, typer.Option(help="URL of its website.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Analyze it even if it is known and up to date.")
    ] = False,
    wait: Annotated[
        bool,
        typer.Option("--wait", help="Analyze it now, in this command, instead of in a worker."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a company: read its website, rate it and find its job board.

    A company that was analyzed in the last 30 days is left alone, unless you use --force.
    """
    _refuse_url(name)

    async def add_company(tools: Tools) -> tuple[_AddedCompany, _Analysis | None]:
        settings = environment.load_settings()
        await assembly.declare_stages(tools, settings)
        added = await _submit(tools, name, website, force)
        if not wait:
            return added, None
        items = [] if added.item is None else [added.item]
        await foreground_worker.finish_items(tools, settings, ("company",), items, quiet=as_json)
        return added, await _read_analysis(tools, added)

    added, analysis = session.with_tools(add_company)
    if as_json:
        output.print_record(analysis.company if analysis else added, as_json=True)
    elif analysis:
        _print_company(analysis.company)
        if analysis.trouble:
            typer.echo(output.printable(f"\n{hints.add_next_command(analysis.trouble)}"))
    else:
        output.print_record(added, as_json=False)
        typer.echo(f"A worker will analyze it (`jobmill up` starts one); then see `jobmill company show {added.id}`.")  # fmt: skip
    if analysis and analysis.company.analysis_status in ("failed", "analyzing"):
        raise typer.Exit(1)


def _refuse_url(name: str) -> None:
    if "://" in name or name.lower().startswith("www."):
        raise Invalid(f"{name} is a URL: use `jobmill company add NAME --website {name}`")


async def _submit(tools: Tools, name: str, website: str | None, force: bool) -> _AddedCompany:
    async with tools.db.transaction() as tx:
        company = await companies.get(tx, await pipeline.ensure_company(tx, name, website))
        item, note = None, "known and up to date; use --force to analyze it again"
        if force or not companies.is_up_to_date(company, await server_time(tx)):
            [submission] = await queue.submit_all(tx, [pipeline.new_item(company.id, force=force)])
            if isinstance(submission, queue.RefusedItem):
                item, note = submission.live, submission.message
            else:
                site = "" if company.website else ", but nothing can be read without --website"
                item, note = submission.id, f"queued{site}"
    return _AddedCompany(company.id, company.name, company.website, item, note)


@dataclass(frozen=True)
class _Analysis:
    company: Company
    trouble: str | None
    """Why the analysis is incomplete."""


async def _read_analysis(tools: Tools, added: _AddedCompany) -> _Analysis:
    async with tools.db.transaction() as tx:
        company = await companies.get(tx, added.id)
        events = await history.find_events(tx, "company", added.id)
        item = await inspect.get_item(tx, ItemId(added.item)) if added.item else None
    if item and item.status == "PENDING":
        later = f"It will be retried later (`jobmill queue show {item.id}`)"
        return _Analysis(company, f"{later}: {item.error_text or item.message or 'waiting'}")
    if item is None:
        return _Analysis(company, f"Nothing was read: {added.note}")
    reason = events[-1].data.get("why") if events else None
    sparse = (
        "Its website says too little about it." if company.analysis_status == "sparse" else None
    )
    return _Analysis(company, reason or sparse)


def _entry(company: Company) -> tuple[int, list[str | None], list[str | None]]:
    facts = [
        company.website,
        f"tier {company.tier} ({company.priority_score} points)" if company.tier else None,
        output.format_count(company.sources, "source"),
        output.format_count(company.open_listings, "open job"),
        f"profile: {completeness(company)}",
        company.analysis_status if company.analysis_status in ("analyzing", "failed") else None,
        f"job board {company.job_board_url} needs your approval"
        if board_needs_approval(company)
        else None,
    ]
    return company.id, [company.name], facts


@app.command("list")
def list_companies(
    q: Annotated[str | None, typer.Option("--find", help="Part of the name.")] = None,
    tier: Annotated[
        TierName | None, typer.Option(case_sensitive=False, help="Only companies of this tier.")
    ] = None,
    waiting: Annotated[
        bool, typer.Option("--waiting", help="Only companies whose job board needs your approval.")
    ] = False,
    after: Annotated[
        int, typer.Option(metavar="ID", min=0, help="Only companies after this one.")
    ] = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List companies, oldest first."""

    rows = session.in_transaction(
        lambda tx: companies.find(
            tx, q=q, tier=tier, needs_approval=waiting, after=after, limit=limit + 1
        )
    )
    empty = "No companies. They are added with jobs, or with `jobmill company add`."
    output.print_page(rows, _entry, limit=limit, option="--after", empty=empty, as_json=as_json)


@app.command("show")
def show_company(
    company: Annotated[
        str, typer.Argument(metavar="COMPANY", help="Number or name of the company.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show a company, its sources and its history."""

    async def read_details(tx: Tx) -> tuple[Company, list[Source], list[CatalogEvent]]:
        if company.isdecimal():
            row = await companies.get(tx, int(company))
        else:
            row = await companies.get_by_name(tx, company)
        company_sources = await sources.find(tx, company_id=row.id, limit=1_000)
        return row, company_sources, await history.find_events(tx, "company", row.id)

    row, company_sources, events = session.in_transaction(read_details)
    if as_json:
        details = {"company": row, "completeness": completeness(row)}
        output.print_json({**details, "sources": company_sources, "events": events})
        return
    _print_company(row)
    for source in company_sources:
        typer.echo(output.printable(f"source {source.id}: {source.name} ({source.status})"))
    for event in events:
        reason = hints.add_next_command(event.data.get("why") or event.data.get("status") or "")
        typer.echo(output.printable(f"{times.format_minute(event.at)} {event.what} {reason}"))


_FIELDS_OF_TIER = ("tier", "priority_score", "priority_items")


def _print_company(company: Company) -> None:
    """Print the facts of a company, the items of its tier and the state of its job board."""
    facts = dataclasses.asdict(company)
    shown = {
        name: value
        for name, value in facts.items()
        if value not in (None, [])
        and name not in _FIELDS_OF_TIER
        and not name.startswith("job_board_")
    }
    output.print_facts(shown)
    if company.tier:
        typer.echo(f"\ntier {company.tier}: {company.priority_score} points")
    for item in company.priority_items or ():
        evidence = f" ({', '.join(item['words'])})" if item["words"] else ""
        typer.echo(
            output.printable(
                f"  {item['points']:>3} of {item['most']} {item['name']}: {item['why']}{evidence}"
            )
        )
    if company.job_board_url:
        typer.echo(output.printable(f"\n{_describe_board(company)}"))
        typer.echo(output.printable(f"  {company.job_board_evidence}"))


def _describe_board(company: Company) -> str:
    detection = f"{company.job_board_type}, {company.job_board_confidence} confidence"
    state = company.job_board_decision
    if board_needs_approval(company):
        state = f"needs your approval: `jobmill approval approve board:{company.id}`, or `reject`"
    return f"job board: {company.job_board_url} ({detection}){': ' + state if state else ''}"
