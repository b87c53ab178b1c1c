"""The applications of one applicant, with their positions on the waitlists."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

from jobmill.db import Tx, fetch_all
from jobmill.hiring.openings.applicant_lists import MAX_PAGE_SIZE
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.applicants import Applicant
from jobmill.hiring.transitions import ApplicationStatus


@dataclass(frozen=True, slots=True)
class ApplicantApplication:
    application_id: int
    job_id: int
    job_title: str
    status: ApplicationStatus
    queue_position: int | None
    applied_at: dt.datetime
    promoted_at: dt.datetime | None
    acknowledge_deadline: dt.datetime | None
    time_in_current_state_seconds: int
    queue_key: int | None
    penalty_count: int
    """Missed offers."""
    max_missed: int
    """Missed offers after which the application ends."""
    time_zone: str
    """Of the opening."""


async def list_by_applicant(
    tx: Tx, applicant_id: int, *, after: int = 0, limit: int = MAX_PAGE_SIZE
) -> tuple[Applicant, list[ApplicantApplication]]:
    """The applicant and their applications, oldest first; raises ApplicantNotFound."""
    applicant = await applicants.get(tx, applicant_id)
    listed = await _list_without_positions(tx, applicant_id, after, limit)
    return applicant, [await _with_position(tx, application) for application in listed]


async def find_live(tx: Tx, opening_id: int, applicant_id: int) -> ApplicantApplication | None:
    """The applicant's live application for an opening; None if there is none."""
    cursor = await tx.execute(
        """
        SELECT id FROM hiring.application
         WHERE opening_id = %s AND applicant_id = %s AND status <> 'INACTIVE'
        """,
        [opening_id, applicant_id],
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    [application] = await _list_without_positions(tx, applicant_id, row[0] - 1, 1)
    return await _with_position(tx, application)


async def _list_without_positions(
    tx: Tx, applicant_id: int, after: int, limit: int
) -> list[ApplicantApplication]:
    return await fetch_all(
        tx,
        ApplicantApplication,
        """
        SELECT application.id AS application_id, opening.id AS job_id, title AS job_title,
               application.status, NULL::bigint AS queue_position, queue_key, applied_at,
               promoted_at, acknowledge_deadline, penalty_count, max_missed, time_zone,
               greatest(floor(extract(epoch FROM clock_timestamp() - entered_at)), 0)::bigint
                   AS time_in_current_state_seconds
          FROM hiring.application JOIN hiring.opening ON opening.id = opening_id
         WHERE applicant_id = %(applicant)s AND application.id > %(after)s
           AND application.parent_id IS NULL
         ORDER BY application.id
         LIMIT %(limit)s
        """,
        {"applicant": applicant_id, "after": after, "limit": limit},
    )


async def _with_position(tx: Tx, application: ApplicantApplication) -> ApplicantApplication:
    if application.queue_key is None:
        return application
    ahead = await applications.count_ahead(tx, application.job_id, application.queue_key)
    return replace(application, queue_position=1 + ahead)
