"""jobmill hiring withdraw-many|promote-many|message-many: one thing done to many, at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from jobmill.cli.support import environment, files, hints, hiring_session, output
from jobmill.cli.support.hiring_session import DryRun, OpeningId
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import bulk_actions
from jobmill.hiring.applications.bulk_actions import BulkAction, BulkResult
from jobmill.hiring.import_export import exports
from jobmill.outside import mail

Ids = Annotated[
    list[int] | None,
    typer.Argument(metavar="APPLICATION", min=1, help="The numbers of applications."),
]
AllWaiting = Annotated[
    bool, typer.Option("--all-waiting", help="All who wait, in their order, instead.")
]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the log.")]


def withdraw_many(
    opening: OpeningId,
    reason: Reason,
    ids: Ids = None,
    all_waiting: AllWaiting = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """End many applications at once; then slots go to those who still wait (exit code 1: some refused)."""
    _run(opening, "withdraw", ids, all_waiting, reason, dry_run, as_json)


def promote_many(
    opening: OpeningId,
    reason: Reason,
    ids: Ids = None,
    all_waiting: AllWaiting = False,
    add_slots: Annotated[
        bool, typer.Option("--add-slots", help="Make more slots where none is free.")
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Offer slots to many who wait, out of turn, in the order named (exit code 1: some refused)."""
    _run(opening, "promote", ids, all_waiting, reason, dry_run, as_json, add_slots=add_slots)


def message_many(
    opening: OpeningId,
    reason: Reason,
    ids: Ids = None,
    all_waiting: AllWaiting = False,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="What to tell them.")] = None,
    file: Annotated[
        str | None, typer.Option(metavar="FILE", help="The same from a file; `-` is stdin.")
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Write to many applicants: a letter each, in which they see nobody else (exit code 1: some refused)."""
    if (text is None) == (file is None):
        raise Invalid("say what to tell them: --text TEXT or --file FILE")
    message = text if file is None else files.read_text(file)
    _warn()
    _run(opening, "message", ids, all_waiting, reason, dry_run, as_json, message=message)


def _warn() -> None:
    if missing := mail.missing_setting(environment.load_settings()):
        typer.echo(f"Letters are dropped: {missing}.", err=True)


def _run(
    opening: int,
    action: BulkAction,
    ids: list[int] | None,
    all_waiting: bool,
    reason: str,
    dry_run: bool,
    as_json: bool,
    *,
    message: str | None = None,
    add_slots: bool = False,
) -> None:
    if bool(ids) == all_waiting:
        raise Invalid("name applications, or --all-waiting")

    async def act(tx: Tx) -> list[BulkResult]:
        return await bulk_actions.run_bulk_action(
            tx,
            opening,
            action,
            None if all_waiting else ids,
            LOCAL,
            reason=reason,
            message=message,
            add_slots=add_slots,
            dry_run=dry_run,
        )

    done = hiring_session.in_transaction(act)
    _print(done, dry_run, as_json)
    if any(line.outcome == "refused" for line in done):
        raise typer.Exit(1)


def _print(done: Sequence[BulkResult], dry_run: bool, as_json: bool) -> None:
    if as_json:
        for line in done:
            output.print_json({**exports.to_json_fields(line), "dryRun": dry_run})
        return
    for line in done:
        detail = f": {hints.call_job_opening(line.detail)}" if line.detail else ""
        typer.echo(f"{line.application_id:>5}  {line.outcome}{detail}")
    if not done:
        typer.echo("Nobody waits.")
    elif dry_run:
        typer.echo("Nothing was changed.")
