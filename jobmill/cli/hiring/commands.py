"""jobmill hiring …: who applies, who is offered a slot, who leaves."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from jobmill.cli.hiring import applicants as standing
from jobmill.cli.hiring import audit_log, bulk_actions, personal_data
from jobmill.cli.openings import spreadsheets
from jobmill.cli.support import hiring_session, output, times
from jobmill.cli.support.hiring_session import ApplicationId, OpeningId
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Gone, Invalid
from jobmill.hiring import sample_data
from jobmill.hiring.actor import LOCAL, Actor, by_applicant
from jobmill.hiring.applications import offers, outcomes, submissions
from jobmill.hiring.applications.offers import Answer
from jobmill.hiring.applications.submissions import MissedOffer, Placement
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.applications import Application
from jobmill.hiring.sample_data import SampleData

app = typer.Typer(no_args_is_help=True)

Themselves = Annotated[
    bool,
    typer.Option(
        "--for-applicant", help="As they asked for it: the log and the letter do not name you."
    ),
]
Why = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the log.")]


@app.command()
def apply(
    opening: OpeningId,
    applicant: Annotated[
        int | None,
        typer.Option(metavar="ID", min=1, help="Somebody who is known."),
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="Or anybody, by name …")] = None,
    email: Annotated[str | None, typer.Option(metavar="ADDRESS", help="… and address.")] = None,
    as_json: AsJson = False,
) -> None:
    """Apply for somebody: they take a free slot, or join the waitlist."""
    if applicant is not None and name is None and email is None:
        placed = hiring_session.in_transaction(
            lambda tx: submissions.apply(tx, opening, applicant, LOCAL)
        )
    elif applicant is None and name is not None and email is not None:
        person = applicants.parse_contact(name, email, fold=hiring_session.folds_email_aliases())
        placed = hiring_session.in_transaction(
            lambda tx: submissions.apply_with_contact(tx, opening, person, LOCAL)
        )
    else:
        raise Invalid("name --applicant ID, or --name and --email")
    _tell(placed.application, outcomes.apply_message(placed), as_json, placed.position)


@app.command()
def withdraw(
    application: ApplicationId,
    reason: Why = None,
    for_applicant: Themselves = False,
    as_json: AsJson = False,
) -> None:
    """End an application; a slot that it had goes to who waits longest."""

    async def act(tx: Tx) -> Placement:
        by = await _by(tx, application, for_applicant)
        return await submissions.withdraw(tx, application, by, reason=reason)

    placed = hiring_session.in_transaction(act)
    _tell(placed.application, outcomes.WITHDRAWN, as_json)


@app.command()
def ack(
    application: ApplicationId, for_applicant: Themselves = False, as_json: AsJson = False
) -> None:
    """Confirm an offer, in time (else exit code 4: the slot is gone)."""
    _answer(application, "accept", for_applicant, None, as_json)


@app.command()
def decline(
    application: ApplicationId,
    reason: Why = None,
    for_applicant: Themselves = False,
    as_json: AsJson = False,
) -> None:
    """Turn an offer down, which ends the application."""
    _answer(application, "decline", for_applicant, reason, as_json)


def _answer(
    id: int,
    answer: Answer,
    for_applicant: bool,
    reason: str | None,
    as_json: bool,
) -> None:
    async def act(tx: Tx) -> Placement | MissedOffer:
        by = await _by(tx, id, for_applicant)
        return await offers.answer_offer(tx, id, answer, by, reason=reason)

    done = hiring_session.in_transaction(act)
    # What the miss led to is committed by now.
    if isinstance(done, submissions.MissedOffer):
        raise Gone(outcomes.missed_message(done.application))
    _tell(done.application, outcomes.ANSWERED[answer], as_json)


async def _by(tx: Tx, application: int, for_applicant: bool) -> Actor:
    if not for_applicant:
        return LOCAL
    return by_applicant((await applications.get(tx, application)).applicant_id)


@app.command()
def promote(
    application: ApplicationId,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why out of turn; the log keeps it.")],
    add_slot: Annotated[
        bool, typer.Option("--add-slot", help="Make one more slot if none is free.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Offer a slot to somebody who waits, out of turn."""
    done = hiring_session.in_transaction(
        lambda tx: lifecycle.offer_out_of_turn(
            tx, application, LOCAL, reason=reason, add_slot=add_slot
        )
    )
    _tell(done, outcomes.PROMOTED, as_json)


def _tell(one: Application, message: str, as_json: bool, position: int | None = None) -> None:
    if as_json:
        output.print_json(_result(one, message, position))
        return
    deadline = one.acknowledge_deadline
    end = f" Answer it {times.format_deadline(deadline)}." if deadline else ""
    typer.echo(f"Application {one.id}: {message}{end}")


def _result(one: Application, message: str, position: int | None) -> dict[str, Any]:
    return {
        "applicationId": one.id,
        "applicantId": one.applicant_id,
        "jobId": one.opening_id,
        "status": one.status,
        "queuePosition": position,
        "message": message,
    }


app.command()(standing.status)
app.command()(standing.link)
app.command()(standing.timeline)
app.command()(standing.queue)
app.command()(audit_log.summary)
app.command()(audit_log.replay)
app.command()(audit_log.why)
app.command()(audit_log.verify)
app.command("export-person")(personal_data.export_person)
app.command("erase-person")(personal_data.erase_person)
app.command("import-applicants")(spreadsheets.import_applicants)
app.command("withdraw-many")(bulk_actions.withdraw_many)
app.command("promote-many")(bulk_actions.promote_many)
app.command("message-many")(bulk_actions.message_many)


def seed(as_json: AsJson = False) -> None:
    """Make a sample to look around in: 3 openings, 5 people, some applications. Once is enough."""

    async def act(tx: Tx) -> SampleData:
        return await sample_data.add_sample_data(tx, LOCAL)

    done = hiring_session.in_transaction(act)
    if as_json:
        output.print_record(done, as_json=True)
        return
    ids = ", ".join(map(str, done.openings))
    if done.added:
        typer.echo(
            f"Made openings {ids} and {output.format_count(len(done.applicants), 'applicant')}."
        )
        typer.echo(f"Look around: jobmill opening show {done.openings[0]}", err=True)
    else:
        typer.echo(f"The sample is there already (openings {ids}); nothing was changed.")
