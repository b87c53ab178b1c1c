"""jobmill rotate search …: what is looked for at sites that gather postings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from jobmill.cli.support import output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.rotation import searches
from jobmill.rotation.searches import SavedSearch

app = typer.Typer(no_args_is_help=True, help="Say what is looked for, and where.")

Id = Annotated[int, typer.Argument(metavar="ID", min=1, help="The number of a search.")]


@app.command()
def add(
    platform: Annotated[str, typer.Argument(metavar="PLATFORM", help="jooble, reed, adzuna, …")],
    keywords: Annotated[
        list[str], typer.Argument(metavar="KEYWORDS", help="Each is a search of its own.")
    ],
    location: Annotated[
        list[str] | None, typer.Option(help="Where; may be repeated, left out: anywhere.")
    ] = None,
    priority: Annotated[int, typer.Option(min=0, max=100, help="Higher is called first.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Look for these words in these places; each pair becomes a slice that runs in turn."""
    _tell(
        lambda tx: searches.add(tx, platform, keywords, location or [""], priority=priority),
        as_json,
    )


@app.command("list")
def list_searches(as_json: AsJson = False) -> None:
    """List searches, the most wanted first."""
    found = session.in_transaction(searches.list_all)
    if as_json:
        output.print_json_lines(found)
    elif not found:
        typer.echo('No searches. Add one: jobmill rotate search add jooble "pump engineer"')
    else:
        output.print_entries((one.id, _what(one), _facts(one)) for one in found)


def _what(one: SavedSearch) -> list[str | None]:
    return [", ".join(one.keywords) or "everything", one.platform, None if one.enabled else "off"]


def _facts(one: SavedSearch) -> list[str | None]:
    places = ", ".join(filter(None, one.locations)) or "anywhere"
    return [places, f"priority {one.priority}", output.format_count(one.slices, "slice")]


@app.command()
def enable(id: Id, as_json: AsJson = False) -> None:
    """Let a search run."""
    _tell(lambda tx: searches.update_search(tx, id, enabled=True), as_json)


@app.command()
def disable(id: Id, as_json: AsJson = False) -> None:
    """Stop a search; its slices rest unless another search wants them."""
    _tell(lambda tx: searches.update_search(tx, id, enabled=False), as_json)


@app.command()
def prioritise(
    id: Id,
    priority: Annotated[
        int, typer.Argument(metavar="PRIORITY", min=0, max=100, help="Higher is called first.")
    ],
    as_json: AsJson = False,
) -> None:
    """Put a search further ahead or behind."""
    _tell(lambda tx: searches.update_search(tx, id, priority=priority), as_json)


@app.command()
def remove(id: Id, as_json: AsJson = False) -> None:
    """Forget a search; the listings that it found stay."""
    _tell(lambda tx: searches.remove(tx, id), as_json)


def _tell(act: Callable[[Tx], Awaitable[SavedSearch]], as_json: bool) -> None:
    search = session.in_transaction(act)
    if as_json:
        output.print_record(search, as_json=True)
    else:
        state = "on" if search.enabled else "off"
        typer.echo(f"search {search.id} is {state}: {output.format_count(search.slices, 'slice')}")
