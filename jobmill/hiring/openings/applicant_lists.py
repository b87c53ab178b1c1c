"""Reading: openings and those who want them, as the public contract shows them.

An offer whose time has run out is no longer one, whether or not it was taken back yet: its slot is
free to readers, and who held it stands behind all who wait.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, replace

from jobmill.db import Tx, fetch_all
from jobmill.errors import Invalid
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.applicants import Applicant
from jobmill.hiring.records.openings import OpeningNotFound, OpeningStatus
from jobmill.hiring.transitions import Status

MAX_PAGE_SIZE = 10_000
"""Rows of a list that are given at once."""

PLACE = re.compile(r"(active|waiting):([0-9]{1,18})")
MOMENT = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class OpeningCounts:
    """An opening, and how many are in it."""

    id: int
    title: str
    description: str | None
    capacity: int
    active_count: int
    waitlist_count: int
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class ApplicantRow:
    """One who is in an opening, or waits for it."""

    application_id: int
    applicant_id: int
    applicant_name: str
    applicant_email: str
    status: Status
    queue_position: int | None
    applied_at: dt.datetime
    promoted_at: dt.datetime | None
    acknowledge_deadline: dt.datetime | None
    penalty_count: int
    queue_key: int | None


@dataclass(frozen=True, slots=True)
class OpeningDetail:
    opening: OpeningCounts
    active: list[ApplicantRow]
    waiting: list[ApplicantRow]
    next: str | None
    """Where the list goes on, if it was too long."""


@dataclass(frozen=True, slots=True)
class ApplicationRow:
    """An application as a list of all shows it, also of those that ended."""

    application_id: int
    applicant_id: int
    applicant_name: str
    applicant_email: str
    status: Status
    penalty_count: int
    applied_at: dt.datetime
    entered_at: dt.datetime
    promoted_at: dt.datetime | None
    acknowledge_deadline: dt.datetime | None


@dataclass(frozen=True, slots=True)
class ApplicationStanding:
    """One of a person's own applications, and where it stands."""

    application_id: int
    job_id: int
    job_title: str
    status: Status
    queue_position: int | None
    applied_at: dt.datetime
    promoted_at: dt.datetime | None
    acknowledge_deadline: dt.datetime | None
    time_in_current_state_seconds: int
    queue_key: int | None


async def begin_snapshot(tx: Tx) -> None:
    """All that is read from here on is of one moment; the first thing in a transaction."""
    await tx.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


async def find_overdue_opening(tx: Tx, id: int) -> list[int]:
    """The opening itself, where an offer of it may be overdue."""
    cursor = await tx.execute(
        "SELECT id FROM hiring.opening WHERE id = %s AND next_deadline_at <= now()", [id]
    )
    return [id for (id,) in await cursor.fetchall()]


async def find_overdue_openings_of(tx: Tx, applicant_id: int) -> list[int]:
    """Those where an overdue offer decides how one person stands, in the order to lock them in."""
    cursor = await tx.execute(
        """
        SELECT DISTINCT opening.id
          FROM hiring.application JOIN hiring.opening ON opening.id = opening_id
         WHERE applicant_id = %s AND application.status <> 'INACTIVE' AND next_deadline_at <= now()
         ORDER BY opening.id
        """,
        [applicant_id],
    )
    return [id for (id,) in await cursor.fetchall()]


async def get_counts(tx: Tx, id: int) -> OpeningCounts:
    """One opening; NoOpening where there is none."""
    for found in await list_counts(tx, after=id - 1, limit=1):
        if found.id == id:
            return found
    raise OpeningNotFound(id)


async def list_counts(
    tx: Tx, *, status: OpeningStatus | None = None, after: int = 0, limit: int = MAX_PAGE_SIZE
) -> list[OpeningCounts]:
    """Openings, oldest first, from beyond `after` on."""
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
         WHERE opening.id > %(after)s
           AND (%(status)s::hiring.opening_status IS NULL OR opening.status = %(status)s)
         ORDER BY opening.id
         LIMIT %(limit)s
        """,
        {"status": status, "after": after, "limit": limit},
    )


async def get_detail(
    tx: Tx, id: int, *, after: str | None = None, limit: int = MAX_PAGE_SIZE
) -> OpeningDetail:
    """An opening with those who are in it, then those who wait by position; `limit` of them."""
    opening = await get_counts(tx, id)
    part, key = _place(after)
    active: list[ApplicantRow] = []
    if part == "active":
        active = await _active(tx, id, after=key, limit=limit + 1)
        if len(active) > limit:
            return OpeningDetail(
                opening, active[:limit], [], f"active:{active[limit - 1].application_id}"
            )
        key = 0
    left = limit - len(active)
    waiting = await list_waiting(tx, id, after=key, limit=left + 1)
    if len(waiting) > left:
        last = waiting[left - 1].queue_key if left else key
        return OpeningDetail(opening, active, waiting[:left], f"waiting:{last}")
    return OpeningDetail(opening, active, waiting + await _late(tx, id), None)


def _place(after: str | None) -> tuple[str, int]:
    if after is None:
        return "active", 0
    found = PLACE.fullmatch(after)
    if not found:
        raise Invalid("after: take it from the Link of the page before.")
    return found[1], int(found[2])


async def _active(tx: Tx, id: int, *, after: int, limit: int) -> list[ApplicantRow]:
    return await fetch_all(
        tx,
        ApplicantRow,
        """
        SELECT application.id AS application_id, applicant.id AS applicant_id,
               name AS applicant_name, email AS applicant_email, status,
               NULL::bigint AS queue_position, applied_at, promoted_at, acknowledge_deadline,
               penalty_count, queue_key
          FROM hiring.application JOIN hiring.applicant ON applicant.id = applicant_id
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
    """Those who wait, by position, from beyond the key `after` on."""
    ahead = await applications.count_ahead(tx, id, after + 1) if after else 0
    return await fetch_all(
        tx,
        ApplicantRow,
        """
        SELECT waiting.id AS application_id, applicant.id AS applicant_id,
               name AS applicant_name, email AS applicant_email, status,
               %(ahead)s + row_number() OVER (ORDER BY queue_key) AS queue_position,
               applied_at, promoted_at, acknowledge_deadline, penalty_count, queue_key
          FROM (SELECT * FROM hiring.application
                 WHERE opening_id = %(id)s AND status = 'WAITLIST' AND queue_key > %(after)s
                 ORDER BY queue_key
                 LIMIT %(limit)s) AS waiting
          JOIN hiring.applicant ON applicant.id = applicant_id
         ORDER BY queue_key
        """,
        {"id": id, "after": after, "limit": limit, "ahead": ahead},
    )


async def _late(tx: Tx, id: int) -> list[ApplicantRow]:
    return await fetch_all(
        tx,
        ApplicantRow,
        """
        SELECT application.id AS application_id, applicant.id AS applicant_id,
               name AS applicant_name, email AS applicant_email, status,
               NULL::bigint AS queue_position, applied_at, promoted_at, acknowledge_deadline,
               penalty_count, queue_key
          FROM hiring.application JOIN hiring.applicant ON applicant.id = applicant_id
         WHERE opening_id = %s AND status = 'PENDING_ACKNOWLEDGMENT'
           AND acknowledge_deadline <= now()
         ORDER BY acknowledge_deadline, application.id
        """,
        [id],
    )


async def list_applications(
    tx: Tx, id: int, *, status: Status | None = None, after: int = 0, limit: int = MAX_PAGE_SIZE
) -> list[ApplicationRow]:
    """All applications for an opening, oldest first."""
    return await fetch_all(
        tx,
        ApplicationRow,
        """
        SELECT application.id AS application_id, applicant.id AS applicant_id,
               name AS applicant_name, email AS applicant_email, status, penalty_count,
               applied_at, entered_at, promoted_at, acknowledge_deadline
          FROM hiring.application JOIN hiring.applicant ON applicant.id = applicant_id
         WHERE opening_id = %(id)s AND application.id > %(after)s
           AND (%(status)s::hiring.status IS NULL OR status = %(status)s)
         ORDER BY application.id
         LIMIT %(limit)s
        """,
        {"id": id, "status": status, "after": after, "limit": limit},
    )


async def list_standings(
    tx: Tx, applicant_id: int, *, after: int = 0, limit: int = MAX_PAGE_SIZE
) -> tuple[Applicant, list[ApplicationStanding]]:
    """How one person stands in each of their applications; NoApplicant where there is no such."""
    person = await applicants.get(tx, applicant_id)
    found = await _own(tx, applicant_id, after, limit)
    return person, [await _ranked(tx, one) for one in found]


async def _own(tx: Tx, applicant_id: int, after: int, limit: int) -> list[ApplicationStanding]:
    return await fetch_all(
        tx,
        ApplicationStanding,
        """
        SELECT application.id AS application_id, opening.id AS job_id, title AS job_title,
               application.status, NULL::bigint AS queue_position, queue_key, applied_at,
               promoted_at, acknowledge_deadline,
               greatest(floor(extract(epoch FROM clock_timestamp() - entered_at)), 0)::bigint
                   AS time_in_current_state_seconds
          FROM hiring.application JOIN hiring.opening ON opening.id = opening_id
         WHERE applicant_id = %(applicant)s AND application.id > %(after)s
         ORDER BY application.id
         LIMIT %(limit)s
        """,
        {"applicant": applicant_id, "after": after, "limit": limit},
    )


async def find_standing(tx: Tx, opening_id: int, applicant_id: int) -> ApplicationStanding | None:
    """How one person stands in an opening; None where no application of theirs lives."""
    cursor = await tx.execute(
        """
        SELECT id FROM hiring.application
         WHERE opening_id = %s AND applicant_id = %s AND status <> 'INACTIVE'
        """,
        [opening_id, applicant_id],
    )
    id = await cursor.fetchone()
    if id is None:
        return None
    [found] = await _own(tx, applicant_id, id[0] - 1, 1)
    return await _ranked(tx, found)


async def _ranked(tx: Tx, one: ApplicationStanding) -> ApplicationStanding:
    if one.queue_key is None:
        return one
    return replace(
        one, queue_position=1 + await applications.count_ahead(tx, one.job_id, one.queue_key)
    )


async def list_timeline(
    tx: Tx, applicant_id: int, *, after: str | None = None, limit: int = MAX_PAGE_SIZE
) -> list[AuditEvent]:
    """What happened to one person's applications, in order; `after` as `mark` makes it."""
    await applicants.get(tx, applicant_id)
    found = MOMENT.fullmatch(after) if after else None
    if after and not found:
        raise Invalid("after: take it from the Link of the page before.")
    return await fetch_all(
        tx,
        AuditEvent,
        """
        SELECT event.id, event.opening_id, event.seq, event.application_id, event.type,
               event.from_status, event.to_status, event.metadata, event.why, event.actor,
               event.note, event.created_at
          FROM hiring.application JOIN hiring.event ON event.application_id = application.id
          LEFT JOIN hiring.event AS last
                 ON last.opening_id = %(opening)s::bigint AND last.seq = %(seq)s::bigint
         WHERE applicant_id = %(applicant)s
           AND (%(opening)s::bigint IS NULL OR (event.created_at, event.opening_id, event.seq)
                                               > (last.created_at, last.opening_id, last.seq))
         ORDER BY event.created_at, event.opening_id, event.seq
         LIMIT %(limit)s
        """,
        {
            "applicant": applicant_id,
            "opening": int(found[1]) if found else None,
            "seq": int(found[2]) if found else None,
            "limit": limit,
        },
    )


def timeline_cursor(event: AuditEvent) -> str:
    """What `timeline` goes on after."""
    return f"{event.opening_id}.{event.seq}"
