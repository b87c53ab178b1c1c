"""jobmill listing list|search|export: finding listings."""

from __future__ import annotations

import csv
import dataclasses
import datetime as dt
from collections.abc import AsyncIterator
from typing import Annotated, Literal, TextIO

import typer

from jobmill.catalog import listing_search, listings, posting_json
from jobmill.catalog.listing_search import ListingHit, ListingPage, ListingQuery
from jobmill.catalog.listings import Listing, to_posting
from jobmill.catalog.posting import format_salary
from jobmill.catalog.spreadsheet_cells import escape_formula
from jobmill.cli.support import files, output, session, times
from jobmill.cli.support.output import AsJson
from jobmill.db import Database, Tx

PAGE = 500
Limit = Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="At most so many.")]
After = Annotated[str | None, typer.Option(metavar="PAGE", help="The page to go on from.")]
Company = Annotated[
    str | None, typer.Option(help="Words of the company's name, or their beginnings.")
]
Location = Annotated[str | None, typer.Option(help="Words of a place, or their beginnings.")]
ArrangementName = Annotated[
    Literal["remote", "hybrid", "onsite"] | None,
    typer.Option("--arrangement", help="Where the work is done."),
]
PlatformName = Annotated[
    str | None, typer.Option("--platform", metavar="NAME", help="Only from this one.")
]
SourceNumber = Annotated[
    int | None,
    typer.Option("--source", metavar="ID", help="Only from this source."),
]
Seniority = Annotated[str | None, typer.Option(help="intern, junior, mid, senior, lead, …")]
Employment = Annotated[str | None, typer.Option("--type", help="full_time, part_time, contract, …")]
LeastPay = Annotated[
    float | None, typer.Option("--pay", metavar="AMOUNT", help="At least so much a year.")
]
Since = Annotated[
    int | None,
    typer.Option("--days", metavar="N", min=0, max=36_500, help="Found within the last N days."),
]
State = Annotated[
    Literal["open", "closed", "all"], typer.Option(help="Open ones, closed ones, or all.")
]
Duplicates = Annotated[bool, typer.Option("--duplicates", help="Also those linked to another one.")]


def list_listings(
    company: Company = None,
    location: Location = None,
    arrangement: ArrangementName = None,
    platform: PlatformName = None,
    source: SourceNumber = None,
    seniority: Seniority = None,
    employment: Employment = None,
    pay: LeastPay = None,
    days: Since = None,
    state: State = "open",
    duplicates: Duplicates = False,
    after: After = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List listings, newest first."""
    query = ListingQuery(
        company=company,
        location=location,
        arrangement=arrangement,
        platform=platform,
        source_id=source,
        seniority=seniority,
        employment_type=employment,
        min_salary=pay,
        since=_since(days),
        state=state,
        duplicates=duplicates,
    )
    _print_hits(query, after, limit, as_json)


def search(
    words: Annotated[str, typer.Argument(metavar="WORDS", help='Words, "phrases", or, -not.')],
    company: Company = None,
    location: Location = None,
    arrangement: ArrangementName = None,
    platform: PlatformName = None,
    source: SourceNumber = None,
    seniority: Seniority = None,
    employment: Employment = None,
    pay: LeastPay = None,
    days: Since = None,
    state: State = "open",
    duplicates: Duplicates = False,
    sort: Annotated[Literal["best", "newest"], typer.Option(help="Which come first.")] = "best",
    after: After = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Search listings by words in title, company, place and text."""
    query = ListingQuery(
        words=words,
        company=company,
        location=location,
        arrangement=arrangement,
        platform=platform,
        source_id=source,
        seniority=seniority,
        employment_type=employment,
        min_salary=pay,
        since=_since(days),
        state=state,
        duplicates=duplicates,
        sort=sort,
    )
    _print_hits(query, after, limit, as_json)


def _since(days: int | None) -> dt.datetime | None:
    return None if days is None else dt.datetime.now(dt.UTC) - dt.timedelta(days=days)


def _entry(hit: ListingHit) -> tuple[int, list[str | None], list[str | None]]:
    facts = [
        hit.location or ", ".join(hit.locations),
        hit.arrangement,
        format_salary(hit.salary_min, hit.salary_max, hit.salary_currency, hit.salary_period),
        f"closed {times.format_day(hit.closed_at)}" if hit.closed_at else None,
        f"found {times.format_day(hit.first_seen_at)}",
        f"via {hit.via}" if hit.via else None,
        f"{hit.others} more like it" if hit.others else None,
    ]
    return hit.id, [hit.title, hit.company], facts


def _print_hits(query: ListingQuery, after: str | None, limit: int, as_json: bool) -> None:
    async def find(tx: Tx) -> ListingPage:
        return await listing_search.find(tx, query, after=after, limit=limit)

    found = session.in_transaction(find)
    if as_json:
        output.print_json_lines(found.hits)
        if found.next:
            # Not among the listings: whoever reads lines gets nothing else on stdout.
            typer.echo(f"next page: --after {found.next}", err=True)
        return
    if not found.hits:
        typer.echo("No listings fit. `jobmill source list` says what was looked at, and when.")
        return
    output.print_entries(map(_entry, found.hits))
    if found.next:
        typer.echo(f"There are more: --after {found.next}")


def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to; - is stdout.")] = "-",
    form: Annotated[
        Literal["jsonl", "csv"], typer.Option("--format", help="One object a line, or a table.")
    ] = "jsonl",
    state: State = "open",
    days: Since = None,
    company: Company = None,
    duplicates: Duplicates = False,
) -> None:
    """Write listings to a file, with their whole text; a jsonl export can be read by `dedup`."""
    query = ListingQuery(company=company, since=_since(days), state=state, duplicates=duplicates)

    async def run(database: Database) -> int:
        with files.open_output(file) as out:
            return await _write(out, form, _all(database, query))

    count = session.with_database(run)
    if file != "-":
        typer.echo(f"{count} listings written to {file}")


async def _all(database: Database, query: ListingQuery) -> AsyncIterator[Listing]:
    """Page after page, each in a transaction of its own."""
    after = None
    while True:
        async with database.transaction() as tx:
            page = await listing_search.find(tx, query, after=after, limit=PAGE)
            whole = {
                one.id: one for one in await listings.by_ids(tx, [hit.id for hit in page.hits])
            }
        for hit in page.hits:
            if hit.id in whole:
                yield whole[hit.id]
        after = page.next
        if after is None:
            return


async def _write(out: TextIO, form: str, found: AsyncIterator[Listing]) -> int:
    names = [field.name for field in dataclasses.fields(Listing)]
    table = csv.writer(out) if form == "csv" else None
    if table:
        table.writerow(names)
    count = 0
    async for one in found:
        count += 1
        if table:
            table.writerow([escape_formula(getattr(one, name)) for name in names])
        else:
            kept = {"id": one.id, "first_seen_at": one.first_seen_at, "closed_at": one.closed_at}
            output.print_json(posting_json.to_record(to_posting(one)) | kept, out)
    return count
