"""Openings and applications as tables hold them, by the names of the public contract."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from typing import Any

from jobmill.db import Tx
from jobmill.hiring import timestamps
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.openings.applicant_lists import Entry, Row
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening, OpeningStatus

PAGE = 2_000

OPENING = (
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
APPLICATION = (
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


def opening(one: Opening) -> dict[str, Any]:
    known = {
        **{name: getattr(one, _snake(name), None) for name in OPENING},
        "activeCount": one.occupied,
        "waitlistCount": one.waiting,
        "acknowledgeWindowSeconds": round(one.acknowledge_window.total_seconds()),
    }
    return {name: plain(value) for name, value in known.items()}


async def find(
    tx: Tx, *, status: OpeningStatus | None = None, after: int = 0, limit: int = PAGE
) -> list[Opening]:
    """Openings with the counts that readers see: an offer that has run out takes no slot."""
    found = await openings.find(tx, status=status, after=after, limit=limit)
    counted = await applicant_lists.count_all(tx, status=status, after=after, limit=limit)
    return [
        replace(one, occupied=now.active_count, waiting=now.waitlist_count)
        for one, now in zip(found, counted, strict=True)
    ]


async def all_openings(tx: Tx) -> AsyncIterator[dict[str, Any]]:
    """All there are, oldest first."""
    after = 0
    while page := await find(tx, after=after):
        for one in page:
            yield opening(one)
        after = page[-1].id


async def applications(tx: Tx, opening_id: int) -> AsyncIterator[dict[str, Any]]:
    """All for an opening: those who are in it, those who wait by position, those that ended."""
    page = await applicant_lists.detail(tx, opening_id, limit=PAGE)
    while True:
        for row in (*page.active, *page.waiting):
            yield application(row)
        if page.next is None:
            break
        page = await applicant_lists.detail(tx, opening_id, after=page.next, limit=PAGE)
    after = 0
    while ended := await applicant_lists.entries(
        tx, opening_id, status="INACTIVE", after=after, limit=PAGE
    ):
        for entry in ended:
            yield application(entry)
        after = ended[-1].application_id


def application(one: Row | Entry) -> dict[str, Any]:
    known = camel(one)
    return {name: known.get(name) for name in APPLICATION}


def camel(one: Any) -> dict[str, Any]:
    """A dataclass by the names and with the times of the contract."""
    return {_camel(name): plain(value) for name, value in asdict(one).items()}


def plain(value: object) -> object:
    return timestamps.format_timestamp(value) if isinstance(value, dt.datetime) else value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _snake(name: str) -> str:
    return "".join(f"_{mark.lower()}" if mark.isupper() else mark for mark in name)
