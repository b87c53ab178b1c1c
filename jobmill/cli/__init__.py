"""The command line."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from importlib.metadata import version
from typing import Annotated

import typer

from jobmill.cli.lazy_commands import LazyCommand, LazyGroup
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
"""The exit code for each kind of error. 0 is success, 1 also a failed check, 2 also wrong usage."""

COMMANDS = (
    LazyCommand(
        "doctor",
        "doctor:doctor",
        "Look for what could keep Jobmill from working here; exit code 1 if there is something.",
    ),
    LazyCommand(
        "budget",
        "budget:budget",
        "Show what models may cost and have cost, by day, model, purpose and saved match (in UTC).",
    ),
    LazyCommand(
        "seed",
        "hiring.commands:seed",
        "Make a sample to look around in: 3 openings, 5 people, some applications. Once is enough.",
    ),
    LazyCommand(
        "up",
        "servers.up:up",
        "Start everything in one process: the database, the web pages and a worker.",
    ),
    LazyCommand("web", "servers.web:web", "Serve the web pages; a worker elsewhere does the work."),
    LazyCommand(
        "worker",
        "servers.worker:worker",
        "Do the work that waits in the queue, until stopped. Start as many as you like.",
    ),
    LazyCommand(
        "setup",
        "setup:app",
        "Begin with your own: after `profile import`, choose companies and check the model.",
    ),
    LazyCommand(
        "source", "sources.commands:app", "See where listings come from, add and run sources."
    ),
    LazyCommand(
        "rotate", "rotation.commands:app", "Call sources in turn, for the most new listings."
    ),
    LazyCommand(
        "approval", "sources.approvals:app", "Decide about sources and boards that wait for you."
    ),
    LazyCommand(
        "listing", "listings.commands:app", "Search, read and export the listings that were found."
    ),
    LazyCommand("company", "companies:app", "Follow companies, and see what is known of them."),
    LazyCommand(
        "profile",
        "profile.commands:app",
        "Say what you can do and want; every change is a version.",
    ),
    LazyCommand(
        "match", "matches.commands:app", "See what fits you and why, and say what you made of it."
    ),
    LazyCommand(
        "opening", "openings.commands:app", "Offer slots, few or many, and say on which terms."
    ),
    LazyCommand(
        "hiring",
        "hiring.commands:app",
        "Take applications, see who stands where, and what happened.",
    ),
    LazyCommand("person", "people:app", "Those who work here and sign in."),
    LazyCommand("key", "people:keys_app", "API keys, for programs."),
    LazyCommand("webhook", "webhooks:app", "Tell servers of yours what happens to openings."),
    LazyCommand("db", "database:app", "Look after the database."),
    LazyCommand("config", "settings:app", "Look at the settings."),
    LazyCommand("queue", "queue.commands:app", "See what is in the work queue, and act on it."),
    LazyCommand(
        "demo",
        "demo:app",
        "Look around in a fictional world: companies, boards, openings and people, in fast time.",
    ),
)
"""In the order of the help page; the text of a function repeats its docstring."""


class _RootGroup(LazyGroup):
    lazy_commands = COMMANDS


app = typer.Typer(
    cls=_RootGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run a command. An `AppError` ends it with one line on stderr and an exit code."""
    try:
        app()
    except AppError as error:
        if os.environ.get("JOBMILL_DEBUG") or logging.getLogger().isEnabledFor(logging.DEBUG):
            traceback.print_exc()
        # Errors can quote text from servers and files: keep it on one line.
        typer.echo(f"jobmill: {' '.join(str(error).split())}", err=True)
        sys.exit(exit_code(error))


def exit_code(error: AppError) -> int:
    return next(EXIT_CODES[kind] for kind in type(error).mro() if kind in EXIT_CODES)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"jobmill {version('jobmill')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Jobmill finds the listings that fit you and fills openings fairly."""
