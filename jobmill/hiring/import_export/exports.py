"""Openings and applications by the field names of the public API, for exports and JSON output."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from typing import Any

from jobmill.db import Tx
from jobmill.hiring import timestamps
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.openings.applicant_lists import ApplicantRow, ApplicationRow
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening, OpeningStatus

PAGE_SIZE = 2_000

OPENING_FIELDS = (
    "id",
    "title",
    "capacity",
    "status",
    "activeCount",
    "waitlistCount",
    "employer",
    "location",
    "remote",
    "requireAcknowledgement",
    "acknowledgeWindowSeconds",
    "maxMissed",
    "waitlistLimit",
    "applyUntil",
    "keepDays",
    "createdAt",
    "description",
)
APPLICATION_FIELDS = (
    "applicationId",
    "applicantId",
    "applicantName",
    "applicantEmail",
    "status",
    "queuePosition",
    "penaltyCount",
    "appliedAt",
    "promotedAt",
    "acknowledgeDeadline",
)


def opening_fields(opening: Opening) -> dict[str, Any]:
    fields = {
        **{name: getattr(opening, _snake_case(name), None) for name in OPENING_FIELDS},
        "activeCount": opening.occupied,
        "waitlistCount": opening.waiting,
        "acknowledgeWindowSeconds": round(opening.acknowledge_window.total_seconds()),
    }
    return {name: to_json_value(value) for name, value in fields.items()}


async def list_openings(
    tx: Tx, *, status: OpeningStatus | None = None, after: int = 0, limit: int = PAGE_SIZE
) -> list[Opening]:
    """Openings with the counts that readers see: an expired offer takes no slot."""
    page = await openings.list_openings(tx, status=status, after=after, limit=limit)
    page_counts = await applicant_lists.list_counts(tx, status=status, after=after, limit=limit)
    return [
        replace(opening, occupied=counts.active_count, waiting=counts.waitlist_count)
        for opening, counts in zip(page, page_counts, strict=True)
    ]


async def iter_openings(tx: Tx) -> AsyncIterator[dict[str, Any]]:
    """All openings, oldest first."""
    after = 0
    while page := await list_openings(tx, after=after):
        for opening in page:
            yield opening_fields(opening)
        after = page[-1].id


async def iter_applications(tx: Tx, opening_id: int) -> AsyncIterator[dict[str, Any]]:
    """All applications of an opening: with a slot, then waiting by position, then ended."""
    page = await applicant_lists.get_detail(tx, opening_id, limit=PAGE_SIZE)
    while True:
        for row in (*page.active, *page.waiting):
            yield application_fields(row)
        if page.next is None:
            break
        page = await applicant_lists.get_detail(tx, opening_id, after=page.next, limit=PAGE_SIZE)
    after = 0
    while ended := await applicant_lists.list_applications(
        tx, opening_id, status="INACTIVE", after=after, limit=PAGE_SIZE
    ):
        for row in ended:
            yield application_fields(row)
        after = ended[-1].application_id


def application_fields(row: ApplicantRow | ApplicationRow) -> dict[str, Any]:
    fields = to_json_fields(row)
    return {name: fields.get(name) for name in APPLICATION_FIELDS}


def to_json_fields(record: Any) -> dict[str, Any]:
    """A dataclass with the field names and time format of the public API."""
    return {_camel_case(name): to_json_value(value) for name, value in asdict(record).items()}


def to_json_value(value: object) -> object:
    return timestamps.format_timestamp(value) if isinstance(value, dt.datetime) else value


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _snake_case(name: str) -> str:
    return "".join(f"_{mark.lower()}" if mark.isupper() else mark for mark in name)
