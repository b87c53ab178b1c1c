"""jobmill setup: first steps with your own companies and models."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from jobmill.cli.support import environment, lookups, output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.outside import model_check
from jobmill.pipelines import first_boards
from jobmill.pipelines.first_boards import AddedBoards, BoardChoices
from jobmill.rotation import bundled_companies

app = typer.Typer(no_args_is_help=True)


@dataclass(frozen=True)
class _CompanyRow:
    key: str
    name: str
    about: str


@app.command()
def companies(
    search: Annotated[
        str, typer.Option(metavar="WORDS", help="Only companies with all of these words.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List the companies that come with Jobmill; `jobmill setup add KEY` adds one."""
    rows = [
        _CompanyRow(company.key, company.name, company.about)
        for company in bundled_companies.search_companies(search)
    ]
    if not rows and not as_json:
        typer.echo("No company matches. Add any job board or careers page: jobmill setup add URL")
        return
    output.print_table(rows, as_json=as_json)


@app.command()
def add(
    boards: Annotated[
        list[str] | None,
        typer.Argument(metavar="PLATFORM/SLUG|URL", help="Job boards, or pages that link to one."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add job boards as sources that a worker reads next; other pages are searched for a board."""
    wishes = first_boards.parse_lines(boards or [])
    _check(wishes)

    async def act(tx: Tx) -> AddedBoards:
        return await first_boards.add_boards(tx, wishes, by=lookups.current_user())

    begun = session.in_transaction(act, declared=True)
    if as_json:
        output.print_json(asdict(begun))
        return
    _print_result(begun)


def _check(wishes: BoardChoices) -> None:
    """Refuse all wishes if one is not understood, and name those."""
    if wishes.invalid:
        raise Invalid(
            "nothing was added: " + "; ".join(f"{line}: {why}" for line, why in wishes.invalid)
        )
    if not wishes.boards and not wishes.pages:
        raise Invalid(
            "name at least one board: PLATFORM/SLUG from `jobmill setup companies`, or a URL"
        )


def _print_result(begun: AddedBoards) -> None:
    if begun.boards:
        existing = begun.boards - begun.new
        note = f", {existing} already added" if existing else ""
        typer.echo(f"{output.format_count(begun.boards, 'board')}: {begun.new} new{note}.")
    if begun.pages:
        typer.echo(f"{output.format_count(begun.pages, 'page')} will be searched for a job board.")
    typer.echo("Next: a worker reads them (`jobmill up`); then see `jobmill match list`", err=True)


@dataclass(frozen=True)
class _ModelCheck:
    tier: str
    model: str
    ok: bool
    detail: str
    cost: float | None


@app.command("check-model")
def check_model(as_json: AsJson = False) -> None:
    """Send a short prompt to each configured model; exit code 1 if none answers."""
    settings = environment.load_settings()

    trials = session.with_database(
        lambda database: model_check.check_models(database, settings, os.environ)
    )
    checks = [
        _ModelCheck(
            trial.tier,
            trial.model,
            trial.ok,
            trial.detail,
            None if trial.cost is None else float(trial.cost),
        )
        for trial in trials
    ]
    output.print_table(checks, as_json=as_json)
    if not any(check.ok for check in checks):
        raise typer.Exit(1)
