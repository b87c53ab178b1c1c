"""jobmill match view: saved filters of matches."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from jobmill.cli.matches import match_output
from jobmill.cli.matches.statuses import StatusName
from jobmill.cli.support import hints, lookups, output, session
from jobmill.cli.support.lookups import ProfileName
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Tx
from jobmill.errors import NotFound
from jobmill.matching import matches, saved_views
from jobmill.matching.matches import Match
from jobmill.matching.profiles import ProfileVersion
from jobmill.matching.saved_views import InboxFilters, SavedView

app = typer.Typer(no_args_is_help=True, help="Save filters of matches as named views.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the view.")]


def _make_row(view: SavedView) -> dict[str, object]:
    return {
        "name": view.name,
        "status": view.status,
        "least": view.min_score,
        "arrangement": view.arrangement,
        "find": view.words,
        "order": "newest" if view.newest else "best",
        "made_at": view.created_at,
        "made_by": view.created_by,
    }


@app.command("list")
def list_views(profile: ProfileName = None, as_json: AsJson = False) -> None:
    """List the saved views, by name."""

    async def read(tx: Tx) -> list[SavedView]:
        return await saved_views.find_all(
            tx, (await lookups.choose_profile(tx, profile)).profile_id
        )

    views = session.in_transaction(read)
    empty = 'No views yet. Save one: jobmill match view save "Top matches" --least 85'
    output.print_rows([_make_row(view) for view in views], as_json=as_json, empty=empty)


@app.command()
def save(
    name: Name,
    status: Annotated[
        StatusName | None, typer.Option(metavar="STATUS", help="Only matches with this status.")
    ] = None,
    least: Annotated[
        int | None, typer.Option(metavar="SCORE", min=0, max=100, help="Minimum score.")
    ] = None,
    arrangement: Annotated[
        Literal["remote", "hybrid", "onsite"] | None, typer.Option(help="Work arrangement.")
    ] = None,
    find: Annotated[
        str | None, typer.Option(metavar="WORDS", help='Words, "phrases", or, -not.')
    ] = None,
    newest: Annotated[bool, typer.Option("--newest", help="Newest first.")] = False,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """Save filters as a view; the page /matches shows it, too."""
    filters = InboxFilters(status, least, arrangement, find, newest=newest)

    async def act(tx: Tx) -> SavedView:
        version = await lookups.choose_profile(tx, profile)
        return await saved_views.save(
            tx, version.profile_id, name, filters, actor=lookups.current_user()
        )

    output.print_record(_make_row(session.in_transaction(act)), as_json=as_json)


@app.command("show")
def show_view(
    name: Name,
    limit: Limit = 20,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """List the matches of a view."""

    async def read(tx: Tx) -> list[Match]:
        version, view = await _find_view(tx, profile, name)
        return await matches.find(tx, view.filters.to_query(version.profile_id, limit=limit))

    page = session.in_transaction(read)
    match_output.print_matches(page, {}, as_json=as_json)
    if not page and not as_json:
        typer.echo("No matches in this view.")


@app.command()
def remove(name: Name, profile: ProfileName = None, as_json: AsJson = False) -> None:
    """Remove a view. Its matches do not change."""

    async def act(tx: Tx) -> SavedView:
        version, view = await _find_view(tx, profile, name)
        return await saved_views.remove(
            tx, version.profile_id, view.id, actor=lookups.current_user()
        )

    removed = session.in_transaction(act)
    output.print_result(
        _make_row(removed), output.printable(f"View {removed.name} removed."), as_json
    )


async def _find_view(tx: Tx, profile: str | None, name: str) -> tuple[ProfileVersion, SavedView]:
    version = await lookups.choose_profile(tx, profile)
    try:
        return version, await saved_views.find_by_name(tx, version.profile_id, name)
    except NotFound as error:
        raise hints.NotFoundWithHint(
            f"view {name} does not exist; `jobmill match view list` lists the existing ones"
        ) from error
