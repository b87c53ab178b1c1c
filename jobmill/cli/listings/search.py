"""jobmill listing list, search, export: find jobs in the catalog."""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import dataclass, fields, replace
from typing import Annotated, Literal, TextIO

import typer

from jobmill.catalog import listing_search, listings, posting_json
from jobmill.catalog.csv_files import escape_formula
from jobmill.catalog.listing_search import ListingHit, ListingQuery
from jobmill.catalog.listings import Listing, to_posting
from jobmill.catalog.posting import format_salary
from jobmill.cli.support import files, output, session, times
from jobmill.cli.support.option_groups import expand_options
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Database

PAGE_SIZE = 500
After = Annotated[
    str | None, typer.Option(metavar="PAGE", help="Next page, as printed by the previous one.")
]
Company = Annotated[str | None, typer.Option(help="Words of the company name, or prefixes.")]
Since = Annotated[
    int | None,
    typer.Option("--days", metavar="N", min=0, max=36_500, help="Found in the last N days."),
]
State = Annotated[
    Literal["open", "closed", "all"], typer.Option(help="Open jobs, closed jobs, or all.")
]
Duplicates = Annotated[bool, typer.Option("--duplicates", help="Also list duplicates.")]


@dataclass(frozen=True, slots=True)
class ListingFilters:
    """The options that filter jobs."""

    company: Company = None
    location: Annotated[str | None, typer.Option(help="Words of the location, or prefixes.")] = None
    arrangement: Annotated[
        Literal["remote", "hybrid", "onsite"] | None,
        typer.Option("--arrangement", help="Work arrangement."),
    ] = None
    platform: Annotated[
        str | None, typer.Option("--platform", metavar="NAME", help="Only jobs from this platform.")
    ] = None
    source: Annotated[
        int | None,
        typer.Option("--source", metavar="ID", help="Only jobs from this source."),
    ] = None
    seniority: Annotated[str | None, typer.Option(help="intern, junior, mid, senior, lead, …")] = (
        None
    )
    employment: Annotated[
        str | None, typer.Option("--type", help="full_time, part_time, contract, …")
    ] = None
    pay: Annotated[
        float | None, typer.Option("--pay", metavar="AMOUNT", help="Minimum pay per year.")
    ] = None
    days: Since = None
    state: State = "open"
    duplicates: Duplicates = False

    def to_query(self) -> ListingQuery:
        return ListingQuery(
            company=self.company,
            location=self.location,
            arrangement=self.arrangement,
            platform=self.platform,
            source_id=self.source,
            seniority=self.seniority,
            employment_type=self.employment,
            min_salary=self.pay,
            since=_since(self.days),
            state=self.state,
            duplicates=self.duplicates,
        )


@expand_options
def list_listings(
    filters: ListingFilters, after: After = None, limit: Limit = 50, as_json: AsJson = False
) -> None:
    """List jobs, newest first."""
    _print_hits(filters.to_query(), after, limit, as_json)


@expand_options
def search(
    words: Annotated[str, typer.Argument(metavar="WORDS", help='Words, "phrases", or, -not.')],
    filters: ListingFilters,
    sort: Annotated[Literal["best", "newest"], typer.Option(help="Sort order.")] = "best",
    after: After = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Search jobs by words in title, company, location and text."""
    query = replace(filters.to_query(), words=words, sort=sort)
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
    page = session.in_transaction(
        lambda tx: listing_search.find(tx, query, after=after, limit=limit)
    )
    empty = "No jobs match. `jobmill source list` shows which sources were read, and when."
    output.print_list(page.hits, _entry, empty=empty, as_json=as_json)
    if page.next:
        output.print_more_hint("--after", page.next)


def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Output file; - is stdout.")] = "-",
    form: Annotated[
        Literal["jsonl", "csv"],
        typer.Option("--format", help="One JSON object per line, or a table."),
    ] = "jsonl",
    state: State = "open",
    days: Since = None,
    company: Company = None,
    duplicates: Duplicates = False,
) -> None:
    """Export jobs with their full text; `jobmill listing dedup` can read a jsonl export."""
    query = ListingQuery(company=company, since=_since(days), state=state, duplicates=duplicates)

    async def write_listings(database: Database) -> int:
        with files.open_output(file) as out:
            return await _write(out, form, _iter_listings(database, query))

    count = session.with_database(write_listings)
    if file != "-":
        typer.echo(f"{output.format_count(count, 'job')} written to {file}")


async def _iter_listings(database: Database, query: ListingQuery) -> AsyncIterator[Listing]:
    """Read page by page, each in its own transaction."""
    after = None
    while True:
        async with database.transaction() as tx:
            page = await listing_search.find(tx, query, after=after, limit=PAGE_SIZE)
            rows = await listings.by_ids(tx, [hit.id for hit in page.hits])
        by_id = {listing.id: listing for listing in rows}
        for hit in page.hits:
            if hit.id in by_id:
                yield by_id[hit.id]
        after = page.next
        if after is None:
            return


async def _write(out: TextIO, form: str, rows: AsyncIterator[Listing]) -> int:
    names = [field.name for field in fields(Listing)]
    table = csv.writer(out) if form == "csv" else None
    if table:
        table.writerow(names)
    count = 0
    async for listing in rows:
        count += 1
        if table:
            table.writerow([escape_formula(getattr(listing, name)) for name in names])
        else:
            extra = {
                "id": listing.id,
                "first_seen_at": listing.first_seen_at,
                "closed_at": listing.closed_at,
            }
            output.print_json(posting_json.to_record(to_posting(listing)) | extra, out)
    return count
