"""jobmill opening import, export and jobmill hiring import-applicants: CSV and JSON files."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TextIO, TypeVar

import typer

from jobmill.catalog import csv_files
from jobmill.catalog.csv_files import MAX_BYTES, MAX_LISTED_PROBLEMS, InvalidSpreadsheet
from jobmill.cli.support import files, hiring_session, output, session
from jobmill.cli.support.hiring_session import DryRun, OpeningId
from jobmill.cli.support.output import AsJson
from jobmill.db import Database, Tx
from jobmill.errors import Invalid
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.import_export import exports, imports, spreadsheets
from jobmill.hiring.import_export.imports import ImportedApplicant
from jobmill.hiring.import_export.spreadsheets import ApplicantEntry
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.waitlist import overdue_offers

T = TypeVar("T")

MAX_DRY_RUN_LINES = 5_000
"""A dry run locks the opening until it ends."""

File = Annotated[str, typer.Argument(metavar="FILE", help="Input file; `-` is stdin.")]


def _parse_file(file: str, parse: Callable[[bytes], T]) -> T:
    """Parse a file, or print its problems, a line each, and exit with code 2."""
    data = sys.stdin.buffer.read(MAX_BYTES + 1) if file == "-" else files.read_bytes(file)
    try:
        return parse(data)
    except InvalidSpreadsheet as error:
        for problem in error.problems[:MAX_LISTED_PROBLEMS]:
            typer.echo(output.printable(f"{file}: {problem}"), err=True)
        if len(error.problems) > MAX_LISTED_PROBLEMS:
            typer.echo(f"and {len(error.problems) - MAX_LISTED_PROBLEMS:,} more", err=True)
        typer.echo("Nothing was imported.", err=True)
        raise typer.Exit(2) from error


def import_openings(file: File, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Create openings from CSV or JSON lines; if a line is wrong, none is created.

    The columns are those of an export; `title` and `capacity` are required.
    """
    new_openings = _parse_file(file, imports.parse_openings)

    async def create_openings(tx: Tx) -> list[Opening]:
        async with tx.transaction(force_rollback=dry_run):
            return await imports.create_openings(tx, new_openings, LOCAL)

    created = session.in_transaction(create_openings)
    if as_json:
        output.print_json_lines(map(exports.opening_fields, created))
        return
    count = output.format_count(len(created), "opening")
    if dry_run:
        typer.echo(f"{count} would be created. Nothing was changed.")
    else:
        typer.echo(f"{count} created{_format_ids(created)}.")


def _format_ids(created: Sequence[Opening]) -> str:
    if not created:
        return ""
    first, last = created[0].id, created[-1].id
    return f": {first}" if first == last else f": {first} to {last}"


def export(
    opening: Annotated[
        int | None,
        typer.Argument(
            metavar="OPENING",
            min=1,
            help="Export the applications of this opening; default: all openings.",
        ),
    ] = None,
    form: Annotated[
        Literal["csv", "jsonl"],
        typer.Option("--format", help="A table, or one JSON object per line."),
    ] = "csv",
    out: Annotated[str, typer.Option(metavar="FILE", help="Output file; - is stdout.")] = "-",
    as_json: Annotated[bool, typer.Option("--json", help="Same as --format jsonl.")] = False,
) -> None:
    """Export openings, or all applications of one, for a spreadsheet."""

    async def find_overdue(tx: Tx) -> Sequence[int]:
        if opening is None:
            return []
        await openings.get(tx, opening)
        return await overdue_offers.find_overdue_opening(tx, opening)

    async def write_records(database: Database) -> int:
        await hiring_session.settle_overdue(database, find_overdue)
        with files.open_output(out) as file:
            async with database.transaction() as tx:
                await overdue_offers.begin_snapshot(tx)
                return await _write(tx, opening, file, "jsonl" if as_json else form)

    count = session.with_database(write_records)
    if out != "-":
        noun = "opening" if opening is None else "application"
        typer.echo(f"{output.format_count(count, noun)} written to {out}", err=True)


async def _write(tx: Tx, opening: int | None, file: TextIO, form: str) -> int:
    count = 0
    names = (
        exports.OPENING_FIELDS
        if opening is None
        else await exports.find_application_fields(tx, opening)
    )
    write_record: Callable[[dict[str, Any]], object] = (
        csv_files.start_csv(file, names)
        if form == "csv"
        else lambda record: output.print_json(record, file)
    )
    records = (
        exports.iter_openings(tx) if opening is None else exports.iter_applications(tx, opening)
    )
    async for record in records:
        count += 1
        write_record(record)
    return count


def import_applicants(
    opening: OpeningId, file: File, dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Import applicants in the order of a CSV file with columns `name`, `email` and maybe `order`.

    Importing again is safe: existing applications keep their place.
    """
    entries = _parse_file(
        file,
        lambda data: spreadsheets.parse_applicants(data, fold=hiring_session.folds_email_aliases()),
    )

    imported = session.with_database(
        lambda database: _import_entries(database, opening, entries, dry_run, quiet=as_json)
    )
    if as_json:
        output.print_json_lines(map(exports.to_json_fields, imported))
    else:
        _print_imported(imported, dry_run)
    if any(applicant.outcome == "refused" for applicant in imported):
        raise typer.Exit(1)


async def _import_entries(
    database: Database,
    opening: int,
    entries: Sequence[ApplicantEntry],
    dry_run: bool,
    *,
    quiet: bool,
) -> list[ImportedApplicant]:
    imported: list[ImportedApplicant] = []
    if dry_run and len(entries) > MAX_DRY_RUN_LINES:
        raise Invalid(
            f"a dry run is limited to {MAX_DRY_RUN_LINES:,} lines, because it locks the opening"
        )
    if dry_run or not entries:
        async with database.transaction() as tx, tx.transaction(force_rollback=True):
            await openings.get(tx, opening)
            return await imports.import_applicants(tx, opening, entries, LOCAL) if entries else []
    with output.show_progress("Importing", quiet=quiet) as update:
        for start in range(0, len(entries), imports.BATCH_SIZE):
            async with database.transaction() as tx:
                batch = entries[start : start + imports.BATCH_SIZE]
                imported += await imports.import_applicants(tx, opening, batch, LOCAL)
            update(f"{len(imported):,} of {len(entries):,}")
    return imported


def _print_imported(imported: Sequence[ImportedApplicant], dry_run: bool) -> None:
    for applicant in imported:
        if applicant.detail:
            text = f"line {applicant.line}, {applicant.email}: {applicant.detail}"
            typer.echo(output.printable(text), err=True)
    outcomes = Counter(applicant.outcome for applicant in imported)
    statuses = Counter(applicant.status for applicant in imported if applicant.outcome == "applied")
    would = " would have" if dry_run else ""
    parts = [
        f"{outcomes['applied']:,}{would} applied ({statuses['WAITLIST']:,} on the waitlist)",
        f"{outcomes['known']:,} already applied" if outcomes["known"] else None,
        f"{outcomes['repeated']:,} listed twice" if outcomes["repeated"] else None,
        f"{outcomes['refused']:,} refused" if outcomes["refused"] else None,
    ]
    typer.echo(", ".join(part for part in parts if part) + ".")
    if dry_run:
        typer.echo("Nothing was changed.")
