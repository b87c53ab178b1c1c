"""The command line."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from typing import Annotated

import typer

from jobmill.cli import (
    approval,
    budget,
    company,
    config,
    db,
    demo,
    doctor,
    hiring,
    listing,
    match,
    opening,
    people,
    profile,
    queue,
    rotate,
    serve,
    setup,
    source,
    webhook,
)
from jobmill.errors import AppError, Conflict, Gone, Invalid, NotFound, OutsideError, Unavailable

EXIT_CODES: dict[type[AppError], int] = {
    Invalid: 2,
    NotFound: 3,
    Conflict: 4,
    Gone: 4,
    Unavailable: 5,
    OutsideError: 5,
    AppError: 1,
}
"""What an error means to a script; 0 is success, 1 a failed check, 2 also wrong usage."""

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(setup.app, name="setup")
app.add_typer(source.app, name="source")
app.add_typer(rotate.app, name="rotate")
app.add_typer(approval.app, name="approval")
app.add_typer(listing.app, name="listing")
app.add_typer(company.app, name="company")
app.add_typer(profile.app, name="profile")
app.add_typer(match.app, name="match")
app.add_typer(opening.app, name="opening")
app.add_typer(hiring.app, name="hiring")
app.add_typer(people.app, name="person")
app.add_typer(people.keys_app, name="key")
app.add_typer(webhook.app, name="webhook")
app.add_typer(db.app, name="db")
app.add_typer(config.app, name="config")
app.add_typer(queue.app, name="queue")
app.add_typer(demo.app, name="demo")
app.command()(doctor.doctor)
app.command()(budget.budget)
app.command()(hiring.seed)
app.command()(serve.up)
app.command()(serve.web)
app.command()(serve.worker)


def main() -> None:
    """Run a command; an error we can explain is one line and an exit code."""
    try:
        app()
    except AppError as error:
        if os.environ.get("JOBMILL_DEBUG") or logging.getLogger().isEnabledFor(logging.DEBUG):
            traceback.print_exc()
        # On one line, whatever a server or a file put into it.
        typer.echo(f"jobmill: {' '.join(str(error).split())}", err=True)
        sys.exit(exit_code(error))


def exit_code(error: AppError) -> int:
    return next(EXIT_CODES[kind] for kind in type(error).mro() if kind in EXIT_CODES)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"jobmill {version('jobmill')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """Jobmill finds the listings that fit you and fills openings fairly."""
