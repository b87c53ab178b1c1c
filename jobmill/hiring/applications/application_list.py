"""One page of the applications of all openings, newest first, with filters."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all, fetch_value
from jobmill.hiring.transitions import ApplicationStatus


@dataclass(frozen=True, slots=True)
class ApplicationFilter:
    """Which applications to list; all conditions must hold."""

    status: ApplicationStatus | None = None
    opening_id: int | None = None
    q: str | None = None
    """Part of the name, the address or the title of the opening."""
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class ListedApplicant:
    application_id: int
    opening_id: int
    title: str
    name: str
    email: str
    status: ApplicationStatus
    applied_at: dt.datetime
    acknowledge_deadline: dt.datetime | None
    penalty_count: int
    tags: Sequence[str]


@dataclass(frozen=True, slots=True)
class ApplicantPage:
    rows: list[ListedApplicant]
    next: int | None
    """Pass it as `before` for the next page."""


async def list_all(
    tx: Tx, filter: ApplicationFilter, *, before: int | None = None, limit: int, reach: int
) -> ApplicantPage:
    """Reads at most `reach` applications, so that a rare name or status does not read all of them: a
    page can be short and still have a next one."""
    newest = await fetch_value(tx, int, "SELECT max(id) FROM hiring.application")
    end = min(before or (newest or 0) + 1, (newest or 0) + 1)
    start = max(end - reach, 0)
    rows = await fetch_all(
        tx,
        ListedApplicant,
        """
        -- People and openings are searched once each, not for every application.
        WITH named AS MATERIALIZED (
            SELECT id FROM hiring.applicant
             WHERE position(lower(%(q)s) IN lower(name || ' ' || email)) > 0
        ), titled AS MATERIALIZED (
            SELECT id FROM hiring.opening
             WHERE parent_id IS NULL AND position(lower(%(q)s) IN lower(title)) > 0
        )
        SELECT application.id AS application_id, opening_id, opening.title, applicant.name,
               applicant.email, application.status, applied_at, acknowledge_deadline, penalty_count,
               ARRAY(SELECT tag FROM hiring.tag
                      WHERE application_id = application.id ORDER BY tag) AS tags
          FROM hiring.application
          JOIN hiring.applicant ON applicant.id = applicant_id
          JOIN hiring.opening ON opening.id = opening_id
         WHERE application.id >= %(start)s AND application.id < %(end)s
           AND application.parent_id IS NULL
           AND (%(status)s::hiring.status IS NULL OR application.status = %(status)s)
           AND (%(opening)s::bigint IS NULL OR opening_id = %(opening)s)
           AND (%(tag)s::text IS NULL
                OR EXISTS (SELECT FROM hiring.tag
                            WHERE application_id = application.id AND tag.tag = %(tag)s))
           AND (%(q)s::text IS NULL
                OR applicant_id IN (SELECT id FROM named) OR opening_id IN (SELECT id FROM titled))
         ORDER BY application.id DESC
         LIMIT %(limit)s
        """,
        {
            "start": start,
            "end": end,
            "status": filter.status,
            "opening": filter.opening_id,
            "q": filter.q,
            "tag": filter.tag,
            "limit": limit + 1,
        },
    )
    if len(rows) > limit:
        return ApplicantPage(rows[:limit], rows[limit - 1].application_id)
    return ApplicantPage(rows, start if start > 0 else None)
