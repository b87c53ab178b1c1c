"""Print openings and their applicants."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import typer

from jobmill.cli.support import output, times
from jobmill.db import Tx
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.import_export import exports
from jobmill.hiring.openings.applicant_lists import ApplicantRow, OpeningDetail
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.applications import Application
from jobmill.hiring.records.openings import Opening

MAX_LISTED_OFFERS = 20
STATUS_NAMES = {
    "ACTIVE": "active",
    "PENDING_ACKNOWLEDGMENT": "offered",
    "WAITLIST": "waiting",
    "IN_REVIEW": "in review",
    "INACTIVE": "ended",
}
"""The statuses of an application, for people."""
ADMISSION_NAMES = {"first_come": None, "review": "review first", "lottery": "lottery"}


def opening_entry(opening: Opening) -> output.Entry:
    details = [
        opening.status,
        format_places(opening),
        _format_location(opening),
        f"opened {times.format_ago(opening.created_at)}",
    ]
    return opening.id, [opening.title, opening.employer], details


def format_places(opening: Opening) -> str:
    taken = f"{opening.occupied:,} of {output.format_count(opening.capacity, 'place')} taken"
    return f"{taken}, {opening.waiting:,} waiting"


def _format_location(opening: Opening) -> str | None:
    return output.join([opening.location, "remote" if opening.remote else None]) or None


def opening_json(opening: Opening, detail: OpeningDetail) -> dict[str, Any]:
    """An opening and its applicants under the names of the HTTP API."""
    return {
        **exports.opening_fields(opening),
        **exports.to_json_fields(detail.opening),
        "activeApplicants": [_applicant_json(row) for row in detail.active],
        "waitlistApplicants": [_applicant_json(row) for row in detail.waiting],
        "next": detail.next,
    }


def _applicant_json(row: ApplicantRow) -> dict[str, Any]:
    fields = exports.to_json_fields(row)
    fields.pop("queueKey")
    return fields


def application_fields(application: Application, position: int | None) -> dict[str, Any]:
    """What every command that changes an application prints of it."""
    return {
        "applicationId": application.id,
        "applicantId": application.applicant_id,
        "jobId": application.opening_id,
        "status": application.status,
        "queuePosition": position,
    }


def print_opening(opening: Opening, detail: OpeningDetail, *, first_page: bool) -> None:
    """Print an opening and its applicants; later pages have only applicants."""
    if first_page:
        _print_terms(opening, detail)
    if detail.active:
        typer.echo(f"\nPlaces taken ({detail.opening.active_count:,})")
        print_applicants(detail.active)
    if detail.waiting:
        typer.echo(f"\nWaiting ({detail.opening.waitlist_count:,})")
        print_applicants(detail.waiting)
    if first_page and not (detail.active or detail.waiting):
        typer.echo("\nNo current applications.")


def _print_terms(opening: Opening, detail: OpeningDetail) -> None:
    title = output.format_title(opening.title, opening.employer)
    output.print_wrapped(title, f"{opening.id:>5}  ", bold=True)
    counts, limit = detail.opening, opening.waitlist_limit
    missed_offers = output.format_count(opening.max_missed, "missed offer")
    keep_days = opening.keep_days
    facts: dict[str, object] = {
        "status": opening.status,
        "places": f"{counts.active_count:,} of {counts.capacity:,} taken",
        "waiting": f"{counts.waitlist_count:,}{'' if limit is None else f' (limit {limit:,})'}",
        "in review": f"{opening.in_review:,}" if opening.in_review else None,
        "admission": ADMISSION_NAMES[opening.admission],
        "location": _format_location(opening),
        "time to confirm": times.format_duration(opening.acknowledge_window),
        "quiet hours": _format_quiet_hours(opening),
        "time zone": opening.time_zone,
        "ends after": missed_offers,
        "free places": "must be confirmed" if opening.require_acknowledgement else None,
        "apply until": opening.apply_until,
        "data kept": keep_days and f"{output.format_count(keep_days, 'day')} after the end",
        "fairness proof": "published" if opening.fairness_proof else None,
        "opened": opening.created_at,
    }
    output.print_facts({name: value for name, value in facts.items() if value is not None})
    if opening.description:
        typer.echo()
        for line in opening.description.strip().split("\n"):
            output.print_wrapped(line)


def _format_quiet_hours(opening: Opening) -> str | None:
    if opening.quiet_from is None:
        return None
    return f"{opening.quiet_from:%H:%M} to {opening.quiet_until:%H:%M}"


def print_applicants(rows: Sequence[ApplicantRow]) -> None:
    """Print applicants, two lines each, with the number of their application."""
    output.print_entries(
        (
            row.application_id,
            [row.applicant_name, row.applicant_email],
            [
                format_status(row.status, row.queue_position, row.acknowledge_deadline),
                format_missed_offers(row.penalty_count),
                f"applied {times.format_ago(row.applied_at)}",
                f"applicant {row.applicant_id}",
            ],
        )
        for row in rows
    )


def format_missed_offers(count: int) -> str | None:
    return f"missed {output.format_count(count, 'offer')}" if count else None


def format_status(status: str, position: int | None, deadline: dt.datetime | None) -> str:
    """`position 3`, `active`, `offered, by 21:30:05 (4 min left)`."""
    if position is not None:
        return f"position {position:,}"
    return STATUS_NAMES[status] + (f", {times.format_deadline(deadline)}" if deadline else "")


@dataclass(frozen=True)
class PromotedApplicant:
    application_id: int
    applicant_id: int
    applicant_name: str


async def find_promoted(tx: Tx, events: Sequence[AuditEvent]) -> list[PromotedApplicant]:
    """The applicants with an offer in these events."""
    promoted: list[PromotedApplicant] = []
    for event in events:
        if event.type == "PROMOTED" and event.application_id is not None:
            application = await applications.get(tx, event.application_id)
            applicant = await applicants.get(tx, application.applicant_id)
            promoted.append(PromotedApplicant(application.id, applicant.id, applicant.name))
    return promoted


def print_capacity_change(
    opening: Opening, promoted: Sequence[PromotedApplicant], *, dry_run: bool, as_json: bool
) -> None:
    if as_json:
        offers = [exports.to_json_fields(applicant) for applicant in promoted]
        output.print_json(
            {**exports.opening_fields(opening), "promoted": offers, "dryRun": dry_run}
        )
        return
    would = "would have" if dry_run else "has"
    typer.echo(f"Opening {opening.id} {would} {format_places(opening)}.")
    if opening.excess:
        typer.echo(
            f"Nobody is removed: {opening.excess:,} above the capacity stay until they leave."
        )
    for applicant in promoted[:MAX_LISTED_OFFERS]:
        verb = "would be offered" if dry_run else "is offered"
        text = f"{applicant.applicant_name} {verb} a place."
        output.print_wrapped(text, f"{applicant.application_id:>5}  ")
    if len(promoted) > MAX_LISTED_OFFERS:
        typer.echo(f"{'':7}and {len(promoted) - MAX_LISTED_OFFERS:,} more; --json lists all")
    if dry_run:
        typer.echo("Nothing was changed.")
