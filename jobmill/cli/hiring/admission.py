"""jobmill hiring in-review, accept, reject, score, stage, draw: decisions on applications."""

from __future__ import annotations

from typing import Annotated

import typer

from jobmill.cli.hiring import bulk_actions
from jobmill.cli.hiring.bulk_actions import BulkOptions
from jobmill.cli.openings import opening_output
from jobmill.cli.support import hiring_session, output, session, times
from jobmill.cli.support.hiring_session import ApplicationId, OpeningId
from jobmill.cli.support.option_groups import expand_options
from jobmill.cli.support.output import AsJson, Limit, NextPage
from jobmill.db import Tx
from jobmill.errors import Invalid, NotFound
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.admission import decisions, lottery
from jobmill.hiring.admission.lottery import LotteryProof
from jobmill.hiring.import_export import exports
from jobmill.hiring.openings import review_list
from jobmill.hiring.openings.review_list import InReviewApplication
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applications import Application
from jobmill.hiring.stages import stage_board, stage_moves
from jobmill.hiring.stages.stage_board import StageColumn

Reason = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="Reason, kept in the audit log.")
]
TellReason = Annotated[bool, typer.Option("--tell-reason", help="Tell the applicant the reason.")]
AllInReview = Annotated[
    bool, typer.Option("--all-in-review", help="All applications in review, in the review order.")
]
MAX_SHOWN_ENTRIES = 20


def list_in_review(
    opening: OpeningId,
    limit: Limit = 50,
    after: NextPage = None,
    as_json: AsJson = False,
) -> None:
    """List the applications in review, in the order in which they would be accepted."""
    page = hiring_session.read_opening(
        opening, lambda tx: review_list.list_in_review(tx, opening, after=after, limit=limit)
    )
    empty = "No more applications." if after else "No application is in review."
    output.print_list(
        page.rows, _review_entry, empty=empty, as_json=as_json, to_json=exports.to_json_fields
    )
    if page.next:
        output.print_more_hint("--after", page.next)


def _review_entry(row: InReviewApplication) -> output.Entry:
    details = [
        "no score" if row.score is None else f"score {row.score}",
        "address not confirmed" if row.unconfirmed else None,
        f"applied {times.format_ago(row.applied_at)}",
    ]
    return row.application_id, [row.applicant_name, row.applicant_email], details


def accept(application: ApplicationId, reason: Reason = None, as_json: AsJson = False) -> None:
    """Accept an application in review: it joins the waitlist, and free places are offered at once."""

    async def work(tx: Tx) -> tuple[Application, int | None]:
        accepted = await decisions.accept(tx, application, LOCAL, reason=reason)
        return accepted, await applications.find_position(tx, accepted)

    accepted, position = session.in_transaction(work)
    _print_decided(accepted, "accepted", as_json, position)


def reject(
    application: ApplicationId,
    reason: Reason = None,
    tell_reason: TellReason = False,
    as_json: AsJson = False,
) -> None:
    """Reject an application in review, which ends it."""
    rejected = session.in_transaction(
        lambda tx: decisions.reject(tx, application, LOCAL, reason=reason, tell_reason=tell_reason)
    )
    _print_decided(rejected, "rejected", as_json)


def score(
    application: ApplicationId,
    points: Annotated[str, typer.Argument(metavar="SCORE", help="0 to 100, or `none`.")],
    as_json: AsJson = False,
) -> None:
    """Score an application in review."""
    if points != "none" and not (points.isascii() and points.isdecimal() and len(points) < 4):
        raise Invalid(f"{points} is neither a number from 0 to {decisions.MAX_SCORE} nor `none`")
    number = None if points == "none" else int(points)
    scored = session.in_transaction(lambda tx: decisions.score(tx, application, number, LOCAL))
    _print_decided(scored, f"score {points}", as_json)


def stage(
    application: ApplicationId,
    to: Annotated[str, typer.Argument(metavar="STAGE", help="Key of the new stage.")],
    seen: Annotated[
        str | None,
        typer.Option("--from", metavar="STAGE", help="Refuse unless it is in this stage."),
    ] = None,
    reason: Reason = None,
    tell_reason: TellReason = False,
    as_json: AsJson = False,
) -> None:
    """Move an application with a place to another stage; a rejecting stage ends it."""
    moved = session.in_transaction(
        lambda tx: stage_moves.move_to_stage(
            tx, application, to, LOCAL, seen=seen, reason=reason, tell_reason=tell_reason
        )
    )
    _print_decided(moved, f"moved to {to}", as_json)


def stages(opening: OpeningId, limit: Limit = 50, as_json: AsJson = False) -> None:
    """Show the people with a place by stage."""

    async def read(tx: Tx) -> list[StageColumn]:
        return await stage_board.read_board(tx, await openings.get(tx, opening), limit=limit)

    columns = hiring_session.read_opening(opening, read)
    for column in columns:
        if as_json:
            output.print_json(exports.to_json_fields(column))
            continue
        kind = "" if column.stage.kind == "open" else f", {column.stage.kind}"
        typer.echo(f"{column.stage.name} ({column.stage.key}{kind}): {column.count:,}")
        for person in column.people:
            output.print_wrapped(
                output.join([person.applicant_name, f"since {times.format_ago(person.moved_at)}"]),
                f"{person.application_id:>5}  ",
            )


@expand_options
def accept_many(
    opening: OpeningId,
    all_in_review: AllInReview = False,
    reason: Reason = None,
    *,
    options: BulkOptions,
) -> None:
    """Accept many applications together, in the review order; exit code 1 if one was refused."""
    bulk_actions.run_bulk_command(opening, "accept", options, all_in_review, reason or "")


@expand_options
def reject_many(
    opening: OpeningId,
    all_in_review: AllInReview = False,
    reason: Reason = None,
    tell_reason: TellReason = False,
    *,
    options: BulkOptions,
) -> None:
    """Reject many applications in review; exit code 1 if one was refused."""
    bulk_actions.run_bulk_command(
        opening, "reject", options, all_in_review, reason or "", tell_reason=tell_reason
    )


def draw(opening: OpeningId, as_json: AsJson = False) -> None:
    """Draw the order of all entries of a lottery, once; free places are offered at once."""
    proof = session.in_transaction(lambda tx: lottery.draw(tx, opening, LOCAL))
    _print_proof(proof, as_json)


def show_lottery(opening: OpeningId, as_json: AsJson = False) -> None:
    """Show the commitment of a lottery, and after the draw its seed and order."""

    async def read(tx: Tx) -> LotteryProof:
        proof = await lottery.find_proof(tx, opening)
        if proof is None:
            raise NotFound("lottery of opening", opening)
        return proof

    _print_proof(hiring_session.read_opening(opening, read), as_json)


def _print_proof(proof: LotteryProof, as_json: bool) -> None:
    if as_json:
        output.print_json(exports.to_json_fields(proof))
        return
    first = ", ".join(map(str, proof.order[:MAX_SHOWN_ENTRIES]))
    more = len(proof.order) - MAX_SHOWN_ENTRIES
    facts = {
        "commitment": proof.commitment,
        "entries open since": proof.opened_at,
        "drawn": proof.drawn_at or "not yet",
        "seed": proof.seed or "secret until the draw",
        "entries": proof.entries,
        "entries digest": proof.entries_digest,
        "removed by you": ", ".join(map(str, proof.removed[:MAX_SHOWN_ENTRIES])) or None,
        "order": f"{first} and {more:,} more; --json lists all" if more > 0 else first or None,
    }
    output.print_facts({name: value for name, value in facts.items() if value is not None})


def _print_decided(
    application: Application, what: str, as_json: bool, position: int | None = None
) -> None:
    status = opening_output.format_status(
        application.status, position, application.acknowledge_deadline
    )
    fields = opening_output.application_fields(application, position)
    output.print_result(
        fields | output.pick(application, "score", "stage"),
        f"Application {application.id}: {what}; {status}.",
        as_json,
    )
