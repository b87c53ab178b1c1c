"""jobmill hiring summary, replay, why, fairness: read the audit log of an opening, and publish it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from jobmill.cli.hiring.applicants import event_json, print_event
from jobmill.cli.openings import opening_output
from jobmill.cli.support import files, hiring_session, output, times
from jobmill.cli.support.hiring_session import OpeningId
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.hiring.actor_names import find_actor_names
from jobmill.hiring.audit_log import events, fairness_proof
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.audit_log.explanations import (
    EventExplanation,
    explain_event,
    render_sentence,
)
from jobmill.hiring.audit_log.fairness_proof import PublicHeads
from jobmill.hiring.audit_log.replay import OpeningReplay, ReplayedApplication, replay_at
from jobmill.hiring.audit_log.summary import summarize
from jobmill.hiring.audit_log.verification import ChainHead
from jobmill.hiring.import_export import exports

SHOWN_EVENTS = 10
"""A replay prints this many of the last events."""


def summary(opening: OpeningId, as_json: AsJson = False) -> None:
    """Summarize an opening: counts, average time to an offer and to an answer."""
    counts = hiring_session.read_opening(opening, lambda tx: summarize(tx, opening))
    if as_json:
        fields = exports.to_json_fields(counts)
        # An addition to the fields of the HTTP API, left out there as well if it is empty.
        if not counts.in_review_count:
            del fields["inReviewCount"]
        api_names = {"openingId": "jobId", "title": "jobTitle"}
        output.print_json({api_names.get(name, name): value for name, value in fields.items()})
        return
    output.print_wrapped(counts.title, f"{counts.opening_id:>5}  ", bold=True)
    output.print_facts(
        {
            "places": f"{counts.active_count:,} of {counts.capacity:,} taken",
            "waiting": f"{counts.waitlist_count:,}",
            "in review": f"{counts.in_review_count:,}",
            "ended": f"{counts.inactive_count:,}",
            "applications": f"{counts.total_applications:,}",
            "missed offers": f"{counts.decay_events:,}",
            "time to offer": _format_average(counts.avg_time_to_promotion_seconds),
            "time to answer": _format_average(counts.avg_acknowledgment_time_seconds),
        }
    )


def _format_average(seconds: float | None) -> str:
    if seconds is None:
        return "not known yet"
    return f"{times.format_age(seconds)} on average"


def replay(
    opening: OpeningId,
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Time such as 2026-11-15 09:30; default: now."),
    ] = None,
    seq: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Show the state right after this event."),
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Show an opening as it was at any time: its applicants, its waitlist and the last events."""
    if at is not None and seq is not None:
        raise Invalid("use --at TIME or --seq N, not both")
    as_of = times.parse_time(at) if at is not None else None

    async def read_replay(tx: Tx) -> tuple[OpeningReplay, list[AuditEvent], Mapping[str, str]]:
        state = await replay_at(tx, opening, as_of=as_of, seq=seq)
        first = 0 if as_json else max(state.seq - SHOWN_EVENTS, 0)
        last_events = await events.find_by_opening(tx, opening, after=first, upto=state.seq)
        actors = await find_actor_names(tx, {event.actor for event in last_events})
        return state, last_events, actors

    state, last_events, actors = hiring_session.read_opening(opening, read_replay)
    if as_json:
        output.print_json(_replay_json(state, last_events))
    else:
        _print_replay(state, last_events, actors, limit)


def _replay_json(state: OpeningReplay, last_events: Sequence[AuditEvent]) -> dict[str, Any]:
    return {
        "jobId": state.opening_id,
        "asOf": exports.to_json_value(state.as_of),
        "activeApplicants": [_application_json(application) for application in state.active],
        "waitlistApplicants": [_application_json(application) for application in state.waiting],
        "inReviewApplicants": [_application_json(application) for application in state.in_review],
        # The HTTP API has no events of the opening itself.
        "events": [event_json(event) for event in last_events if event.application_id is not None],
        "seq": state.seq,
        "status": state.status,
        "capacity": state.capacity,
    }


def _application_json(application: ReplayedApplication) -> dict[str, Any]:
    return {
        "applicationId": application.application_id,
        "applicantId": application.applicant_id,
        "applicantName": application.applicant_name,
        "status": application.status,
        "queuePosition": application.position,
        "stage": application.stage,
    }


def _print_replay(
    state: OpeningReplay, last_events: Sequence[AuditEvent], actors: Mapping[str, str], limit: int
) -> None:
    at = times.format_second(state.as_of)
    if state.status is None:
        typer.echo(f"Opening {state.opening_id} did not exist at {at}.")
        return
    taken = f"{state.occupied:,} of {output.format_count(state.capacity, 'place')} taken"
    waiting = f"{len(state.waiting):,} waiting"
    headline = output.join([at, f"after event {state.seq}", state.status, taken, waiting])
    output.print_wrapped(headline, f"{state.opening_id:>5}  ", bold=True)
    _print_applications("Places taken", state.active, limit)
    _print_applications("Waiting", state.waiting, limit)
    _print_applications("In review", state.in_review, limit)
    typer.echo("\nLast events")
    for event in last_events:
        print_event(event, actors, with_opening=False)


def _print_applications(
    title: str, applications: Sequence[ReplayedApplication], limit: int
) -> None:
    if not applications:
        return
    typer.echo(f"\n{title} ({len(applications):,})")
    for application in applications[:limit]:
        details = [
            application.applicant_name,
            opening_output.format_status(application.status, application.position, None),
            opening_output.format_missed_offers(application.penalty_count),
            f"applicant {application.applicant_id}",
        ]
        output.print_wrapped(output.join(details), f"{application.application_id:>5}  ")
    if len(applications) > limit:
        typer.echo(f"{'':7}and {len(applications) - limit:,} more; raise --limit to see them")


def why(
    opening: OpeningId,
    seq: Annotated[int, typer.Argument(metavar="SEQ", min=1, help="Number of the event.")],
    as_json: AsJson = False,
) -> None:
    """Explain an event: the rule, its input and the applicants ahead on the waitlist."""

    async def explain(tx: Tx) -> tuple[EventExplanation, str]:
        explanation = await explain_event(tx, opening, seq)
        return explanation, (await find_actor_names(tx, [explanation.by]))[explanation.by]

    explanation, actor = hiring_session.read_opening(opening, explain)
    if as_json:
        output.print_json(_explanation_json(explanation))
        return
    at = times.format_second(explanation.at)
    headline = output.join([explanation.type, at, f"by {actor}"])
    output.print_wrapped(headline, f"{explanation.seq:>5}  ", bold=True)
    # With their number, because two applicants can have the same name.
    names = {id: f"{name} ({id})" for id, name in explanation.names.items()}
    for sentence in explanation.pieces:
        output.print_wrapped(render_sentence(sentence, names, times.format_second), "       ")


def _explanation_json(explanation: EventExplanation) -> dict[str, Any]:
    ahead = explanation.ahead
    return {
        "jobId": explanation.opening_id,
        "seq": explanation.seq,
        "eventType": explanation.type,
        "applicationId": explanation.application_id,
        "rule": explanation.rule,
        "cause": explanation.cause,
        "ahead": {"count": ahead.count, "first": list(ahead.first)},
        "actor": explanation.by,
        "createdAt": exports.to_json_value(explanation.at),
        "sentences": explanation.sentences,
    }


def fairness(
    opening: OpeningId,
    save: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Save the public log as JSON lines; `-`: print it."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the end of an opening's public log, or save the log; people appear under random codes.

    Switch it on with `jobmill opening edit OPENING --fairness-proof`.
    """

    async def read_proof(tx: Tx) -> ChainHead:
        if save:
            with files.open_output(save) as out:
                async for line in fairness_proof.iter_lines(tx, opening):
                    out.write(line + "\n")
        return await PublicHeads().find(tx, opening)

    head = hiring_session.read_opening(opening, read_proof)
    if save == "-":
        return
    url = f"{hiring_session.base_url()}/openings/{opening}/fairness"
    if as_json:
        output.print_json({"jobId": opening, "seq": head.seq, "hash": head.hash, "url": url})
        return
    output.print_facts({"page": url, "events": f"{head.seq:,}", "head": f"{head.seq}:{head.hash}"})
    if save:
        typer.echo(f"Saved to {save}. Check it with verify_fairness.py from the page.", err=True)
