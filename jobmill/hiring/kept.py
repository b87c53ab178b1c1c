"""What is kept about a person, in figures, and until when."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx, fetch_one
from jobmill.hiring.records.applicants import ApplicantNotFound


@dataclass(frozen=True, slots=True)
class StoredData:
    since: dt.datetime
    applications: int
    events: int
    letters: int
    """Also those that are still to be sent."""
    days: int | None
    """How long it is kept after the last application has ended; None: until it is erased."""
    until: dt.datetime | None
    """When that is over, if nothing else happens; None while an application lives."""


async def summarize_stored_data(tx: Tx, applicant_id: int) -> StoredData:
    """What there is about one person; NoApplicant where there is no such."""
    found = await fetch_one(
        tx,
        StoredData,
        """
        SELECT applicant.created_at AS since, applications, events, letters,
               CASE WHEN bounded THEN days END AS days,
               CASE WHEN bounded AND NOT lives THEN until END AS until
          FROM hiring.applicant
         CROSS JOIN LATERAL (
            SELECT count(*) AS applications, coalesce(bool_and(keep_days IS NOT NULL), false) AS bounded,
                   max(keep_days) AS days, coalesce(bool_or(application.status <> 'INACTIVE'), false) AS lives,
                   max(entered_at + make_interval(days => keep_days)) AS until,
                   coalesce(sum((SELECT count(*) FROM hiring.event
                                  WHERE application_id = application.id)), 0)::bigint AS events,
                   coalesce(sum((SELECT count(*) FROM hiring.notice
                                  WHERE application_id = application.id
                                    AND webhook_id IS NULL)), 0)::bigint AS letters
              FROM hiring.application JOIN hiring.opening ON opening.id = opening_id
             WHERE applicant_id = applicant.id) AS theirs
         WHERE applicant.id = %s
        """,
        [applicant_id],
    )
    if found is None:
        raise ApplicantNotFound(applicant_id)
    return found
