"""jobmill listing …: the listings that were found."""

from __future__ import annotations

import csv
import dataclasses
import datetime as dt
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO, cast

import typer

from jobmill.cli import lines, show
from jobmill.cli.show import AsJson
from jobmill.errors import AppError, Invalid

if TYPE_CHECKING:
    from jobmill.catalog.listings import Listing
    from jobmill.catalog.posting import Posting
    from jobmill.catalog.search import Hit, Hits, Query
    from jobmill.db import Database, Tx

app = typer.Typer(
    no_args_is_help=True, help="Search, read and export the listings that were found."
)

Id = Annotated[int, typer.Argument(metavar="ID", min=1, help="The number of a listing.")]
Limit = Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="At most so many.")]
After = Annotated[str | None, typer.Option(metavar="PAGE", help="The page to go on from.")]
Company = Annotated[str | None, typer.Option(help="A part of the company's name.")]
Location = Annotated[str | None, typer.Option(help="A part of a place.")]
ArrangementName = Annotated[
    Literal["remote", "hybrid", "onsite"] | None,
    typer.Option("--arrangement", help="Where the work is done."),
]
PlatformName = Annotated[
    str | None, typer.Option("--platform", metavar="NAME", help="Only from this one.")
]
SourceNumber = Annotated[
    int | None, typer.Option("--source", metavar="ID", help="Only from this source.")
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
PAGE = 500


@app.command()
def read(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help='Saved pages; - reads {"url": …, "file" or "html": …} from stdin.'
        ),
    ],
    url: Annotated[str, typer.Option(help="Where the page was.")] = "",
    as_json: AsJson = False,
) -> None:
    """Read the posting of a saved page, without any model; nothing is fetched or saved."""
    failed = False
    for one in lines.given(files, "file"):
        try:
            _print_reading(one, url, as_json)
        except AppError as error:
            failed = True
            lines.complain(one.get("file"), error, as_json)
    if failed:
        raise typer.Exit(1)


def _print_reading(one: dict[str, Any], url: str, as_json: bool) -> None:
    from jobmill.catalog import record
    from jobmill.cli import postings
    from jobmill.ingest import page

    html = one["html"] if "html" in one else lines.read_file(one["file"])
    found = page.read(html, one.get("url") or url)
    if found.posting is None:
        raise Invalid("no posting was found on the page")
    if not as_json:
        postings.whole(found.posting)
        return
    extra = {"file": one["file"]} if "file" in one else {}
    lines.put(
        record.write(found.posting) | {"method": found.method, "closed": found.closed} | extra
    )


@app.command()
def dedup(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Canonical postings, one JSON object a line; - is stdin."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Group postings that are the same vacancy, and say why; nothing is removed.

    A posting is named by its `id` where all have one, else by the number of its line, from 0.
    """
    from jobmill.catalog import duplicates

    names, found = _numbered(file)
    groups = duplicates.group(found)
    for group in groups:
        members = [names[index] for index in group.members]
        if as_json:
            lines.put(
                {
                    "canonical": names[group.canonical],
                    "members": members,
                    "why": group.why,
                    "kind": group.kind,
                }
            )
        else:
            typer.echo(f"{names[group.canonical]}: {', '.join(map(str, members))} ({group.why})")
    if not as_json:
        together = sum(len(group.members) for group in groups)
        typer.echo(f"{len(found)} postings: {together} in {len(groups)} groups, the rest alone")


def _numbered(file: str) -> tuple[list[Any], list[Posting]]:
    from jobmill.catalog import record

    text = sys.stdin.read() if file == "-" else lines.read_file(file).decode("utf-8", "replace")
    ids: list[Any] = []
    found: list[Posting] = []
    for number, line in enumerate(filter(str.strip, text.split("\n"))):
        fields = lines.parse(line, f"line {number + 1}")
        ids.append(fields.get("id"))
        try:
            found.append(record.read(fields))
        except Invalid as error:
            raise Invalid(f"line {number + 1}: {error}") from None
    named = bool(ids) and None not in ids and len(set(map(str, ids))) == len(ids)
    return (ids if named else list(range(len(found)))), found


@app.command("list")
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
    query = _query(
        None, company, location, arrangement, platform, source, seniority, employment, pay, days,
        state, duplicates, "newest",
    )  # fmt: skip
    _print_hits(query, after, limit, as_json)


@app.command()
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
    query = _query(
        words, company, location, arrangement, platform, source, seniority, employment, pay, days,
        state, duplicates, sort,
    )  # fmt: skip
    _print_hits(query, after, limit, as_json)


def _query(
    words: str | None,
    company: str | None,
    location: str | None,
    arrangement: Literal["remote", "hybrid", "onsite"] | None,
    platform: str | None,
    source: int | None,
    seniority: str | None,
    employment: str | None,
    pay: float | None,
    days: int | None,
    state: Literal["open", "closed", "all"],
    duplicates: bool,
    sort: Literal["best", "newest"],
) -> Query:
    from jobmill.catalog.search import Query

    since = None if days is None else dt.datetime.now(dt.UTC) - dt.timedelta(days=days)
    return Query(
        words=words,
        company=company,
        location=location,
        arrangement=arrangement,
        platform=platform,
        source_id=source,
        seniority=seniority,
        employment_type=employment,
        least_pay=pay,
        since=since,
        state=state,
        duplicates=duplicates,
        sort=sort,
    )


@dataclass(frozen=True)
class HitRow:
    id: int
    title: str | None
    company: str | None
    location: str | None
    arrangement: str | None
    salary: str | None
    found: str
    also: str | None

    @staticmethod
    def of(hit: Hit) -> HitRow:
        from jobmill.cli.postings import pay

        return HitRow(
            hit.id,
            hit.title,
            hit.company,
            hit.location or " · ".join(hit.locations) or None,
            hit.arrangement,
            pay(hit.salary_min, hit.salary_max, hit.salary_currency, hit.salary_period),
            f"{hit.first_seen_at.astimezone():%Y-%m-%d}",
            f"{hit.others} more" if hit.others else None,
        )


def _print_hits(query: Query, after: str | None, limit: int, as_json: bool) -> None:
    from jobmill.catalog import search
    from jobmill.cli import session

    async def find(tx: Tx) -> Hits:
        return await search.find(tx, query, after=after, limit=limit)

    found = session.ask(find)
    if as_json:
        show.lines(found.hits)
        if found.next:
            # Not among the listings: whoever reads lines gets nothing else on stdout.
            typer.echo(f"next page: --after {found.next}", err=True)
        return
    if not found.hits:
        typer.echo("No listings fit. `jobmill source scrape --all` looks for new ones.")
        return
    show.many([HitRow.of(hit) for hit in found.hits], as_json=False)
    if found.next:
        typer.echo(f"There are more: --after {found.next}")


@dataclass(frozen=True)
class Story:
    listing: Listing
    completeness: str
    linked: list[int]
    events: list[Any]


@app.command("show")
def show_listing(id: Id, as_json: AsJson = False) -> None:
    """Show a listing in full, what is linked to it and how it changed."""
    from jobmill.catalog import history, links, listings
    from jobmill.cli import postings, session

    async def find(tx: Tx) -> Story:
        listing = await listings.get(tx, id)
        return Story(
            listing,
            listings.completeness(listing),
            [int(one) for one in await links.linked_to(tx, id)],
            await history.of(tx, "listing", id),
        )

    story = session.ask(find)
    if as_json:
        show.one(story, as_json=True)
        return
    postings.whole(listings.to_posting(story.listing))
    postings.story(story.listing, story.completeness, story.linked, story.events)


@app.command()
def unlink(id: Id, as_json: AsJson = False) -> None:
    """Say that a listing is no duplicate: it stands for itself, and stays so."""
    from jobmill.catalog import links

    _act(id, lambda tx: links.unlink(tx, id, actor="command line"), "stands for itself", as_json)


@app.command()
def link(
    id: Id,
    to: Annotated[int, typer.Argument(metavar="OTHER", min=1, help="The one it repeats.")],
    as_json: AsJson = False,
) -> None:
    """Say that a listing repeats another one; `listing unlink` takes it back."""
    from jobmill.catalog import links

    _act(id, lambda tx: links.link(tx, id, to, actor="command line"), f"repeats {to}", as_json)


@app.command()
def mark(id: Id, as_json: AsJson = False) -> None:
    """Keep a listing for ever, also when it is closed."""
    from jobmill.catalog import listings

    _act(id, lambda tx: listings.mark(tx, id, actor="command line"), "is kept", as_json)


@dataclass(frozen=True)
class Done:
    id: int
    message: str


def _act(id: int, act: Callable[[Tx], Awaitable[None]], words: str, as_json: bool) -> None:
    from jobmill.cli import session

    async def run(tx: Tx) -> None:
        await act(tx)

    session.ask(run)
    if as_json:
        show.one(Done(id, words), as_json=True)
    else:
        typer.echo(f"listing {id} {words}")


@app.command()
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
    from jobmill.cli import session

    query = _query(
        None, company, None, None, None, None, None, None, None, days, state, duplicates, "newest"
    )

    async def run(database: Database) -> int:
        from jobmill.cli.files import replacing

        with replacing(file) as out:
            return await _write(out, form, _all(database, query))

    count = session.use(run)
    if file != "-":
        typer.echo(f"{count} listings written to {file}")


async def _all(database: Database, query: Query) -> AsyncIterator[Listing]:
    """Page after page, each in a transaction of its own."""
    from jobmill.catalog import listings, search

    after = None
    while True:
        async with database.transaction() as tx:
            page = await search.find(tx, query, after=after, limit=PAGE)
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
    from jobmill.catalog import record
    from jobmill.catalog.listings import Listing, to_posting

    names = [field.name for field in dataclasses.fields(Listing)]
    table = csv.writer(out) if form == "csv" else None
    if table:
        table.writerow(names)
    count = 0
    async for one in found:
        count += 1
        if table:
            table.writerow([_cell(getattr(one, name)) for name in names])
        else:
            kept = {"id": one.id, "first_seen_at": one.first_seen_at, "closed_at": one.closed_at}
            lines.put(record.write(to_posting(one)) | kept, out)
    return count


def _cell(value: object) -> object:
    if isinstance(value, list):
        return "; ".join(cast(list[str], value))
    # A spreadsheet would run what begins like a formula.
    risky = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if risky else value
