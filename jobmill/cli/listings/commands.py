"""jobmill listing: read, show, link and mark jobs of the catalog."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import (
    duplicate_links,
    duplicates,
    history,
    listing_pages,
    listings,
    posting_json,
)
from jobmill.catalog.listing_pages import ListingPage
from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import Posting
from jobmill.cli.listings import add, search
from jobmill.cli.support import files, inputs, output, posting_output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.extract.page import page_reader

app = typer.Typer(no_args_is_help=True)

ListingId = Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the job.")]


@app.command()
def read(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help='Saved pages; - reads {"url": …, "file" or "html": …} from stdin.'
        ),
    ],
    url: Annotated[str, typer.Option(help="URL of the page.")] = "",
    as_json: AsJson = False,
) -> None:
    """Read the job on a saved page without a model; nothing is fetched or saved."""
    inputs.for_each(
        files, "file", lambda fields: _print_page(fields, url, as_json), as_json=as_json
    )


def _print_page(fields: dict[str, Any], url: str, as_json: bool) -> None:
    html = inputs.get_text(fields, "html")
    page = page_reader.read_posting(
        inputs.read_named_file(fields, "html") if html is None else html,
        inputs.get_text(fields, "url") or url,
        # The caller says that the page is a posting.
        expected=True,
    )
    if page.posting is None:
        raise Invalid("there is no job on the page")
    if not as_json:
        posting_output.print_posting(page.posting)
        return
    extra = {"file": fields["file"]} if "file" in fields else {}
    output.print_json(
        posting_json.to_record(page.posting)
        | {"method": page.method, "closed": page.closed}
        | extra
    )


@app.command()
def dedup(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Postings, one JSON object per line; - is stdin."),
    ],
    as_json: AsJson = False,
) -> None:
    """Group postings of the same vacancy and tell why; nothing is removed.

    A posting is named by its `id` if all have one, else by the number of its line, from 0.
    `posts` lists the members that are the same post. A line that is not a posting is reported
    with its number, from 1, and skipped.
    """
    names, postings, all_valid = _read_postings(files.read_text(file), as_json)
    groups = duplicates.find_groups(postings, PLATFORM_RULES)
    for group in groups:
        members = [names[index] for index in group.members]
        output.print_result(
            {
                "canonical": names[group.canonical],
                "members": members,
                "why": group.why,
                "kind": group.kind,
                "posts": [[names[index] for index in post] for post in group.posts],
            },
            f"{names[group.canonical]}: {', '.join(map(str, members))} ({group.why})",
            as_json,
        )
    if not as_json:
        together = sum(len(group.members) for group in groups)
        grouped = f"{together} in {output.format_count(len(groups), 'group')}"
        typer.echo(f"{output.format_count(len(postings), 'posting')}: {grouped}, the others unique")
    if not all_valid:
        raise typer.Exit(1)


def _read_postings(text: str, as_json: bool) -> tuple[list[Any], list[Posting], bool]:
    """The names, the postings, and whether every line is a posting."""
    numbers: list[int] = []
    ids: list[Any] = []
    postings: list[Posting] = []
    all_valid = True
    for number, line in enumerate(text.split("\n")):
        if not line.strip():
            continue
        try:
            fields = inputs.parse_object(line, f"line {number + 1}")
            postings.append(posting_json.from_record(fields))
        except Invalid as error:
            all_valid = False
            inputs.report_error({}, number + 1, error, as_json=as_json)
            continue
        numbers.append(number)
        ids.append(fields.get("id"))
    have_ids = bool(ids) and None not in ids and len(set(map(str, ids))) == len(ids)
    return (ids if have_ids else numbers), postings, all_valid


@dataclass(frozen=True)
class _ListingDetails:
    listing: Listing
    completeness: str
    linked: list[int]
    events: list[Any]
    page: ListingPage | None
    """The last read of the job's own page, and which fields came from there."""


@app.command("show")
def show_listing(id: ListingId, as_json: AsJson = False) -> None:
    """Show a job with its text, duplicates and history."""

    async def read_details(tx: Tx) -> _ListingDetails:
        listing = await listings.get(tx, id)
        return _ListingDetails(
            listing,
            listings.completeness(listing),
            [int(linked) for linked in await duplicate_links.find_linked(tx, id)],
            await history.find_events(tx, "listing", id),
            await listing_pages.get(tx, listing.id),
        )

    details = session.in_transaction(read_details)
    if as_json:
        output.print_record(details, as_json=True)
        return
    posting_output.print_posting(listings.to_posting(details.listing))
    posting_output.print_listing_history(
        details.listing, details.completeness, details.linked, details.events
    )
    if details.page:
        typer.echo(output.printable(_describe_page(details.page)))


def _describe_page(page: ListingPage) -> str:
    """Which fields came from the job's own page; the others came from its source."""
    if page.fields:
        return f"from its own page ({page.url}): {', '.join(page.fields)}"
    return f"its own page ({page.url}) was not used: {page.note or page.outcome}"


@app.command()
def unlink(id: ListingId, as_json: AsJson = False) -> None:
    """Mark a job as not a duplicate, permanently."""
    _change(
        id,
        lambda tx: duplicate_links.unlink(tx, id, actor="command line"),
        "is not a duplicate",
        as_json,
    )


@app.command()
def link(
    id: ListingId,
    to: Annotated[
        int, typer.Argument(metavar="OTHER", min=1, help="Number of the job that it duplicates.")
    ],
    as_json: AsJson = False,
) -> None:
    """Mark a job as a duplicate of another one; undo with `jobmill listing unlink`."""
    _change(
        id,
        lambda tx: duplicate_links.link(tx, id, to, actor="command line"),
        f"is a duplicate of {to}",
        as_json,
    )


@app.command()
def mark(id: ListingId, as_json: AsJson = False) -> None:
    """Keep a job forever, even after it closes."""
    _change(id, lambda tx: listings.mark(tx, id, actor="command line"), "is kept forever", as_json)


def _change(id: int, act: Callable[[Tx], Awaitable[None]], message: str, as_json: bool) -> None:
    session.in_transaction(act)
    output.print_result({"id": id, "message": message}, f"Job {id} {message}.", as_json)


app.command()(add.add)
app.command("list")(search.list_listings)
app.command()(search.search)
app.command()(search.export)
