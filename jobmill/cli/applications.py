"""jobmill application: track applications from the command line."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.cli.support import files, lookups, output, session
from jobmill.cli.support.lookups import ProfileName
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Database, Tx
from jobmill.matching import matches
from jobmill.matching.job_applications import board, csv_export, csv_import, details, entries
from jobmill.matching.job_applications import files as application_files
from jobmill.matching.job_applications.board import BoardApplication
from jobmill.matching.job_applications.csv_import import ImportedRow
from jobmill.matching.matches import Match
from jobmill.queue.feed import notify_feeds

app = typer.Typer(no_args_is_help=True, callback=lookups.choose_person)
Id = Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the match.")]


def _make_row(application: BoardApplication) -> dict[str, object]:
    return {
        "id": application.id,
        "status": application.custom_status or application.status,
        "counts_as": application.status,
        **output.pick(
            application, "title", "company", "days_in_status", "next_step", "next_step_on"
        ),
    }


@app.command("list")
def list_applications(
    limit: Limit = 100, profile: ProfileName = None, as_json: AsJson = False
) -> None:
    """List applications by status, with the next step of each."""

    async def read(tx: Tx) -> list[BoardApplication]:
        version = await lookups.choose_profile(tx, profile)
        return await board.find_all(tx, version.profile_id, limit=limit)

    applications = session.in_transaction(read)[:limit]
    output.print_rows(
        [_make_row(application) for application in applications],
        as_json=as_json,
        empty="No applications yet. Save a match: jobmill match set-status ID saved",
    )


@app.command()
def show(id: Id, as_json: AsJson = False) -> None:
    """Show the dates, notes, contacts and files of an application."""

    async def read(tx: Tx) -> dict[str, object]:
        match = await matches.get(tx, id, owner=await lookups.find_owner(tx))
        stored = await details.get(tx, id)
        contacts = await entries.find_contacts(tx, id)
        dates = ("applied_on", "interview_at", "offer_deadline", "next_step", "next_step_on")
        return {
            **output.pick(match, "id", "title", "company", "status"),
            **output.pick(stored, *dates),
            "notes": [note.body for note in await entries.find_notes(tx, id)],
            "contacts": [
                output.join([contact.name, contact.role, contact.email]) for contact in contacts
            ],
            "files": [file.name for file in await application_files.find_all(tx, id)],
        }

    record = session.in_transaction(read)
    output.print_record(record, as_json=as_json)


@app.command()
def move(
    id: Id,
    status: Annotated[
        str, typer.Argument(metavar="STATUS", help="A status, also one that you added.")
    ],
    as_json: AsJson = False,
) -> None:
    """Move an application to another status; `jobmill match undo` moves it back."""

    async def act(tx: Tx) -> Match:
        owner, actor = await lookups.find_owner(tx), lookups.current_user()
        return await board.move(tx, id, status, owner=owner, actor=actor)

    match = session.in_transaction(act)
    output.print_record(output.pick(match, "id", "status", "title", "company"), as_json=as_json)


@app.command()
def note(
    id: Id,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The note; - reads stdin.")],
    as_json: AsJson = False,
) -> None:
    """Add a note to an application. The same text again adds nothing."""
    body = sys.stdin.read() if text == "-" else text

    async def act(tx: Tx) -> int:
        owner, actor = await lookups.find_owner(tx), lookups.current_user()
        return await entries.add_note(tx, id, body, owner=owner, actor=actor)

    note_id = session.in_transaction(act)
    output.print_result(
        {"id": note_id, "application": id}, f"Note {note_id} of application {id} saved.", as_json
    )


@app.command("import")
def import_applications(
    file: Annotated[str, typer.Argument(metavar="FILE", help="CSV file.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """Import applications from a CSV file; the same row again adds nothing.

    The file needs the columns title and company. Exits with code 1 if a row cannot be imported.
    """
    data = files.read_bytes(file)

    async def act(database: Database) -> list[ImportedRow]:
        parsed = await csv_import.read_file(data)
        async with database.transaction() as tx:
            version = await lookups.choose_profile(tx, profile)
            actor = lookups.current_user()
            rows = await csv_import.import_rows(
                tx, version, parsed, PLATFORM_RULES, actor=actor, dry_run=dry_run
            )
            await notify_feeds(tx)
            return rows

    rows = session.with_database(act)
    output.print_rows(rows, as_json=as_json)
    if any(row.outcome == "problem" for row in rows):
        raise typer.Exit(1)


@app.command()
def export(
    out: Annotated[str, typer.Option(metavar="FILE", help="Output file; - is stdout.")] = "-",
    profile: ProfileName = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines instead of CSV.")] = False,
) -> None:
    """Export applications as CSV, with the columns that the import reads."""

    async def read(tx: Tx) -> tuple[str, list[Any]]:
        profile_id = (await lookups.choose_profile(tx, profile)).profile_id
        if as_json:
            return "", list(await csv_export.read_records(tx, profile_id))
        return await csv_export.write(tx, profile_id), []

    text, records = session.in_transaction(read)
    with files.open_output(out) as file:
        file.write(text)
        for record in records:
            output.print_json(record, file)
