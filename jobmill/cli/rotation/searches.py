"""jobmill rotate search: searches at sites that collect jobs of many employers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from jobmill.cli.support import output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.rotation import searches
from jobmill.rotation.searches import SavedSearch

app = typer.Typer(no_args_is_help=True, help="Manage searches: keywords and locations.")

SearchId = Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the search.")]


@app.command()
def add(
    platform: Annotated[str, typer.Argument(metavar="PLATFORM", help="jooble, reed, adzuna, …")],
    keywords: Annotated[
        list[str],
        typer.Argument(metavar="KEYWORDS", help="Keywords; each argument is a separate query."),
    ],
    location: Annotated[
        list[str] | None, typer.Option(help="Location; may be repeated; default: anywhere.")
    ] = None,
    priority: Annotated[int, typer.Option(min=0, max=100, help="Higher is read first.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Add a search; each pair of keywords and location is read in turn."""
    _run_and_print(
        lambda tx: searches.add(tx, platform, keywords, location or [""], priority=priority),
        as_json,
    )


@app.command("list")
def list_searches(as_json: AsJson = False) -> None:
    """List searches, highest priority first."""
    rows = session.in_transaction(searches.list_all)
    if as_json:
        output.print_json_lines(rows)
    elif not rows:
        typer.echo('No searches. Add one: jobmill rotate search add jooble "pump engineer"')
    else:
        output.print_entries((search.id, _title(search), _details(search)) for search in rows)


def _title(search: SavedSearch) -> list[str | None]:
    keywords = ", ".join(search.keywords) or "everything"
    return [keywords, search.platform, None if search.enabled else "disabled"]


def _details(search: SavedSearch) -> list[str | None]:
    places = ", ".join(filter(None, search.locations)) or "anywhere"
    return [places, f"priority {search.priority}", output.format_count(search.slices, "slice")]


@app.command()
def enable(id: SearchId, as_json: AsJson = False) -> None:
    """Enable a search."""
    _run_and_print(lambda tx: searches.update_search(tx, id, enabled=True), as_json)


@app.command()
def disable(id: SearchId, as_json: AsJson = False) -> None:
    """Disable a search; its queries pause unless another search needs them."""
    _run_and_print(lambda tx: searches.update_search(tx, id, enabled=False), as_json)


@app.command()
def prioritise(
    id: SearchId,
    priority: Annotated[
        int, typer.Argument(metavar="PRIORITY", min=0, max=100, help="Higher is read first.")
    ],
    as_json: AsJson = False,
) -> None:
    """Change the priority of a search."""
    _run_and_print(lambda tx: searches.update_search(tx, id, priority=priority), as_json)


@app.command()
def remove(id: SearchId, as_json: AsJson = False) -> None:
    """Delete a search; the jobs it found stay."""
    _run_and_print(lambda tx: searches.remove(tx, id), as_json)


def _run_and_print(act: Callable[[Tx], Awaitable[SavedSearch]], as_json: bool) -> None:
    search = session.in_transaction(act)
    if as_json:
        output.print_record(search, as_json=True)
    else:
        state = "enabled" if search.enabled else "disabled"
        typer.echo(f"Search {search.id} is {state}: {output.format_count(search.slices, 'slice')}.")
