"""jobmill hiring status|link|timeline|queue: who stands where, and how they came there."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from jobmill.cli.openings import roster
from jobmill.cli.support import hiring_session, output, times
from jobmill.cli.support.hiring_session import ApplicantName, OpeningId
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Tx
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.import_export import exports
from jobmill.hiring.messages import personal_links
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.openings.applicant_lists import ApplicantRow, ApplicationStanding, OpeningCounts
from jobmill.hiring.records.applicants import Applicant
from jobmill.people import secrets

STANDING = (
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
"""What the public contract says of an application."""


def status(person: ApplicantName, as_json: AsJson = False) -> None:
    """Show how somebody stands in each opening they applied for."""

    async def ask(tx: Tx, who: Applicant) -> tuple[Applicant, list[ApplicationStanding]]:
        return await applicant_lists.list_standings(tx, who.id)

    who, found = hiring_session.read_applicant(person, ask)
    if as_json:
        output.print_json(_status(who, found))
        return
    output.print_wrapped(output.join([who.name, who.email]), f"{who.id:>5}  ", bold=True)
    if not found:
        typer.echo("       has not applied for anything.")
    output.print_entries((one.application_id, [one.job_title], _standing(one)) for one in found)


def _status(who: Applicant, found: list[ApplicationStanding]) -> dict[str, Any]:
    listed = [exports.to_json_fields(one) for one in found]
    return {
        "applicantId": who.id,
        "applicantName": who.name,
        "applicantEmail": who.email,
        "applications": [{name: one[name] for name in STANDING} for one in listed],
    }


def _standing(one: ApplicationStanding) -> list[str | None]:
    return [
        roster.stands(one.status, one.queue_position, one.acknowledge_deadline),
        f"for {times.format_age(one.time_in_current_state_seconds)}",
        f"applied {times.format_ago(one.applied_at)}",
        f"opening {one.job_id}",
    ]


def link(
    person: ApplicantName,
    renew: Annotated[
        bool, typer.Option("--renew", help="A new one: those given before open nothing any more.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print somebody's personal link, for you to hand to them: who has it acts as they do."""

    async def act(tx: Tx) -> str:
        who = await hiring_session.find_applicant(tx, person)
        return await personal_links.make_path(
            tx, LinkSigner(await secrets.get_signing_key(tx)), who.id, renew=renew
        )

    url = hiring_session.base_url() + hiring_session.in_transaction(act)
    if as_json:
        output.print_json({"url": url})
    else:
        typer.echo(url)


def timeline(
    person: ApplicantName,
    limit: Limit = 200,
    after: Annotated[
        str | None, typer.Option(metavar="PLACE", help="Where the list goes on, as it says.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List all that happened to somebody's applications, in order."""

    async def ask(tx: Tx, who: Applicant) -> list[AuditEvent]:
        return await applicant_lists.list_timeline(tx, who.id, after=after, limit=limit + 1)

    found = hiring_session.read_applicant(person, ask)
    for event in found[:limit]:
        if as_json:
            output.print_json(event_record(event))
        else:
            print_event(event, opening=True)
    if not found and not as_json:
        typer.echo("There are no more." if after else "Nothing has happened: they never applied.")
    if len(found) > limit:
        typer.echo(
            f"There are more: --after {applicant_lists.timeline_cursor(found[limit - 1])}", err=True
        )


def event_record(event: AuditEvent) -> dict[str, Any]:
    """An event, by the names of the public contract."""
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


def print_event(event: AuditEvent, *, opening: bool) -> None:
    """An event in a line: when, what, from where to where, by whom."""
    lead = f"{times.format_second(event.created_at)}  {event.seq:>5}  "
    states = [roster.STATES[one] for one in (event.from_status, event.to_status) if one]
    output.print_wrapped(
        output.join(
            [
                event.type,
                " → ".join(states) or None,
                f"opening {event.opening_id}" if opening else None,
                f"application {event.application_id}" if event.application_id else None,
                f"by {event.actor}",
                f"“{event.note}”" if event.note else None,
            ]
        ),
        lead,
    )


def queue(
    opening: OpeningId,
    limit: Limit = 50,
    after: Annotated[
        int, typer.Option(metavar="KEY", min=0, help="Where it goes on, as it says.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """List who waits for an opening, in order."""

    async def ask(tx: Tx) -> tuple[OpeningCounts, list[ApplicantRow]]:
        counted = await applicant_lists.get_counts(tx, opening)
        return counted, await applicant_lists.list_waiting(
            tx, opening, after=after, limit=limit + 1
        )

    counted, found = hiring_session.read_opening(opening, ask)
    if as_json:
        output.print_json(_queue(counted, found[:limit]))
    else:
        waiting = f"{counted.waitlist_count:,} waiting"
        taken = f"{counted.active_count:,} of {output.format_count(counted.capacity, 'slot')} taken"
        output.print_wrapped(
            output.join([counted.title, taken, waiting]), f"{counted.id:>5}  ", bold=True
        )
        roster.people(found[:limit])
        if not found:
            typer.echo("       There are no more." if after else "       Nobody waits.")
    if len(found) > limit:
        typer.echo(f"There are more: --after {found[limit - 1].queue_key}", err=True)


def _queue(counted: OpeningCounts, found: list[ApplicantRow]) -> dict[str, Any]:
    return {
        "jobId": counted.id,
        "jobTitle": counted.title,
        "capacity": counted.capacity,
        "activeCount": counted.active_count,
        "waitlistEntries": [
            {
                "applicationId": row.application_id,
                "applicantId": row.applicant_id,
                "applicantName": row.applicant_name,
                "position": row.queue_position,
                "appliedAt": exports.to_json_value(row.applied_at),
                "penaltyCount": row.penalty_count,
            }
            for row in found
        ],
    }
