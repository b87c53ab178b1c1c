"""jobmill listing …: the listings that were found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import duplicate_links, duplicates, history, listings, posting_json
from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import Posting
from jobmill.cli.listings import add, search
from jobmill.cli.support import files, inputs, output, posting_output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.extract.page import page_reader

app = typer.Typer(no_args_is_help=True)

Id = Annotated[int, typer.Argument(metavar="ID", min=1, help="The number of a listing.")]


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
    inputs.for_each(files, "file", lambda one: _print_reading(one, url, as_json), as_json=as_json)


def _print_reading(one: dict[str, Any], url: str, as_json: bool) -> None:
    html = inputs.get_text(one, "html")
    found = page_reader.read_posting(
        inputs.read_named_file(one, "html") if html is None else html,
        inputs.get_text(one, "url") or url,
        # Whoever hands a page in says that it is a posting's.
        expected=True,
    )
    if found.posting is None:
        raise Invalid("no posting was found on the page")
    if not as_json:
        posting_output.print_posting(found.posting)
        return
    extra = {"file": one["file"]} if "file" in one else {}
    output.print_json(
        posting_json.to_record(found.posting)
        | {"method": found.method, "closed": found.closed}
        | extra
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
    `posts` says which members are one and the same post. A line that is no posting is complained
    of, with its number from 1, and left out.
    """
    names, found, whole = _named(files.read_text(file), as_json)
    groups = duplicates.find_groups(found, PLATFORM_RULES)
    for group in groups:
        members = [names[index] for index in group.members]
        if as_json:
            output.print_json(
                {
                    "canonical": names[group.canonical],
                    "members": members,
                    "why": group.why,
                    "kind": group.kind,
                    "posts": [[names[index] for index in post] for post in group.posts],
                }
            )
        else:
            typer.echo(f"{names[group.canonical]}: {', '.join(map(str, members))} ({group.why})")
    if not as_json:
        together = sum(len(group.members) for group in groups)
        groups_of = f"{together} in {output.format_count(len(groups), 'group')}"
        typer.echo(f"{output.format_count(len(found), 'posting')}: {groups_of}, the rest alone")
    if not whole:
        raise typer.Exit(1)


def _named(text: str, as_json: bool) -> tuple[list[Any], list[Posting], bool]:
    """Names and postings; and whether every line was one."""
    numbers: list[int] = []
    ids: list[Any] = []
    found: list[Posting] = []
    wrong = 0
    for number, line in enumerate(text.split("\n")):
        if not line.strip():
            continue
        try:
            fields = inputs.parse_object(line, f"line {number + 1}")
            found.append(posting_json.from_record(fields))
        except Invalid as error:
            wrong += 1
            inputs.report_error({}, number + 1, error, as_json=as_json)
            continue
        numbers.append(number)
        ids.append(fields.get("id"))
    named = bool(ids) and None not in ids and len(set(map(str, ids))) == len(ids)
    return (ids if named else numbers), found, wrong == 0


@dataclass(frozen=True)
class Story:
    listing: Listing
    completeness: str
    linked: list[int]
    events: list[Any]


@app.command("show")
def show_listing(id: Id, as_json: AsJson = False) -> None:
    """Show a listing in full, what is linked to it and how it changed."""

    async def find(tx: Tx) -> Story:
        listing = await listings.get(tx, id)
        return Story(
            listing,
            listings.completeness(listing),
            [int(one) for one in await duplicate_links.find_linked(tx, id)],
            await history.find_events(tx, "listing", id),
        )

    story = session.in_transaction(find)
    if as_json:
        output.print_record(story, as_json=True)
        return
    posting_output.print_posting(listings.to_posting(story.listing))
    posting_output.print_listing_history(
        story.listing, story.completeness, story.linked, story.events
    )


@app.command()
def unlink(id: Id, as_json: AsJson = False) -> None:
    """Say that a listing is no duplicate: it stands for itself, and stays so."""
    _act(
        id,
        lambda tx: duplicate_links.unlink(tx, id, actor="command line"),
        "stands for itself",
        as_json,
    )


@app.command()
def link(
    id: Id,
    to: Annotated[int, typer.Argument(metavar="OTHER", min=1, help="The one it repeats.")],
    as_json: AsJson = False,
) -> None:
    """Say that a listing repeats another one; `listing unlink` takes it back."""
    _act(
        id,
        lambda tx: duplicate_links.link(tx, id, to, actor="command line"),
        f"repeats {to}",
        as_json,
    )


@app.command()
def mark(id: Id, as_json: AsJson = False) -> None:
    """Keep a listing for ever, also when it is closed."""
    _act(id, lambda tx: listings.mark(tx, id, actor="command line"), "is kept", as_json)


@dataclass(frozen=True)
class Done:
    id: int
    message: str


def _act(id: int, act: Callable[[Tx], Awaitable[None]], words: str, as_json: bool) -> None:
    async def run(tx: Tx) -> None:
        await act(tx)

    session.in_transaction(run)
    if as_json:
        output.print_record(Done(id, words), as_json=True)
    else:
        typer.echo(f"listing {id} {words}")


app.command()(add.add)
app.command("list")(search.list_listings)
app.command()(search.search)
app.command()(search.export)
