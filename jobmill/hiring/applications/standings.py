"""How an applicant's applications stand, and what happened to them."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, replace

from jobmill.db import Tx, fetch_all
from jobmill.errors import Invalid
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.openings.applicant_lists import MAX_PAGE_SIZE
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.applicants import Applicant
from jobmill.hiring.transitions import ApplicationStatus

CURSOR = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class ApplicationStanding:
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


async def list_standings(
    tx: Tx, applicant_id: int, *, after: int = 0, limit: int = MAX_PAGE_SIZE
) -> tuple[Applicant, list[ApplicationStanding]]:
    """The applicant and their applications, oldest first; raises ApplicantNotFound."""
    applicant = await applicants.get(tx, applicant_id)
    standings = await _list_without_positions(tx, applicant_id, after, limit)
    return applicant, [await _with_position(tx, standing) for standing in standings]


async def find_standing(tx: Tx, opening_id: int, applicant_id: int) -> ApplicationStanding | None:
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
    [standing] = await _list_without_positions(tx, applicant_id, row[0] - 1, 1)
    return await _with_position(tx, standing)


async def _list_without_positions(
    tx: Tx, applicant_id: int, after: int, limit: int
) -> list[ApplicationStanding]:
    return await fetch_all(
        tx,
        ApplicationStanding,
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


async def _with_position(tx: Tx, standing: ApplicationStanding) -> ApplicationStanding:
    if standing.queue_key is None:
        return standing
    ahead = await applications.count_ahead(tx, standing.job_id, standing.queue_key)
    return replace(standing, queue_position=1 + ahead)


async def list_timeline(
    tx: Tx,
    applicant_id: int,
    *,
    after: str | None = None,
    limit: int = MAX_PAGE_SIZE,
    for_applicant: bool = False,
) -> list[AuditEvent]:
    """The events of the applicant's applications, in order; `after` is a `timeline_cursor`.

    `for_applicant` leaves out the company's own steps: scores, the names of stages, and moves between
    stages that do not end the application.
    """
    await applicants.get(tx, applicant_id)
    cursor = CURSOR.fullmatch(after) if after else None
    if after and not cursor:
        raise Invalid("after: copy it from the Link header of the previous page.")
    return await fetch_all(
        tx,
        AuditEvent,
        """
        SELECT event.id, event.opening_id, event.seq, event.application_id, event.type,
               event.from_status, event.to_status, event.why, event.actor, event.note,
               event.created_at,
               CASE WHEN %(for_applicant)s AND event.type = 'STAGE_CHANGED'
                    THEN event.metadata - '{from,to,fromName,toName}'::text[]
                    ELSE event.metadata
               END AS metadata
          FROM hiring.application JOIN hiring.event ON event.application_id = application.id
          LEFT JOIN hiring.event AS last
                 ON last.opening_id = %(opening)s::bigint AND last.seq = %(seq)s::bigint
         WHERE applicant_id = %(applicant)s AND application.parent_id IS NULL
           AND NOT (%(for_applicant)s AND (
                   event.type = 'SCORED'
                   OR event.type = 'STAGE_CHANGED' AND event.to_status <> 'INACTIVE'))
           AND (%(opening)s::bigint IS NULL OR (event.created_at, event.opening_id, event.seq)
                                               > (last.created_at, last.opening_id, last.seq))
         ORDER BY event.created_at, event.opening_id, event.seq
         LIMIT %(limit)s
        """,
        {
            "applicant": applicant_id,
            "opening": int(cursor[1]) if cursor else None,
            "seq": int(cursor[2]) if cursor else None,
            "limit": limit,
            "for_applicant": for_applicant,
        },
    )


def timeline_cursor(event: AuditEvent) -> str:
    """The `after` of the page that follows this event."""
    return f"{event.opening_id}.{event.seq}"
