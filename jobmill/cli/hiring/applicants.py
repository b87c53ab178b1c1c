"""jobmill hiring status, link, timeline, queue: applicants and the waitlist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from jobmill.cli.openings import opening_output
from jobmill.cli.support import hiring_session, output, session, times
from jobmill.cli.support.hiring_session import ApplicantName, OpeningId
from jobmill.cli.support.output import AsJson, Limit, NextPage
from jobmill.db import Tx
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.actor_names import find_actor_names
from jobmill.hiring.applications.applicant_applications import (
    ApplicantApplication,
    list_by_applicant,
)
from jobmill.hiring.applications.timeline import list_timeline, timeline_cursor
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.import_export import exports
from jobmill.hiring.messages import personal_links
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.openings.applicant_lists import ApplicantRow, OpeningCounts
from jobmill.hiring.records.applicants import Applicant
from jobmill.people import secrets

STANDING_FIELDS = (
    "applicationId",
    "jobId",
    "jobTitle",
    "status",
    "queuePosition",
    "appliedAt",
    "promotedAt",
    "acknowledgeDeadline",
    "timeInCurrentStateSeconds",
)
"""The fields of an application in the HTTP API."""


def status(person: ApplicantName, as_json: AsJson = False) -> None:
    """Show the status of an applicant in each opening."""
    applicant, applications = hiring_session.read_applicant(
        person, lambda tx, applicant: list_by_applicant(tx, applicant.id)
    )
    if as_json:
        output.print_json(_status_json(applicant, applications))
        return
    output.print_wrapped(
        output.join([applicant.name, applicant.email]), f"{applicant.id:>5}  ", bold=True
    )
    if not applications:
        typer.echo("       No applications.")
    output.print_entries(
        (application.application_id, [application.job_title], _describe_application(application))
        for application in applications
    )


def _status_json(applicant: Applicant, listed: list[ApplicantApplication]) -> dict[str, Any]:
    applications = [exports.to_json_fields(application) for application in listed]
    return {
        "applicantId": applicant.id,
        "applicantName": applicant.name,
        "applicantEmail": applicant.email,
        "applications": [
            {name: application[name] for name in STANDING_FIELDS} for application in applications
        ],
    }


def _describe_application(application: ApplicantApplication) -> list[str | None]:
    return [
        opening_output.format_status(
            application.status, application.queue_position, application.acknowledge_deadline
        ),
        f"for {times.format_age(application.time_in_current_state_seconds)}",
        f"applied {times.format_ago(application.applied_at)}",
        f"opening {application.job_id}",
    ]


def link(
    person: ApplicantName,
    renew: Annotated[
        bool, typer.Option("--renew", help="Create a new link; earlier links stop working.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print the personal link of an applicant; anyone with the link can act as the applicant."""

    async def make_link(tx: Tx) -> str:
        applicant = await hiring_session.find_applicant(tx, person)
        signer = LinkSigner(await secrets.get_signing_key(tx))
        return await personal_links.issue_path(tx, signer, applicant.id, LOCAL.name, renew=renew)

    url = hiring_session.base_url() + session.in_transaction(make_link)
    output.print_result({"url": url}, url, as_json)


def timeline(
    person: ApplicantName,
    limit: Limit = 200,
    after: NextPage = None,
    as_json: AsJson = False,
) -> None:
    """List all events of an applicant's applications, oldest first."""

    async def read_timeline(
        tx: Tx, applicant: Applicant
    ) -> tuple[list[AuditEvent], Mapping[str, str]]:
        events = await list_timeline(tx, applicant.id, after=after, limit=limit + 1)
        return events, await find_actor_names(tx, {event.actor for event in events})

    events, actors = hiring_session.read_applicant(person, read_timeline)
    for event in events[:limit]:
        if as_json:
            output.print_json(event_json(event))
        else:
            print_event(event, actors, with_opening=True)
    if not events and not as_json:
        typer.echo("No more events." if after else "No events: this person has not applied.")
    if len(events) > limit:
        output.print_more_hint("--after", timeline_cursor(events[limit - 1]))


def event_json(event: AuditEvent) -> dict[str, Any]:
    """An event under the names of the HTTP API."""
    return {
        "id": event.id,
        "applicationId": event.application_id,
        "eventType": event.type,
        "fromStatus": event.from_status,
        "toStatus": event.to_status,
        "metadata": event.metadata,
        "createdAt": exports.to_json_value(event.created_at),
        "jobId": event.opening_id,
        "seq": event.seq,
        "actor": event.actor,
        "note": event.note,
    }


def print_event(event: AuditEvent, actors: Mapping[str, str], *, with_opening: bool) -> None:
    """Print an event on one line; `actors` has the names of the actors."""
    lead = f"{times.format_second(event.created_at)}  {event.seq:>5}  "
    statuses = [
        opening_output.STATUS_NAMES[status]
        for status in (event.from_status, event.to_status)
        if status
    ]
    output.print_wrapped(
        output.join(
            [
                event.type,
                " → ".join(statuses) or None,
                f"opening {event.opening_id}" if with_opening else None,
                f"application {event.application_id}" if event.application_id else None,
                f"by {actors[event.actor]}",
                f"“{event.note}”" if event.note else None,
            ]
        ),
        lead,
    )


def queue(
    opening: OpeningId,
    limit: Limit = 50,
    after: Annotated[
        int, typer.Option(metavar="KEY", min=0, help="Next page, as printed by the previous one.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """List the waitlist of an opening, in order."""

    async def read_queue(tx: Tx) -> tuple[OpeningCounts, list[ApplicantRow]]:
        counts = await applicant_lists.get_counts(tx, opening)
        return counts, await applicant_lists.list_waiting(tx, opening, after=after, limit=limit + 1)

    counts, rows = hiring_session.read_opening(opening, read_queue)
    if as_json:
        output.print_json(_queue_json(counts, rows[:limit]))
    else:
        waiting = f"{counts.waitlist_count:,} waiting"
        taken = f"{counts.active_count:,} of {output.format_count(counts.capacity, 'place')} taken"
        output.print_wrapped(
            output.join([counts.title, taken, waiting]), f"{counts.id:>5}  ", bold=True
        )
        opening_output.print_applicants(rows[:limit])
        if not rows:
            typer.echo("       No more applicants." if after else "       The waitlist is empty.")
    if len(rows) > limit:
        output.print_more_hint("--after", rows[limit - 1].queue_key)


def _queue_json(counts: OpeningCounts, rows: list[ApplicantRow]) -> dict[str, Any]:
    return {
        "jobId": counts.id,
        "jobTitle": counts.title,
        "capacity": counts.capacity,
        "activeCount": counts.active_count,
        "waitlistEntries": [
            {
                "applicationId": row.application_id,
                "applicantId": row.applicant_id,
                "applicantName": row.applicant_name,
                "position": row.queue_position,
                "appliedAt": exports.to_json_value(row.applied_at),
                "penaltyCount": row.penalty_count,
            }
            for row in rows
        ],
    }
