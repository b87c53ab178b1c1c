"""jobmill setup: first steps with your own companies and models."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from jobmill.catalog import companies as catalog_companies
from jobmill.cli.support import environment, lookups, output, session
from jobmill.cli.support.lookups import ProfileName
from jobmill.cli.support.output import AsJson
from jobmill.db import Database, Tx
from jobmill.errors import Invalid, NotFound
from jobmill.matching.profile import Profile
from jobmill.outside import model_check
from jobmill.outside.model_check import ModelTrial
from jobmill.pipelines import first_boards
from jobmill.pipelines.first_boards import AddedBoards, BoardChoices
from jobmill.pipelines.model_configuration import read_configuration
from jobmill.rotation import bundled_companies, company_suggestions
from jobmill.rotation.company_suggestions import SearchSuggestion

app = typer.Typer(no_args_is_help=True)


@app.command()
def companies(
    search: Annotated[
        str, typer.Option(metavar="WORDS", help="Only companies with all of these words.")
    ] = "",
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """List the companies that come with Jobmill, those that fit your profile first; `jobmill setup add
    KEY` adds one."""
    listed = bundled_companies.search_companies(search)
    wanted, open_titles = session.in_transaction(lambda tx: _read_profile_and_titles(tx, profile))
    rows = [
        {
            **output.pick(suggestion.company, "key", "name", "about"),
            # What of the profile it fits.
            "matches": list(suggestion.matches),
        }
        for suggestion in company_suggestions.rank_companies(wanted, listed, open_titles)
    ]
    empty = "No company matches. Add any job board or careers page: jobmill setup add URL"
    output.print_table(rows, as_json=as_json, empty=empty)
    if wanted and wanted.titles and not search and not any(row["matches"] for row in rows):
        typer.echo(
            f"No company in the list is known to hire for: {output.printable(', '.join(wanted.titles))}. "
            "Search job sites instead: jobmill setup searches",
            err=True,
        )


async def _read_profile_and_titles(
    tx: Tx, profile: str | None
) -> tuple[Profile | None, Mapping[str, Sequence[str]]]:
    """The profile, and the titles of open jobs by company."""
    names = bundled_companies.all_names()
    return await _find_profile(tx, profile), await catalog_companies.find_open_titles(tx, names)


async def _find_profile(tx: Tx, name: str | None) -> Profile | None:
    """The profile; None if there is none yet and none was asked for."""
    try:
        return (await lookups.choose_profile(tx, name)).profile()
    except NotFound:
        if name:
            raise
        return None


@app.command("searches")
def suggest_searches(
    save: Annotated[
        list[str] | None, typer.Option("--add", metavar="PLATFORM", help="Add this search.")
    ] = None,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """List searches for the titles and places of your profile; `--add PLATFORM` adds one."""

    async def act(tx: Tx) -> list[SearchSuggestion]:
        wanted = (await lookups.choose_profile(tx, profile)).profile()
        suggestions = company_suggestions.suggest_searches(wanted, os.environ)
        chosen = [suggestion for suggestion in suggestions if suggestion.platform in (save or ())]
        _check_searches(save or [], chosen)
        await first_boards.add_searches(tx, chosen)
        return chosen if save else suggestions

    rows = [
        {
            "platform": row.platform,
            "keywords": list(row.keywords),
            "locations": list(row.locations),
            "missing_keys": list(row.missing_keys),
        }
        for row in session.in_transaction(act)
    ]
    empty = "No searches: your profile names no job titles. Add some: jobmill profile edit"
    output.print_table(rows, as_json=as_json, empty=empty)


def _check_searches(names: list[str], chosen: list[SearchSuggestion]) -> None:
    if unknown := set(names) - {suggestion.platform for suggestion in chosen}:
        raise Invalid(f"no search is suggested for {', '.join(sorted(unknown))}")
    for suggestion in chosen:
        if suggestion.missing_keys:
            keys = ", ".join(suggestion.missing_keys)
            raise Invalid(f"{suggestion.platform} needs {keys} in the environment")


@app.command()
def add(
    boards: Annotated[
        list[str] | None,
        typer.Argument(metavar="PLATFORM/SLUG|URL", help="Job boards, or pages that link to one."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add job boards as sources that a worker reads next; other pages are searched for a board."""
    choices = first_boards.parse_lines(boards or [])
    _check(choices)

    added = session.in_transaction(
        lambda tx: first_boards.add_boards(tx, choices, by=lookups.current_user()), declared=True
    )
    if as_json:
        output.print_json(asdict(added))
        return
    _print_result(added)


def _check(choices: BoardChoices) -> None:
    """Refuse all choices if one is not understood, and name those."""
    if choices.invalid:
        raise Invalid(
            "nothing was added: " + "; ".join(f"{line}: {why}" for line, why in choices.invalid)
        )
    if not choices.boards and not choices.pages:
        raise Invalid(
            "name at least one board: PLATFORM/SLUG from `jobmill setup companies`, or a URL"
        )


def _print_result(added: AddedBoards) -> None:
    if added.boards:
        existing = added.boards - added.new
        note = f", {existing} already added" if existing else ""
        typer.echo(f"{output.format_count(added.boards, 'board')}: {added.new} new{note}.")
    if added.pages:
        typer.echo(f"{output.format_count(added.pages, 'page')} will be searched for a job board.")
    typer.echo("Next: a worker reads them (`jobmill up`); then see `jobmill match list`", err=True)


@app.command("check-model")
def check_model(as_json: AsJson = False) -> None:
    """Send a short prompt to each configured model; exit code 1 if none answers."""
    settings = environment.load_settings()

    async def act(database: Database) -> list[ModelTrial]:
        async with database.transaction() as tx:
            configuration = await read_configuration(tx, settings, os.environ)
        return await model_check.check_models(
            database, configuration.settings, configuration.environ
        )

    trials = session.with_database(act)
    checks = [
        output.pick(trial, "tier", "model", "ok", "detail")
        | {"cost": None if trial.cost is None else float(trial.cost)}
        for trial in trials
    ]
    output.print_table(checks, as_json=as_json)
    if not any(trial.ok for trial in trials):
        raise typer.Exit(1)
