"""jobmill opening close: close an opening, and tell the waiting applicants."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from jobmill.cli.openings import opening_output
from jobmill.cli.support import files, output, session
from jobmill.cli.support.hiring_session import DryRun, OpeningId
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import closing
from jobmill.hiring.applications.closing import ClosingResult
from jobmill.hiring.import_export import exports
from jobmill.hiring.messages.letters import parse_letter
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records.openings import Opening


def close(
    opening: OpeningId,
    tell: Annotated[
        Literal["letter", "nothing"] | None,
        typer.Option(help="End the applications without a place: with a letter, or with none."),
    ] = None,
    letter: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Letter for this opening: `Subject: …`, then the text."),
    ] = None,
    reason: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What applicants read on their personal page, and as $text in the letter.",
        ),
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Close an opening: no more applications, and it is no longer listed.

    Without --tell current applications stay. People with a place always keep it.
    """
    if letter and tell != "letter":
        raise Invalid("--letter needs --tell letter")
    if reason and tell is None:
        raise Invalid("--reason needs --tell: without it current applications stay")
    if tell is None:
        _close_only(opening, dry_run, as_json)
        return
    text = parse_letter(files.read_text(letter)) if letter else None
    result = session.in_transaction(
        lambda tx: closing.close_and_tell(
            tx, opening, LOCAL, tell=tell == "letter", text=text, reason=reason, dry_run=dry_run
        )
    )
    output.print_result(
        {**exports.to_json_fields(result), "dryRun": dry_run}, _describe(result, dry_run), as_json
    )


def _close_only(id: int, dry_run: bool, as_json: bool) -> None:
    async def close_opening(tx: Tx) -> Opening:
        async with tx.transaction(force_rollback=dry_run):
            return await lifecycle.close(tx, id, LOCAL)

    row = session.in_transaction(close_opening)
    if as_json:
        output.print_json(exports.opening_fields(row))
        return
    closed = "would be closed" if dry_run else "is closed"
    typer.echo(f"Opening {id} {closed}: {opening_output.format_places(row)}.")
    if row.waiting:
        typer.echo("They stay on the waitlist. End their applications with --tell.", err=True)


def _describe(result: ClosingResult, dry_run: bool) -> str:
    ended = output.format_count(result.ended, "application")
    letters = output.format_count(result.letters, "letter")
    kept = output.format_count(result.kept, "place")
    counts = f"{ended} ({result.offers:,} with an offer), {letters}, {kept} kept"
    if dry_run:
        return f"This would end {counts}. Nothing was changed."
    return f"Opening {result.opening_id} is closed. Ended: {counts}."
