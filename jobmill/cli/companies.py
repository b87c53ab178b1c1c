"""jobmill company …: who offers listings."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from jobmill import app as assembly
from jobmill import queue
from jobmill.catalog import companies, history, sources
from jobmill.catalog.companies import Company, board_needs_approval, completeness
from jobmill.catalog.sources import Source
from jobmill.cli.support import environment, foreground_worker, output, session, times
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import Invalid
from jobmill.pipelines import company as pipeline
from jobmill.queue import ItemId, inspect
from jobmill.tools import Tools

app = typer.Typer(no_args_is_help=True)

TierName = Literal["S", "A", "B", "C", "D"]


@dataclass(frozen=True)
class Added:
    id: int
    name: str
    website: str | None
    item: int | None
    """The item of the queue that analyses it."""
    note: str


@app.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    website: Annotated[str | None, typer.Option(help="Its own site.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Analyse it though enough is known and fresh.")
    ] = False,
    wait: Annotated[
        bool,
        typer.Option("--wait", help="Analyse it here and now instead of leaving it to a worker."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Follow a company: read its site, judge it, find its board.

    What is known well and is younger than 30 days is left alone, unless you say --force.
    """
    _refuse_address(name)

    async def act(tools: Tools) -> tuple[Added, Result | None]:
        settings = environment.load_settings()
        await assembly.declare_stages(tools, settings)
        added = await _submit(tools, name, website, force)
        if not wait:
            return added, None
        items = [] if added.item is None else [added.item]
        await foreground_worker.finish_items(tools, settings, ("company",), items, quiet=as_json)
        return added, await _look(tools, added)

    added, result = session.with_tools(act)
    if as_json:
        output.print_record(result.company if result else added, as_json=True)
    elif result:
        _tell(result.company)
        if result.trouble:
            typer.echo(output.printable(f"\n{result.trouble}"))
    else:
        output.print_record(added, as_json=False)
        typer.echo(f"`jobmill company show {added.id}` tells what a worker found (`jobmill up` starts one).")  # fmt: skip
    if result and result.company.analysis_status in ("failed", "analyzing"):
        raise typer.Exit(1)


def _refuse_address(name: str) -> None:
    if "://" in name or name.lower().startswith("www."):
        raise Invalid(
            f"{name} is an address: say `jobmill company add NAME --website {name}` with its name"
        )


async def _submit(tools: Tools, name: str, website: str | None, force: bool) -> Added:
    async with tools.db.transaction() as tx:
        company = await companies.get(tx, await pipeline.begin(tx, name, website))
        item, note = None, "enough is known of it, and that is fresh: --force analyses it again"
        if force or not companies.is_up_to_date(company, await server_time(tx)):
            [answer] = await queue.submit_all(tx, [pipeline.work(company.id, force=force)])
            if isinstance(answer, queue.RefusedItem):
                item, note = answer.live, answer.message
            else:
                site = "" if company.website else ", but without --website nothing can be read"
                item, note = answer.id, f"queued{site}"
    return Added(company.id, company.name, company.website, item, note)


@dataclass(frozen=True)
class Result:
    company: Company
    trouble: str | None
    """Why there is not more of it."""


async def _look(tools: Tools, added: Added) -> Result:
    async with tools.db.transaction() as tx:
        company = await companies.get(tx, added.id)
        events = await history.find_events(tx, "company", added.id)
        item = await inspect.get_item(tx, ItemId(added.item)) if added.item else None
    if item and item.status == "PENDING":
        later = f"It is tried again later (`jobmill queue show {item.id}`)"
        return Result(company, f"{later}: {item.error_text or item.message or 'it waits'}")
    if item is None:
        return Result(company, f"Nothing was read: {added.note}")
    told = events[-1].data.get("why") if events else None
    poor = "Its pages tell too little about it." if company.analysis_status == "sparse" else None
    return Result(company, told or poor)


def _entry(company: Company) -> tuple[int, list[str | None], list[str | None]]:
    facts = [
        company.website,
        f"tier {company.tier} ({company.priority_score} points)" if company.tier else None,
        output.format_count(company.sources, "source"),
        output.format_count(company.open_listings, "open listing"),
        f"known: {completeness(company)}",
        company.analysis_status if company.analysis_status in ("analyzing", "failed") else None,
        f"board: {company.job_board_url} waits for you" if board_needs_approval(company) else None,
    ]
    return company.id, [company.name], facts


@app.command("list")
def list_companies(
    q: Annotated[str | None, typer.Option("--find", help="A part of the name.")] = None,
    tier: Annotated[
        TierName | None, typer.Option(case_sensitive=False, help="Only those of this tier.")
    ] = None,
    waiting: Annotated[
        bool, typer.Option("--waiting", help="Only those whose board waits for your approval.")
    ] = False,
    after: Annotated[int, typer.Option(metavar="ID", min=0, help="Only those after this one.")] = 0,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="At most so many.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """List companies, in the order in which they came."""

    async def find(tx: Tx) -> list[Company]:
        return await companies.find(
            tx, q=q, tier=tier, needs_approval=waiting, after=after, limit=limit + 1
        )

    found = session.in_transaction(find)
    if as_json:
        output.print_json_lines(found[:limit])
        return
    if not found:
        typer.echo("No companies. They come with listings, or by `jobmill company add`.")
        return
    output.print_entries(map(_entry, found[:limit]))
    if len(found) > limit:
        typer.echo(f"There are more: --after {found[limit - 1].id}")


@dataclass(frozen=True)
class Story:
    company: Company
    completeness: str
    sources: list[Source]
    events: list[Any]


@app.command("show")
def show_company(
    company: Annotated[str, typer.Argument(metavar="COMPANY", help="Its number or its name.")],
    as_json: AsJson = False,
) -> None:
    """Show a company: what is known of it, its sources and what happened to it."""

    async def find(tx: Tx) -> Story:
        if company.isdecimal():
            found = await companies.get(tx, int(company))
        else:
            found = await companies.get_by_name(tx, company)
        return Story(
            found,
            companies.completeness(found),
            await sources.find(tx, company_id=found.id, limit=1_000),
            await history.find_events(tx, "company", found.id),
        )

    story = session.in_transaction(find)
    if as_json:
        output.print_record(story, as_json=True)
        return
    _tell(story.company)
    for source in story.sources:
        typer.echo(output.printable(f"source {source.id}: {source.name} ({source.status})"))
    for event in story.events:
        said = event.data.get("why") or event.data.get("status") or ""
        typer.echo(output.printable(f"{times.format_minute(event.at)} {event.what} {said}"))


_TOLD_APART = ("tier", "priority_score", "priority_items")


def _tell(company: Company) -> None:
    """A company for people: its facts, what its tier is made of, and what its board waits for."""
    facts = dataclasses.asdict(company)
    kept = {
        name: value
        for name, value in facts.items()
        if value not in (None, []) and name not in _TOLD_APART and not name.startswith("job_board_")
    }
    output.print_facts(kept)
    if company.tier:
        typer.echo(f"\ntier {company.tier}: {company.priority_score} points")
    for item in company.priority_items or ():
        words = f" ({', '.join(item['words'])})" if item["words"] else ""
        typer.echo(
            output.printable(
                f"  {item['points']:>3} of {item['most']} {item['name']}: {item['why']}{words}"
            )
        )
    if company.job_board_url:
        typer.echo(output.printable(f"\n{_board(company)}"))
        typer.echo(output.printable(f"  {company.job_board_evidence}"))


def _board(company: Company) -> str:
    sure = f"{company.job_board_type}, {company.job_board_confidence} confidence"
    state = company.job_board_decision
    if board_needs_approval(company):
        state = f"waits for you: `jobmill approval approve board:{company.id}`, or `reject`"
    return f"board: {company.job_board_url} ({sure}){': ' + state if state else ''}"
