"""Openings, and those who want them, as people see them in a terminal."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import typer

from jobmill.cli.matches import match_output
from jobmill.cli.support import output, times
from jobmill.db import Tx
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.import_export import exports
from jobmill.hiring.openings.applicant_lists import ApplicantRow, OpeningDetail
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.openings import Opening

FIRST = 20
STATES = {
    "ACTIVE": "active",
    "PENDING_ACKNOWLEDGMENT": "offered",
    "WAITLIST": "waiting",
    "INACTIVE": "ended",
}
"""The states of an application, as people say them."""


def openings(found: Sequence[Opening], *, as_json: bool) -> None:
    """Openings, two lines each; a JSON object a line for programs."""
    if as_json:
        for one in found:
            output.print_json(exports.opening_fields(one))
        return
    output.print_entries(
        (
            one.id,
            [one.title, one.employer],
            [one.status, filled(one), _place(one), f"opened {times.format_ago(one.created_at)}"],
        )
        for one in found
    )


def filled(one: Opening) -> str:
    slots = f"{one.occupied:,} of {output.format_count(one.capacity, 'slot')} taken"
    return f"{slots}, {one.waiting:,} waiting"


def _place(one: Opening) -> str | None:
    return output.join([one.location, "remote" if one.remote else None]) or None


def record(one: Opening, detail: OpeningDetail) -> dict[str, Any]:
    """An opening and its people, by the names of the public contract."""
    counted = exports.to_json_fields(detail.opening)
    return {
        **exports.opening_fields(one),
        **counted,
        "activeApplicants": [_row(row) for row in detail.active],
        "waitlistApplicants": [_row(row) for row in detail.waiting],
        "next": detail.next,
    }


def _row(row: ApplicantRow) -> dict[str, Any]:
    known = exports.to_json_fields(row)
    known.pop("queueKey")
    return known


def whole(one: Opening, detail: OpeningDetail, *, first: bool) -> None:
    """An opening in full; on a later page only those whom it holds."""
    if first:
        _terms(one, detail)
    if detail.active:
        _heading("In it", detail.opening.active_count)
        people(detail.active)
    if detail.waiting:
        _heading("Waiting", detail.opening.waitlist_count)
        people(detail.waiting)
    if first and not (detail.active or detail.waiting):
        typer.echo("\nNobody has applied yet, or all have left.")


def _heading(word: str, count: int) -> None:
    typer.echo(f"\n{word} ({count:,})")


def _terms(one: Opening, detail: OpeningDetail) -> None:
    output.print_wrapped(
        match_output.format_title(one.title, one.employer), f"{one.id:>5}  ", bold=True
    )
    counts = detail.opening
    known: dict[str, object] = {
        "status": one.status,
        "slots": f"{counts.active_count:,} of {counts.capacity:,} taken",
        "waiting": f"{counts.waitlist_count:,}{_of(one.waitlist_limit)}",
        "location": _place(one),
        "offers stand for": times.format_duration(one.acknowledge_window),
        "offers missed": f"{one.max_missed} end an application",
        "free slots": "must be confirmed" if one.require_acknowledgement else None,
        "apply until": one.apply_until,
        "data kept": one.keep_days and f"{output.format_count(one.keep_days, 'day')} after an end",
        "opened": one.created_at,
    }
    output.print_facts({name: value for name, value in known.items() if value is not None})
    if one.description:
        typer.echo()
        for line in one.description.strip().split("\n"):
            output.print_wrapped(line)


def _of(limit: int | None) -> str:
    return "" if limit is None else f" of {limit:,} at most"


def people(rows: Sequence[ApplicantRow]) -> None:
    """Those in an opening, two lines each, by the number of their application."""
    output.print_entries(
        (
            row.application_id,
            [row.applicant_name, row.applicant_email],
            [
                stands(row.status, row.queue_position, row.acknowledge_deadline),
                f"missed {output.format_count(row.penalty_count, 'offer')}"
                if row.penalty_count
                else None,
                f"applied {times.format_ago(row.applied_at)}",
                f"applicant {row.applicant_id}",
            ],
        )
        for row in rows
    )


def stands(status: str, position: int | None, deadline: dt.datetime | None) -> str:
    """`position 3`, `active`, `offered, by 21:30:05 (4 min left)`."""
    if position is not None:
        return f"position {position:,}"
    end = f", {times.format_deadline(deadline)}" if deadline else ""
    return STATES[status] + end


@dataclass(frozen=True)
class Promoted:
    """Somebody who is offered a slot."""

    application_id: int
    applicant_id: int
    applicant_name: str


async def promoted(tx: Tx, events: Sequence[AuditEvent]) -> list[Promoted]:
    """Those whom these events promoted."""
    found: list[Promoted] = []
    for event in events:
        if event.type == "PROMOTED" and event.application_id is not None:
            one = await applications.get(tx, event.application_id)
            name = (await applicants.get(tx, one.applicant_id)).name
            found.append(Promoted(one.id, one.applicant_id, name))
    return found


def tell_capacity(
    done: Opening, found: Sequence[Promoted], *, dry_run: bool, as_json: bool
) -> None:
    """What a change of the capacity came to."""
    if as_json:
        listed = [exports.to_json_fields(one) for one in found]
        output.print_json({**exports.opening_fields(done), "promoted": listed, "dryRun": dry_run})
        return
    would = "would have" if dry_run else "has"
    typer.echo(f"Opening {done.id} {would} {filled(done)}.")
    if done.excess:
        typer.echo(f"Nobody is sent away: {done.excess:,} beyond that stay until they leave.")
    for one in found[:FIRST]:
        verb = "would be offered" if dry_run else "is offered"
        output.print_wrapped(f"{one.applicant_name} {verb} a slot.", f"{one.application_id:>5}  ")
    if len(found) > FIRST:
        typer.echo(f"{'':7}and {len(found) - FIRST:,} more: --json names all")
    if dry_run:
        typer.echo("Nothing was changed.")
