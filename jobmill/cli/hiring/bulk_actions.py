"""jobmill hiring withdraw-many, promote-many, message-many: act on many applications at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from jobmill.cli.support import environment, files, hints, output, session
from jobmill.cli.support.hiring_session import DryRun, OpeningId
from jobmill.cli.support.option_groups import expand_options
from jobmill.cli.support.output import AsJson
from jobmill.errors import Invalid
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import bulk_actions
from jobmill.hiring.applications.bulk_actions import BulkAction, BulkResult
from jobmill.hiring.import_export import exports
from jobmill.outside import mail

AllWaiting = Annotated[
    bool, typer.Option("--all-waiting", help="All applications on the waitlist, in order.")
]
Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Reason, kept in the audit log.")
]


@dataclass(frozen=True, slots=True)
class BulkOptions:
    """What every command on many applications takes."""

    ids: Annotated[
        list[int] | None,
        typer.Argument(metavar="APPLICATION", min=1, help="Numbers of the applications."),
    ] = None
    dry_run: DryRun = False
    as_json: AsJson = False


@expand_options
def withdraw_many(
    opening: OpeningId, reason: Reason, all_waiting: AllWaiting = False, *, options: BulkOptions
) -> None:
    """Withdraw many applications, then offer their places to the waitlist; exit code 1 if one was refused."""
    run_bulk_command(opening, "withdraw", options, all_waiting, reason)


@expand_options
def promote_many(
    opening: OpeningId,
    reason: Reason,
    all_waiting: AllWaiting = False,
    add_slots: Annotated[
        bool, typer.Option("--add-slots", help="Add places if none is free.")
    ] = False,
    *,
    options: BulkOptions,
) -> None:
    """Offer places to many waiting applicants, out of turn, in this order; exit code 1 if one was refused."""
    run_bulk_command(opening, "promote", options, all_waiting, reason, add_slots=add_slots)


@expand_options
def message_many(
    opening: OpeningId,
    reason: Reason,
    all_waiting: AllWaiting = False,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="Text of the message.")] = None,
    file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Read the message from a file; `-` is stdin.")
    ] = None,
    *,
    options: BulkOptions,
) -> None:
    """Email many applicants, each separately; exit code 1 if one was refused."""
    if (text is None) == (file is None):
        raise Invalid("give the message: --text TEXT or --file FILE")
    message = text if file is None else files.read_text(file)
    _warn_if_mail_is_off()
    run_bulk_command(opening, "message", options, all_waiting, reason, message=message)


def _warn_if_mail_is_off() -> None:
    if missing := mail.missing_setting(environment.load_settings()):
        typer.echo(f"Email is off and will be dropped: {missing}.", err=True)


def run_bulk_command(
    opening: int,
    action: BulkAction,
    options: BulkOptions,
    all_waiting: bool,
    reason: str,
    *,
    message: str | None = None,
    add_slots: bool = False,
    tell_reason: bool = False,
) -> None:
    """Run the action on these applications or on all, and print the results."""
    if bool(options.ids) == all_waiting:
        every = "--all-in-review" if action in bulk_actions.DECISIONS else "--all-waiting"
        raise Invalid(f"name the applications, or use {every}")

    results = session.in_transaction(
        lambda tx: bulk_actions.run_bulk_action(
            tx,
            opening,
            action,
            None if all_waiting else options.ids,
            LOCAL,
            reason=reason,
            message=message,
            add_slots=add_slots,
            tell_reason=tell_reason,
            dry_run=options.dry_run,
        )
    )
    _print_results(results, options.dry_run, options.as_json)
    if any(result.outcome == "refused" for result in results):
        raise typer.Exit(1)


def _print_results(results: Sequence[BulkResult], dry_run: bool, as_json: bool) -> None:
    if as_json:
        for result in results:
            output.print_json({**exports.to_json_fields(result), "dryRun": dry_run})
        return
    for result in results:
        detail = f": {hints.call_job_opening(result.detail)}" if result.detail else ""
        typer.echo(f"{result.application_id:>5}  {result.outcome}{detail}")
    if not results:
        typer.echo("No application waits.")
    elif dry_run:
        typer.echo("Nothing was changed.")
