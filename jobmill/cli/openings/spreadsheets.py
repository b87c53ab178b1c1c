"""jobmill opening import|export, jobmill hiring import-applicants: files of many."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TextIO, TypeVar

import typer

from jobmill.cli.openings import roster
from jobmill.cli.support import files, hints, hiring_session, output, session
from jobmill.cli.support.hiring_session import DryRun, OpeningId
from jobmill.cli.support.output import AsJson
from jobmill.db import Database, Tx
from jobmill.errors import Invalid
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.import_export import exports, imports, spreadsheets
from jobmill.hiring.import_export.imports import ImportedApplicant
from jobmill.hiring.import_export.spreadsheets import (
    MAX_BYTES,
    MAX_LISTED_PROBLEMS,
    ApplicantEntry,
    InvalidSpreadsheet,
)
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening

T = TypeVar("T")

TRIED = 5_000
"""A dry run keeps the opening locked for as long as it takes."""

File = Annotated[str, typer.Argument(metavar="FILE", help="The file; `-` is stdin.")]


def _read(file: str, read: Callable[[bytes], T]) -> T:
    """What a file says; all that is wrong with it is said, a line each."""
    data = sys.stdin.buffer.read(MAX_BYTES + 1) if file == "-" else files.read_bytes(file)
    try:
        return read(data)
    except InvalidSpreadsheet as error:
        for problem in error.problems[:MAX_LISTED_PROBLEMS]:
            typer.echo(output.printable(f"{file}: {problem}"), err=True)
        if len(error.problems) > MAX_LISTED_PROBLEMS:
            typer.echo(f"and {len(error.problems) - MAX_LISTED_PROBLEMS:,} more", err=True)
        typer.echo("Nothing was imported.", err=True)
        raise typer.Exit(2) from error


def import_openings(file: File, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Create openings from CSV or JSON lines: all of them, or none where a line is wrong.

    Columns are named as an export names them; `title` and `capacity` are needed.
    """
    wanted = _read(file, imports.parse_openings)

    async def act(tx: Tx) -> list[Opening]:
        async with tx.transaction(force_rollback=dry_run):
            return await imports.create_openings(tx, wanted, LOCAL)

    made = hiring_session.in_transaction(act)
    if as_json:
        roster.openings(made, as_json=True)
        return
    many = output.format_count(len(made), "opening")
    if dry_run:
        typer.echo(f"{many} would be created. Nothing was changed.")
    else:
        typer.echo(f"{many} created{_numbers(made)}.")


def _numbers(made: Sequence[Opening]) -> str:
    if not made:
        return ""
    return f": {made[0].id}" if len(made) == 1 else f": {made[0].id} to {made[-1].id}"


def export(
    opening: Annotated[
        int | None,
        typer.Argument(
            metavar="[OPENING]",
            min=1,
            help="The applications of this one; left out: all openings.",
        ),
    ] = None,
    form: Annotated[
        Literal["csv", "jsonl"], typer.Option("--format", help="A table, or one object a line.")
    ] = "csv",
    out: Annotated[str, typer.Option(metavar="FILE", help="Where to; - is stdout.")] = "-",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format jsonl.")] = False,
) -> None:
    """Write openings, or all applications of one, to a file that a spreadsheet reads."""

    async def overdue(tx: Tx) -> Sequence[int]:
        if opening is None:
            return []
        await openings.get(tx, opening)
        return await applicant_lists.find_overdue_opening(tx, opening)

    async def run(database: Database) -> int:
        await hiring_session.settle_overdue(database, overdue)
        with files.open_output(out) as file:
            async with database.transaction() as tx:
                await applicant_lists.begin_snapshot(tx)
                return await _write(tx, opening, file, "jsonl" if as_json else form)

    with hints.add_hints():
        count = session.with_database(run)
    if out != "-":
        what = "opening" if opening is None else "application"
        typer.echo(f"{output.format_count(count, what)} written to {out}", err=True)


async def _write(tx: Tx, opening: int | None, file: TextIO, form: str) -> int:
    count = 0
    names = exports.OPENING_FIELDS if opening is None else exports.APPLICATION_FIELDS
    add: Callable[[dict[str, Any]], object] = (
        spreadsheets.start_csv(file, names)
        if form == "csv"
        else lambda record: output.print_json(record, file)
    )
    found = exports.iter_openings(tx) if opening is None else exports.iter_applications(tx, opening)
    async for record in found:
        count += 1
        add(record)
    return count


def import_applicants(
    opening: OpeningId, file: File, dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Have people apply, in the order of a CSV file: columns `name` and `email`, and `order` if wanted.

    It can be done again: who is in it already stays where they are.
    """
    wanted = _read(
        file,
        lambda data: spreadsheets.parse_applicants(data, fold=hiring_session.folds_email_aliases()),
    )

    async def run(database: Database) -> list[ImportedApplicant]:
        return await _admit(database, opening, wanted, dry_run, quiet=as_json)

    with hints.add_hints():
        done = session.with_database(run)
    if as_json:
        for one in done:
            output.print_json(exports.to_json_fields(one))
    else:
        _print_admitted(done, dry_run)
    if any(one.outcome == "refused" for one in done):
        raise typer.Exit(1)


async def _admit(
    database: Database,
    opening: int,
    wanted: Sequence[ApplicantEntry],
    dry_run: bool,
    *,
    quiet: bool,
) -> list[ImportedApplicant]:
    done: list[ImportedApplicant] = []
    if dry_run and len(wanted) > TRIED:
        raise Invalid(f"a dry run takes {TRIED:,} lines at most: others wait meanwhile")
    if dry_run or not wanted:
        async with database.transaction() as tx, tx.transaction(force_rollback=True):
            await openings.get(tx, opening)
            return await imports.import_applicants(tx, opening, wanted, LOCAL) if wanted else []
    with output.show_progress("Applying", quiet=quiet) as tell:
        for start in range(0, len(wanted), imports.BATCH_SIZE):
            async with database.transaction() as tx:
                part = wanted[start : start + imports.BATCH_SIZE]
                done += await imports.import_applicants(tx, opening, part, LOCAL)
            tell(f"{len(done):,} of {len(wanted):,}")
    return done


def _print_admitted(done: Sequence[ImportedApplicant], dry_run: bool) -> None:
    for one in done:
        if one.detail:
            typer.echo(output.printable(f"line {one.line}, {one.email}: {one.detail}"), err=True)
    outcomes = Counter(one.outcome for one in done)
    states = Counter(one.status for one in done if one.outcome == "applied")
    would = " would have" if dry_run else ""
    parts = [
        f"{outcomes['applied']:,}{would} applied ({states['WAITLIST']:,} of them waiting)",
        f"{outcomes['known']:,} in it already" if outcomes["known"] else None,
        f"{outcomes['repeated']:,} repeated" if outcomes["repeated"] else None,
        f"{outcomes['refused']:,} refused" if outcomes["refused"] else None,
    ]
    typer.echo(", ".join(part for part in parts if part) + ".")
    if dry_run:
        typer.echo("Nothing was changed.")
