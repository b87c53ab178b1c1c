"""Openings and applications as tables hold them, by the names of the public contract."""

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


def opening_fields(one: Opening) -> dict[str, Any]:
    known = {
        **{name: getattr(one, _snake(name), None) for name in OPENING_FIELDS},
        "activeCount": one.occupied,
        "waitlistCount": one.waiting,
        "acknowledgeWindowSeconds": round(one.acknowledge_window.total_seconds()),
    }
    return {name: to_json_value(value) for name, value in known.items()}


async def list_openings(
    tx: Tx, *, status: OpeningStatus | None = None, after: int = 0, limit: int = PAGE_SIZE
) -> list[Opening]:
    """Openings with the counts that readers see: an offer that has run out takes no slot."""
    found = await openings.list_openings(tx, status=status, after=after, limit=limit)
    counted = await applicant_lists.list_counts(tx, status=status, after=after, limit=limit)
    return [
        replace(one, occupied=now.active_count, waiting=now.waitlist_count)
        for one, now in zip(found, counted, strict=True)
    ]


async def iter_openings(tx: Tx) -> AsyncIterator[dict[str, Any]]:
    """All there are, oldest first."""
    after = 0
    while page := await list_openings(tx, after=after):
        for one in page:
            yield opening_fields(one)
        after = page[-1].id


async def iter_applications(tx: Tx, opening_id: int) -> AsyncIterator[dict[str, Any]]:
    """All for an opening: those who are in it, those who wait by position, those that ended."""
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
        for entry in ended:
            yield application_fields(entry)
        after = ended[-1].application_id


def application_fields(one: ApplicantRow | ApplicationRow) -> dict[str, Any]:
    known = to_json_fields(one)
    return {name: known.get(name) for name in APPLICATION_FIELDS}


def to_json_fields(one: Any) -> dict[str, Any]:
    """A dataclass by the names and with the times of the contract."""
    return {_camel(name): to_json_value(value) for name, value in asdict(one).items()}


def to_json_value(value: object) -> object:
    return timestamps.format_timestamp(value) if isinstance(value, dt.datetime) else value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _snake(name: str) -> str:
    return "".join(f"_{mark.lower()}" if mark.isupper() else mark for mark in name)
