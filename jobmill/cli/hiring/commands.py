"""jobmill hiring: apply, withdraw, answer and promote; and `jobmill seed`."""

from __future__ import annotations

from typing import Annotated

import typer

from jobmill.cli.hiring import (
    admission,
    audit_log,
    bulk_actions,
    log_verification,
    personal_data,
    reviews,
)
from jobmill.cli.hiring import applicants as applicant_commands
from jobmill.cli.hiring import company as company_commands
from jobmill.cli.openings import opening_output, spreadsheets
from jobmill.cli.support import hiring_session, output, session, times
from jobmill.cli.support.hiring_session import ApplicationId, OpeningId
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Gone, Invalid
from jobmill.hiring import sample_data
from jobmill.hiring.actor import LOCAL, Actor, by_applicant
from jobmill.hiring.applications import offers, outcomes, submissions, withdrawals
from jobmill.hiring.applications.outcomes import Answer, MissedOffer, Placement
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.applications import Application

app = typer.Typer(no_args_is_help=True)

ForApplicant = Annotated[
    bool,
    typer.Option(
        "--for-applicant", help="Act for the applicant: the log and the email do not name you."
    ),
]
Reason = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="Reason, kept in the audit log.")
]


@app.command()
def apply(
    opening: OpeningId,
    applicant: Annotated[
        int | None,
        typer.Option(metavar="ID", min=1, help="Number of a known applicant."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Name of a new applicant, with --email.")
    ] = None,
    email: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Email address of a new applicant.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Apply for a person: they get a free place or join the waitlist."""
    if applicant is not None and name is None and email is None:
        placement = session.in_transaction(
            lambda tx: submissions.apply(tx, opening, applicant, LOCAL)
        )
    elif applicant is None and name is not None and email is not None:
        contact = applicants.parse_contact(name, email, fold=hiring_session.folds_email_aliases())
        placement = session.in_transaction(
            lambda tx: submissions.apply_with_contact(tx, opening, contact, LOCAL)
        )
    else:
        raise Invalid("use --applicant ID, or --name and --email")
    _print_application(
        placement.application, outcomes.apply_message(placement), as_json, placement.position
    )


@app.command()
def withdraw(
    application: ApplicationId,
    reason: Reason = None,
    for_applicant: ForApplicant = False,
    as_json: AsJson = False,
) -> None:
    """Withdraw an application; its place is offered to the next on the waitlist."""

    async def withdraw_application(tx: Tx) -> Placement:
        actor = await _choose_actor(tx, application, for_applicant)
        return await withdrawals.withdraw(tx, application, actor, reason=reason)

    placement = session.in_transaction(withdraw_application)
    _print_application(placement.application, outcomes.WITHDRAWN, as_json)


@app.command()
def ack(
    application: ApplicationId, for_applicant: ForApplicant = False, as_json: AsJson = False
) -> None:
    """Accept an offer; exit code 4 if it has expired."""
    _answer(application, "accept", for_applicant, None, as_json)


@app.command()
def decline(
    application: ApplicationId,
    reason: Reason = None,
    for_applicant: ForApplicant = False,
    as_json: AsJson = False,
) -> None:
    """Decline an offer, which ends the application."""
    _answer(application, "decline", for_applicant, reason, as_json)


def _answer(
    id: int,
    answer: Answer,
    for_applicant: bool,
    reason: str | None,
    as_json: bool,
) -> None:
    async def answer_offer(tx: Tx) -> Placement | MissedOffer:
        actor = await _choose_actor(tx, id, for_applicant)
        return await offers.answer_offer(tx, id, answer, actor, reason=reason)

    result = session.in_transaction(answer_offer)
    # Raised only now, because the consequences of the missed offer must be committed.
    if isinstance(result, outcomes.MissedOffer):
        raise Gone(outcomes.missed_message(result.application))
    _print_application(result.application, outcomes.ANSWERED[answer], as_json)


async def _choose_actor(tx: Tx, application: int, for_applicant: bool) -> Actor:
    if not for_applicant:
        return LOCAL
    return by_applicant((await applications.get(tx, application)).applicant_id)


@app.command()
def promote(
    application: ApplicationId,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Reason, kept in the audit log.")],
    add_slot: Annotated[
        bool, typer.Option("--add-slot", help="Add a place if none is free.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Offer a place to a waiting applicant, out of turn."""
    promoted = session.in_transaction(
        lambda tx: offers.offer_out_of_turn(
            tx, application, LOCAL, reason=reason, add_slot=add_slot
        )
    )
    _print_application(promoted, outcomes.PROMOTED, as_json)


def _print_application(
    application: Application, message: str, as_json: bool, position: int | None = None
) -> None:
    deadline = application.acknowledge_deadline
    end = f" Answer {times.format_deadline(deadline)}." if deadline else ""
    output.print_result(
        opening_output.application_fields(application, position) | {"message": message},
        f"Application {application.id}: {message}{end}",
        as_json,
    )


app.command()(applicant_commands.status)
app.command()(applicant_commands.link)
app.command()(applicant_commands.timeline)
app.command()(applicant_commands.queue)
app.command()(audit_log.summary)
app.command()(audit_log.replay)
app.command()(audit_log.why)
app.command()(log_verification.verify)
app.command()(audit_log.fairness)
app.command()(reviews.review)
app.command()(reviews.note)
app.command("edit-note")(reviews.edit_note)
app.command("delete-note")(reviews.delete_note)
app.command()(reviews.rate)
app.command()(reviews.tag)
app.command("export-person")(personal_data.export_person)
app.command("erase-person")(personal_data.erase_person)
app.command("import-applicants")(spreadsheets.import_applicants)
app.command("withdraw-many")(bulk_actions.withdraw_many)
app.command("promote-many")(bulk_actions.promote_many)
app.command("message-many")(bulk_actions.message_many)
app.command("in-review")(admission.list_in_review)
app.command()(admission.accept)
app.command()(admission.reject)
app.command()(admission.score)
app.command("accept-many")(admission.accept_many)
app.command("reject-many")(admission.reject_many)
app.command()(admission.stage)
app.command()(admission.stages)
app.command()(admission.draw)
app.command("lottery")(admission.show_lottery)
app.command()(company_commands.company)
app.command()(company_commands.logo)
app.command("letters")(company_commands.list_letters)
app.command()(company_commands.letter)


def seed(as_json: AsJson = False) -> None:
    """Add sample data once: 3 openings, 5 people and some applications."""
    sample = session.in_transaction(lambda tx: sample_data.add_sample_data(tx, LOCAL))
    if as_json:
        output.print_record(sample, as_json=True)
        return
    ids = ", ".join(map(str, sample.openings))
    if sample.added:
        typer.echo(
            f"Added openings {ids} and {output.format_count(len(sample.applicants), 'applicant')}."
        )
        typer.echo(f"See one: jobmill opening show {sample.openings[0]}", err=True)
    else:
        typer.echo(f"The sample data already exists (openings {ids}); nothing was changed.")
