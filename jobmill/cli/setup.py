"""jobmill setup …: begin with one's own: which companies, which model."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from jobmill.cli.support import environment, lookups, output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Database, Tx
from jobmill.errors import Invalid
from jobmill.outside import model_check
from jobmill.outside.model_check import ModelTrial
from jobmill.pipelines import first_boards
from jobmill.pipelines.first_boards import Begun, Wishes
from jobmill.rotation import bundled_companies

app = typer.Typer(no_args_is_help=True)


@dataclass(frozen=True)
class Entry:
    key: str
    name: str
    about: str


@app.command()
def companies(
    search: Annotated[
        str, typer.Option(metavar="WORDS", help="Only those with all of these words.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List the companies that come with Jobmill; `setup add KEY` adds one."""
    found = [
        Entry(one.key, one.name, one.about) for one in bundled_companies.search_companies(search)
    ]
    if not found and not as_json:
        typer.echo(
            "Nobody in the list is like that. Any board or careers page: jobmill setup add URL"
        )
        return
    output.print_table(found, as_json=as_json)


@app.command()
def add(
    boards: Annotated[
        list[str] | None,
        typer.Argument(metavar="PLATFORM/SLUG|URL", help="Boards, or pages that lead to one."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add boards as sources and let a worker read them at once; what is no board yet is looked at."""
    wishes = first_boards.read(boards or [])
    _check(wishes)

    async def act(tx: Tx) -> Begun:
        return await first_boards.begin(tx, wishes, by=lookups.current_user())

    begun = session.in_transaction(act, declared=True)
    if as_json:
        output.print_json(asdict(begun))
        return
    _tell(begun)


def _check(wishes: Wishes) -> None:
    """Invalid names every line that is not understood; then nothing is added."""
    if wishes.wrong:
        raise Invalid(
            "nothing was added: " + "; ".join(f"{line}: {why}" for line, why in wishes.wrong)
        )
    if not wishes.boards and not wishes.pages:
        raise Invalid("say which: PLATFORM/SLUG as `setup companies` lists them, or a URL")


def _tell(begun: Begun) -> None:
    if begun.boards:
        known = begun.boards - begun.new
        note = f", {known} known already" if known else ""
        typer.echo(f"{output.format_count(begun.boards, 'board')}: {begun.new} new{note}.")
    if begun.pages:
        typer.echo(f"{output.format_count(begun.pages, 'page')} looked at by a worker for a board.")
    hint = "a worker (`jobmill up`) reads them; then `jobmill match list`"
    typer.echo(f"Next: {hint}", err=True)


@dataclass(frozen=True)
class Answer:
    tier: str
    model: str
    ok: bool
    detail: str
    cost: float | None


@app.command("check-model")
def check_model(as_json: AsJson = False) -> None:
    """Ask each model that is set for one word, which costs a part of a cent; exit code 1 if none answers."""
    settings = environment.load_settings()

    async def act(database: Database) -> list[ModelTrial]:
        return await model_check.check_models(database, settings, os.environ)

    tried = session.with_database(act)
    answers = [
        Answer(
            one.tier, one.model, one.ok, one.detail, None if one.cost is None else float(one.cost)
        )
        for one in tried
    ]
    output.print_table(answers, as_json=as_json)
    if not any(one.ok for one in answers):
        raise typer.Exit(1)
