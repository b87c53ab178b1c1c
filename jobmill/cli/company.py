"""jobmill company …: who offers listings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobmill.cli import show
from jobmill.cli.show import AsJson

if TYPE_CHECKING:
    from jobmill.catalog.companies import Company
    from jobmill.catalog.sources import Source
    from jobmill.db import Tx

app = typer.Typer(no_args_is_help=True, help="See who offers listings, and what is known of them.")


def _entry(company: Company) -> tuple[int, list[str | None], list[str | None]]:
    from jobmill.catalog.companies import completeness

    facts = [
        company.website,
        f"tier {company.tier}" if company.tier else None,
        show.count(company.sources, "source"),
        show.count(company.open_listings, "open listing"),
        f"known: {completeness(company)}",
    ]
    return company.id, [company.name], facts


@app.command("list")
def list_companies(
    q: Annotated[str | None, typer.Option("--find", help="A part of the name.")] = None,
    after: Annotated[int, typer.Option(metavar="ID", min=0, help="Only those after this one.")] = 0,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="At most so many.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """List companies, in the order in which they came."""
    from jobmill.catalog import companies
    from jobmill.cli import session

    async def find(tx: Tx) -> list[Company]:
        return await companies.find(tx, q=q, after=after, limit=limit + 1)

    found = session.ask(find)
    if as_json:
        show.lines(found[:limit])
        return
    if not found:
        typer.echo("No companies. They come with the listings of your sources.")
        return
    show.entries(map(_entry, found[:limit]))
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
    from jobmill.catalog import companies, history, sources
    from jobmill.cli import session

    async def find(tx: Tx) -> Story:
        if company.isdecimal():
            found = await companies.get(tx, int(company))
        else:
            found = await companies.by_name(tx, company)
        return Story(
            found,
            companies.completeness(found),
            await sources.find(tx, company_id=found.id, limit=1_000),
            await history.of(tx, "company", found.id),
        )

    story = session.ask(find)
    if as_json:
        show.one(story, as_json=True)
        return
    show.one(story.company, as_json=False)
    for source in story.sources:
        typer.echo(f"source {source.id}: {source.name} ({source.status})")
