"""jobmill hiring export-person|erase-person: what is known of somebody, and forgetting it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobmill.cli import reasons, recruiter, roster, show
from jobmill.cli.recruiter import PersonName
from jobmill.cli.show import AsJson
from jobmill.errors import Conflict, Invalid

if TYPE_CHECKING:
    from jobmill.db import Tx
    from jobmill.hiring.openings.applicant_lists import Own
    from jobmill.hiring.records.applicants import Applicant


def export_person(
    person: PersonName,
    out: Annotated[str, typer.Option(metavar="FILE", help="Where to; - is stdout.")] = "-",
    as_json: Annotated[bool, typer.Option("--json", help="It is JSON anyway.")] = False,
) -> None:
    """Write all that is known of somebody as JSON, for them to have."""
    from jobmill.cli.files import replacing
    from jobmill.hiring import privacy

    async def ask(tx: Tx, who: Applicant) -> Any:
        return await privacy.export(tx, who.id)

    found = recruiter.look_at_person(person, ask)
    with replacing(out) as file:
        show.print_json(found, file)
    if out != "-":
        typer.echo(f"Written to {out}", err=True)


def erase_person(
    person: PersonName,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget somebody for good: name, address, words about them. The log stays whole without them.

    Applications that live are ended first, and their slots go to the next.
    """
    from jobmill.hiring import privacy
    from jobmill.hiring.actor import LOCAL
    from jobmill.hiring.openings import applicant_lists

    async def ask(tx: Tx, who: Applicant) -> tuple[Applicant, list[Own]]:
        return await applicant_lists.own(tx, who.id)

    who, own = recruiter.look_at_person(person, ask)
    if who.erased_at:
        raise Conflict(f"applicant {who.id} was erased already, {recruiter.ago(who.erased_at)}")
    live = [one for one in own if one.status != "INACTIVE"]
    if not yes:
        _ask(who, live, len(own))

    async def act(tx: Tx) -> None:
        await privacy.erase(tx, who.id, LOCAL)

    recruiter.change(act)
    if as_json:
        ended = [one.application_id for one in live]
        show.print_json({"applicantId": who.id, "erased": True, "ended": ended})
    else:
        typer.echo(f"Applicant {who.id} is erased.")


def _ask(who: Applicant, live: list[Own], count: int) -> None:
    """Say what it comes to, and go on only if that is meant."""
    if not sys.stdin.isatty():
        raise Invalid("nobody is there to ask: --yes does it")
    reasons.say(f"{who.name} · {who.email}", f"{who.id:>5}  ", bold=True)
    many = show.count(count, "application")
    reasons.say(f"Name, address and notes are erased, also from {many}. It cannot be undone.")
    for one in live:
        words = f"{one.job_title}: {roster.STATES[one.status]}; it is ended"
        reasons.say(words, f"{one.application_id:>5}  ")
    typer.confirm("Erase this person?", abort=True, err=True)
