"""jobmill hiring export-person, erase-person: personal data of an applicant."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from jobmill.cli.openings import opening_output
from jobmill.cli.support import files, hiring_session, output, session, times
from jobmill.cli.support.hiring_session import ApplicantName
from jobmill.cli.support.output import AsJson
from jobmill.db import Database
from jobmill.errors import Conflict, Invalid
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications.applicant_applications import (
    ApplicantApplication,
    list_by_applicant,
)
from jobmill.hiring.forms import uploads
from jobmill.hiring.records.applicants import Applicant


def export_person(
    person: ApplicantName,
    out: Annotated[str, typer.Option(metavar="FILE", help="Output file; - is stdout.")] = "-",
    files_dir: Annotated[
        Path | None,
        typer.Option(
            "--files", metavar="FOLDER", help="Also write the uploaded files to this new folder."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="No effect: the output is always JSON.")
    ] = False,
) -> None:
    """Export all data about an applicant as JSON."""
    data = hiring_session.read_applicant(
        person, lambda tx, applicant: privacy.export_personal_data(tx, applicant.id)
    )
    if files_dir:
        try:
            files_dir.mkdir(mode=0o700)
        except OSError as error:
            raise Invalid(f"cannot create {files_dir}: {error.strerror}") from error
        for file in data["files"]:
            # The id keeps files of the same name apart.
            path = files_dir / f"{file['id']} {file['name']}"
            session.with_database(partial(_write_file, UUID(file["id"]), path))
    with files.open_output(out) as file:
        output.print_json(data, file)
    if out != "-":
        typer.echo(f"Written to {out}", err=True)


async def _write_file(id: UUID, path: Path, database: Database) -> None:
    with path.open("xb") as output_file:
        async for chunk in uploads.iter_content(database.transaction, id):
            output_file.write(chunk)


def erase_person(
    person: ApplicantName,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase the name, address and notes of an applicant. The audit log stays valid.

    Open applications are ended first, and their places are offered to the waitlist.
    """
    applicant, applications = hiring_session.read_applicant(
        person, lambda tx, applicant: list_by_applicant(tx, applicant.id)
    )
    if applicant.erased_at:
        at = times.format_ago(applicant.erased_at)
        raise Conflict(f"applicant {applicant.id} was already erased, {at}")
    open_applications = [
        application for application in applications if application.status != "INACTIVE"
    ]
    if not yes:
        _confirm(applicant, open_applications, len(applications))
    session.in_transaction(lambda tx: privacy.erase_applicant(tx, applicant.id, LOCAL))
    ended = [application.application_id for application in open_applications]
    record = {"applicantId": applicant.id, "erased": True, "ended": ended}
    output.print_result(record, f"Applicant {applicant.id} erased.", as_json)


def _confirm(
    applicant: Applicant, open_applications: list[ApplicantApplication], count: int
) -> None:
    if not sys.stdin.isatty():
        raise Invalid("cannot ask for confirmation without a terminal: use --yes")
    name = output.join([applicant.name, applicant.email])
    output.print_wrapped(name, f"{applicant.id:>5}  ", bold=True)
    applications = output.format_count(count, "application")
    output.print_wrapped(
        f"This erases the name, address and notes, also in {applications}. It cannot be undone."
    )
    for application in open_applications:
        status = opening_output.STATUS_NAMES[application.status]
        text = f"{application.job_title}: {status}; will be ended"
        output.print_wrapped(text, f"{application.application_id:>5}  ")
    typer.confirm("Erase this person?", abort=True, err=True)
