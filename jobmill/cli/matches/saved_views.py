"""jobmill match view …: filters of the inbox that have a name."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from jobmill.cli.matches import match_output
from jobmill.cli.matches.statuses import StatusName
from jobmill.cli.support import hints, lookups, output, session
from jobmill.cli.support.lookups import ProfileName
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import NotFound
from jobmill.matching import match_json, matches, saved_views
from jobmill.matching.matches import Match
from jobmill.matching.profiles import ProfileVersion
from jobmill.matching.saved_views import InboxFilters, SavedView

app = typer.Typer(no_args_is_help=True, help="Keep filters of the inbox under names of your own.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a view.")]


@dataclass(frozen=True)
class Line:
    name: str
    status: str | None
    least: int | None
    arrangement: str | None
    find: str | None
    order: str
    made_at: dt.datetime
    made_by: str | None


def _line(view: SavedView) -> Line:
    return Line(
        view.name,
        view.status,
        view.least_score,
        view.arrangement,
        view.words,
        "newest" if view.newest else "best",
        view.made_at,
        view.made_by,
    )


@app.command("list")
def list_views(profile: ProfileName = None, as_json: AsJson = False) -> None:
    """List the views, by name."""

    async def ask(tx: Tx) -> list[SavedView]:
        return await saved_views.find_all(
            tx, (await lookups.choose_profile(tx, profile)).profile_id
        )

    found = session.in_transaction(ask)
    if not found and not as_json:
        typer.echo('There are none. `jobmill match view save "Good ones" --least 85` keeps one.')
        return
    output.print_rows([_line(one) for one in found], as_json=as_json)


@app.command()
def save(
    name: Name,
    status: Annotated[StatusName | None, typer.Option(metavar="STATUS", help="Only those.")] = None,
    least: Annotated[
        int | None, typer.Option(metavar="SCORE", min=0, max=100, help="At least this score.")
    ] = None,
    arrangement: Annotated[
        Literal["remote", "hybrid", "onsite"] | None, typer.Option(help="Where the work is done.")
    ] = None,
    find: Annotated[
        str | None, typer.Option(metavar="WORDS", help='Words, "phrases", or, -not.')
    ] = None,
    newest: Annotated[bool, typer.Option("--newest", help="The newest first.")] = False,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """Keep filters under a name; /matches shows it above the list."""
    filters = InboxFilters(status, least, arrangement, find, newest=newest)

    async def act(tx: Tx) -> SavedView:
        version = await lookups.choose_profile(tx, profile)
        return await saved_views.save(
            tx, version.profile_id, name, filters, actor=lookups.current_user()
        )

    output.print_record(_line(session.in_transaction(act)), as_json=as_json)


@app.command("show")
def show_view(
    name: Name,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="So many.")] = 20,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """List the matches of a view."""

    async def ask(tx: Tx) -> list[Match]:
        version, view = await _named(tx, profile, name)
        return await matches.find(tx, view.filters.to_query(version.profile_id, limit=limit))

    found = session.in_transaction(ask)
    for one in found:
        if as_json:
            output.print_json(match_json.to_dict(one))
        else:
            match_output.print_match_entry(one)
    if not found and not as_json:
        typer.echo("No match is like that at present.")


@app.command()
def remove(name: Name, profile: ProfileName = None, as_json: AsJson = False) -> None:
    """Remove a view; no match changes."""

    async def act(tx: Tx) -> SavedView:
        version, view = await _named(tx, profile, name)
        return await saved_views.remove(
            tx, version.profile_id, view.id, actor=lookups.current_user()
        )

    gone = session.in_transaction(act)
    if as_json:
        output.print_record(_line(gone), as_json=True)
    else:
        typer.echo(output.printable(f"The view {gone.name} is removed."))


async def _named(tx: Tx, profile: str | None, name: str) -> tuple[ProfileVersion, SavedView]:
    version = await lookups.choose_profile(tx, profile)
    try:
        return version, await saved_views.find_by_name(tx, version.profile_id, name)
    except NotFound as error:
        raise hints.NotFoundWithHint(
            f"there is no view {name}; `jobmill match view list` shows those there are"
        ) from error
