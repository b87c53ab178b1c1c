"""The command line."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from importlib.metadata import version
from typing import Annotated

import typer

from jobmill.cli.support import hints
from jobmill.cli.support.lazy_commands import LazyCommand, LazyGroup
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
        "Check this installation; exit code 1 if something keeps Jobmill from working.",
    ),
    LazyCommand(
        "upgrade-check",
        "upgrade_check:upgrade_check",
        "Check whether this version can use your database, and what it would change.",
    ),
    LazyCommand(
        "budget",
        "budget:budget",
        "Show the limits and costs of models by day, model and purpose (days in UTC).",
    ),
    LazyCommand(
        "seed",
        "hiring.commands:seed",
        "Add sample data once: 3 openings, 5 people and some applications.",
    ),
    LazyCommand(
        "up",
        "servers.up:up",
        "Start everything in one process: the database, the web pages and a worker.",
    ),
    LazyCommand(
        "web",
        "servers.web:web",
        "Serve the web pages only; start `jobmill worker` elsewhere to run the queue.",
    ),
    LazyCommand(
        "open",
        "servers.open_pages:open_pages",
        "Open the pages of your running Jobmill in the browser, signed in.",
    ),
    LazyCommand(
        "mcp",
        "servers.mcp:mcp",
        "Let an assistant search jobs, explain matches and track applications (Model Context "
        "Protocol).",
    ),
    LazyCommand(
        "worker",
        "servers.worker:worker",
        "Run queued work until stopped. Start as many workers as you like.",
    ),
    LazyCommand(
        "setup",
        "setup:app",
        "First steps after `jobmill profile import`: add companies and check the model.",
    ),
    LazyCommand(
        "source", "sources.commands:app", "Add, test, read and manage the sources of jobs."
    ),
    LazyCommand(
        "rotate",
        "rotation.commands:app",
        "Manage the rotation that decides which source is read next.",
    ),
    LazyCommand(
        "approval", "sources.approvals:app", "Approve or reject new sources and job boards."
    ),
    LazyCommand(
        "add",
        "add:add",
        "Add a job, job board, careers page or company by URL, or a job by its text.",
    ),
    LazyCommand("listing", "listings.commands:app", "Search, show, add and export jobs."),
    LazyCommand("company", "companies:app", "Add, list and show companies."),
    LazyCommand(
        "report",
        "reports:app",
        "Report what a company's site tells candidates, and what AI assistants answer about it.",
    ),
    LazyCommand(
        "profile",
        "profile.commands:app",
        "Manage profiles: your skills and what you want.",
    ),
    LazyCommand(
        "match", "matches.commands:app", "List and explain matches, and track their status."
    ),
    LazyCommand(
        "application", "applications:app", "Track your applications: list, move, note, import."
    ),
    LazyCommand("document", "documents:app", "Write, export and freeze resumes and cover letters."),
    LazyCommand("opening", "openings.commands:app", "Create and manage openings of your own."),
    LazyCommand(
        "hiring",
        "hiring.commands:app",
        "Manage applications, the waitlist and the audit log of openings.",
    ),
    LazyCommand(
        "interview",
        "hiring.interviews:app",
        "Plan interview times of an opening, and book them.",
    ),
    LazyCommand("person", "people:app", "Manage people with access."),
    LazyCommand("key", "people:keys_app", "Manage API keys for programs."),
    LazyCommand(
        "notification",
        "notifications:app",
        "Choose what you are notified about and where, and see the deliveries.",
    ),
    LazyCommand("webhook", "hiring.webhooks:app", "Send events of openings to other servers."),
    LazyCommand("db", "database:app", "Show, migrate, back up and restore the database."),
    LazyCommand("config", "settings:app", "Show and check the settings."),
    LazyCommand("queue", "queue.commands:app", "Inspect and control the work queue."),
    LazyCommand(
        "demo",
        "demo:app",
        "Try Jobmill with fictional companies and people; a day takes two minutes.",
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
        text = hints.add_next_command(" ".join(str(error).split()))
        typer.echo(f"jobmill: {text}", err=True)
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
    """Jobmill finds jobs that fit you and fills openings fairly."""
