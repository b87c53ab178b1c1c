"""What happened to an applicant's applications, in order."""

from __future__ import annotations

import re
from typing import LiteralString

from jobmill.db import Tx, fetch_all
from jobmill.errors import Invalid
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.openings.applicant_lists import MAX_PAGE_SIZE
from jobmill.hiring.records import applicants

CURSOR = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})")


async def list_timeline(
    tx: Tx,
    applicant_id: int,
    *,
    after: str | None = None,
    limit: int = MAX_PAGE_SIZE,
    newest: bool = False,
    for_applicant: bool = False,
) -> list[AuditEvent]:
    """The events of the applicant's applications, in order; `after` is a `timeline_cursor`.

    Without `newest`, the limit leaves out the last events instead of the first ones.
    `for_applicant` leaves out the company's own steps: scores, the names of stages, and moves between
    stages that do not end the application.
    """
    await applicants.get(tx, applicant_id)
    cursor = CURSOR.fullmatch(after) if after else None
    if after and not cursor:
        raise Invalid("after: copy it from the Link header of the previous page.")
    order: LiteralString = "DESC" if newest else "ASC"
    listed = await fetch_all(
        tx,
        AuditEvent,
        f"""
        SELECT event.id, event.opening_id, event.seq, event.application_id, event.type,
               event.from_status, event.to_status, event.why, event.actor, event.note,
               event.created_at,
               CASE WHEN %(for_applicant)s AND event.type = 'STAGE_CHANGED'
                    THEN event.metadata - '{{from,to,fromName,toName}}'::text[]
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
         ORDER BY event.created_at {order}, event.opening_id {order}, event.seq {order}
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
    return listed[::-1] if newest else listed


def timeline_cursor(event: AuditEvent) -> str:
    """The `after` of the page that follows this event."""
    return f"{event.opening_id}.{event.seq}"
