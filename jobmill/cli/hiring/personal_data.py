"""jobmill hiring export-person|erase-person: what is known of somebody, and forgetting it."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from jobmill.cli.openings import roster
from jobmill.cli.support import files, hiring_session, output, times
from jobmill.cli.support.hiring_session import ApplicantName
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.openings.applicant_lists import ApplicationStanding
from jobmill.hiring.records.applicants import Applicant


def export_person(
    person: ApplicantName,
    out: Annotated[str, typer.Option(metavar="FILE", help="Where to; - is stdout.")] = "-",
    as_json: Annotated[bool, typer.Option("--json", help="It is JSON anyway.")] = False,
) -> None:
    """Write all that is known of somebody as JSON, for them to have."""

    async def ask(tx: Tx, who: Applicant) -> Any:
        return await privacy.export_personal_data(tx, who.id)

    found = hiring_session.read_applicant(person, ask)
    with files.open_output(out) as file:
        output.print_json(found, file)
    if out != "-":
        typer.echo(f"Written to {out}", err=True)


def erase_person(
    person: ApplicantName,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget somebody for good: name, address, words about them. The log stays whole without them.

    Applications that live are ended first, and their slots go to the next.
    """

    async def ask(tx: Tx, who: Applicant) -> tuple[Applicant, list[ApplicationStanding]]:
        return await applicant_lists.list_standings(tx, who.id)

    who, own = hiring_session.read_applicant(person, ask)
    if who.erased_at:
        raise Conflict(f"applicant {who.id} was erased already, {times.format_ago(who.erased_at)}")
    live = [one for one in own if one.status != "INACTIVE"]
    if not yes:
        _ask(who, live, len(own))

    async def act(tx: Tx) -> None:
        await privacy.erase_applicant(tx, who.id, LOCAL)

    hiring_session.in_transaction(act)
    if as_json:
        ended = [one.application_id for one in live]
        output.print_json({"applicantId": who.id, "erased": True, "ended": ended})
    else:
        typer.echo(f"Applicant {who.id} is erased.")


def _ask(who: Applicant, live: list[ApplicationStanding], count: int) -> None:
    """Say what it comes to, and go on only if that is meant."""
    if not sys.stdin.isatty():
        raise Invalid("nobody is there to ask: --yes does it")
    output.print_wrapped(f"{who.name} · {who.email}", f"{who.id:>5}  ", bold=True)
    many = output.format_count(count, "application")
    output.print_wrapped(
        f"Name, address and notes are erased, also from {many}. It cannot be undone."
    )
    for one in live:
        words = f"{one.job_title}: {roster.STATES[one.status]}; it is ended"
        output.print_wrapped(words, f"{one.application_id:>5}  ")
    typer.confirm("Erase this person?", abort=True, err=True)
