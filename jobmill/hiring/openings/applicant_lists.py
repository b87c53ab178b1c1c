"""Openings with their counts, and the lists of their applicants, as the public API shows them.

An expired offer that was not taken back yet counts as taken back: its slot is free, and its applicant is
last on the waitlist.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import LiteralString

from jobmill.db import Tx, fetch_all
from jobmill.errors import Invalid
from jobmill.hiring.records import applications
from jobmill.hiring.records.openings import OpeningNotFound, OpeningStatus
from jobmill.hiring.transitions import ApplicationStatus

MAX_PAGE_SIZE = 10_000
"""The largest page of a list."""

SELECT_SLOTS: LiteralString = """
        SELECT application.id AS application_id, applicant.id AS applicant_id,
               name AS applicant_name, email AS applicant_email, status,
               NULL::bigint AS queue_position, applied_at, promoted_at, acknowledge_deadline,
               penalty_count, queue_key, score, stage
          FROM hiring.application JOIN hiring.applicant ON applicant.id = applicant_id"""

CURSOR = re.compile(r"(active|waiting):([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class OpeningCounts:
    """An opening and how many of its slots are taken."""

    id: int
    title: str
    description: str | None
    capacity: int
    active_count: int
    waitlist_count: int
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class ListedApplication:
    """An application and its applicant."""

    application_id: int
    applicant_id: int
    applicant_name: str
    applicant_email: str
    status: ApplicationStatus


@dataclass(frozen=True, slots=True)
class ApplicantRow(ListedApplication):
    """An applicant with a slot, or on the waitlist."""

    queue_position: int | None
    applied_at: dt.datetime
    promoted_at: dt.datetime | None
    acknowledge_deadline: dt.datetime | None
    penalty_count: int
    queue_key: int | None
    score: int | None
    stage: str | None
    """The key of the stage; None: the first stage."""


@dataclass(frozen=True, slots=True)
class OpeningDetail:
    opening: OpeningCounts
    active: list[ApplicantRow]
    waiting: list[ApplicantRow]
    next: str | None
    """Cursor of the next page, if there is one."""


@dataclass(frozen=True, slots=True)
class ApplicationRow(ListedApplication):
    """An application of any status."""

    penalty_count: int
    applied_at: dt.datetime
    entered_at: dt.datetime
    promoted_at: dt.datetime | None
    acknowledge_deadline: dt.datetime | None
    score: int | None
    stage: str | None


async def get_counts(tx: Tx, id: int) -> OpeningCounts:
    """The counts of one opening; raises OpeningNotFound."""
    for counts in await list_counts(tx, after=id - 1, limit=1):
        if counts.id == id:
            return counts
    raise OpeningNotFound(id)


async def list_counts(
    tx: Tx, *, status: OpeningStatus | None = None, after: int = 0, limit: int = MAX_PAGE_SIZE
) -> list[OpeningCounts]:
    """Counts of the openings with an id greater than `after`, oldest first."""
    return await fetch_all(
        tx,
        OpeningCounts,
        """
        SELECT opening.id, title, description, capacity, occupied - late AS active_count,
               waiting + late AS waitlist_count, created_at
          FROM hiring.opening
         CROSS JOIN LATERAL (
            SELECT CASE WHEN next_deadline_at <= now() THEN (
                SELECT count(*) FROM hiring.application
                 WHERE opening_id = opening.id AND status = 'PENDING_ACKNOWLEDGMENT'
                   AND acknowledge_deadline <= now()) ELSE 0 END AS late) AS overdue
         WHERE opening.id > %(after)s AND parent_id IS NULL
           AND (%(status)s::hiring.opening_status IS NULL OR opening.status = %(status)s)
         ORDER BY opening.id
         LIMIT %(limit)s
        """,
        {"status": status, "after": after, "limit": limit},
    )


async def get_detail(
    tx: Tx, id: int, *, after: str | None = None, limit: int = MAX_PAGE_SIZE
) -> OpeningDetail:
    """An opening with `limit` applicants: first those with a slot, then the waitlist by position."""
    opening = await get_counts(tx, id)
    part, key = _parse_cursor(after)
    active: list[ApplicantRow] = []
    if part == "active":
        active = await _active(tx, id, after=key, limit=limit + 1)
        if len(active) > limit:
            return OpeningDetail(
                opening, active[:limit], [], f"active:{active[limit - 1].application_id}"
            )
        key = 0
    remaining = limit - len(active)
    waiting = await list_waiting(tx, id, after=key, limit=remaining + 1)
    if len(waiting) > remaining:
        last = waiting[remaining - 1].queue_key if remaining else key
        return OpeningDetail(opening, active, waiting[:remaining], f"waiting:{last}")
    return OpeningDetail(opening, active, waiting + await _expired_offers(tx, id), None)


def _parse_cursor(after: str | None) -> tuple[str, int]:
    if after is None:
        return "active", 0
    match = CURSOR.fullmatch(after)
    if not match:
        raise Invalid("after: copy it from the Link header of the previous page.")
    return match[1], int(match[2])


async def _active(tx: Tx, id: int, *, after: int, limit: int) -> list[ApplicantRow]:
    return await fetch_all(
        tx,
        ApplicantRow,
        f"""{SELECT_SLOTS}
         WHERE opening_id = %(id)s AND status IN ('ACTIVE', 'PENDING_ACKNOWLEDGMENT')
           AND (acknowledge_deadline IS NULL OR acknowledge_deadline > now())
           AND application.id > %(after)s
         ORDER BY application.id
         LIMIT %(limit)s
        """,
        {"id": id, "after": after, "limit": limit},
    )


async def list_waiting(
    tx: Tx, id: int, *, after: int = 0, limit: int = MAX_PAGE_SIZE
) -> list[ApplicantRow]:
    """The waitlist by position, behind the queue key `after`."""
    ahead = await applications.count_ahead(tx, id, after + 1) if after else 0
    return await fetch_all(
        tx,
        ApplicantRow,
        """
        SELECT waiting.id AS application_id, applicant.id AS applicant_id,
               name AS applicant_name, email AS applicant_email, status,
               %(ahead)s + row_number() OVER (ORDER BY queue_key) AS queue_position,
               applied_at, promoted_at, acknowledge_deadline, penalty_count, queue_key,
               score, stage
          FROM (SELECT * FROM hiring.application
                 WHERE opening_id = %(id)s AND status = 'WAITLIST' AND queue_key > %(after)s
                 ORDER BY queue_key
                 LIMIT %(limit)s) AS waiting
          JOIN hiring.applicant ON applicant.id = applicant_id
         ORDER BY queue_key
        """,
        {"id": id, "after": after, "limit": limit, "ahead": ahead},
    )


async def _expired_offers(tx: Tx, id: int) -> list[ApplicantRow]:
    return await fetch_all(
        tx,
        ApplicantRow,
        f"""{SELECT_SLOTS}
         WHERE opening_id = %s AND status = 'PENDING_ACKNOWLEDGMENT'
           AND acknowledge_deadline <= now()
         ORDER BY acknowledge_deadline, application.id
        """,
        [id],
    )


async def list_applications(
    tx: Tx,
    id: int,
    *,
    status: ApplicationStatus | None = None,
    after: int = 0,
    limit: int = MAX_PAGE_SIZE,
) -> list[ApplicationRow]:
    """Applications of any status with an id greater than `after`, oldest first."""
    return await fetch_all(
        tx,
        ApplicationRow,
        """
        SELECT application.id AS application_id, applicant.id AS applicant_id,
               name AS applicant_name, email AS applicant_email, status, penalty_count,
               applied_at, entered_at, promoted_at, acknowledge_deadline, score, stage
          FROM hiring.application JOIN hiring.applicant ON applicant.id = applicant_id
         WHERE opening_id = %(id)s AND application.id > %(after)s
           AND (%(status)s::hiring.status IS NULL OR status = %(status)s)
         ORDER BY application.id
         LIMIT %(limit)s
        """,
        {"id": id, "status": status, "after": after, "limit": limit},
    )
