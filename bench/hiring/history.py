"""Fills openings with waiting applicants and events for the hiring benchmark."""

from __future__ import annotations

from typing import LiteralString

from jobmill.db import Tx
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records.openings import OpeningTerms

ACTIVE = 500
"""Taken slots: these applicants can withdraw."""


async def people(tx: Tx, count: int) -> None:
    await tx.execute(
        """
        INSERT INTO hiring.applicant (name, email, email_key)
        SELECT 'Person ' || n, 'p' || n || '@example.org', 'p' || n || '@example.org'
          FROM generate_series(1, %s) AS n
        """,
        [count],
    )


async def opening(tx: Tx, waiting: int) -> int:
    """A full opening with this many waiting applicants and an event for each of them.

    The events are written in bulk and without valid hashes: nothing measured here reads a hash.
    """
    made = await lifecycle.create(tx, OpeningTerms("Hot"), ACTIVE, LOCAL)
    await tx.execute(
        """
        INSERT INTO hiring.application (opening_id, applicant_id, status, queue_key, applied_at, entered_at)
        SELECT %(opening)s, id, CASE WHEN n <= %(active)s THEN 'ACTIVE' ELSE 'WAITLIST' END::hiring.status,
               CASE WHEN n > %(active)s THEN n - %(active)s END, now(), now()
          FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM hiring.applicant) AS known
         WHERE n <= %(active)s + %(waiting)s
        """,
        {"opening": made.id, "active": ACTIVE, "waiting": waiting},
    )
    await tx.execute(
        """
        INSERT INTO hiring.waitlist_block (opening_id, block, waiting)
        SELECT opening_id, queue_key >> 10, count(*) FROM hiring.application
         WHERE opening_id = %s AND status = 'WAITLIST' GROUP BY opening_id, queue_key >> 10
        """,
        [made.id],
    )
    await tx.execute(
        """
        INSERT INTO hiring.event (opening_id, seq, application_id, type, to_status, queue_key, metadata,
                                  why, actor, created_at, hash)
        SELECT opening_id, 1 + row_number() OVER (ORDER BY id), id, 'APPLIED', status, queue_key,
               jsonb_build_object('jobId', opening_id, 'applicantId', applicant_id),
               '{"rule": "no slot is free"}', 'applicant:1', applied_at, sha256('')
          FROM hiring.application WHERE opening_id = %s
        """,
        [made.id],
    )
    await tx.execute(
        """
        UPDATE hiring.opening
           SET occupied = %(active)s, waiting = %(waiting)s, next_key = %(waiting)s + 1, max_key = %(waiting)s,
               last_seq = 1 + %(active)s + %(waiting)s
         WHERE id = %(opening)s
        """,
        {"opening": made.id, "active": ACTIVE, "waiting": waiting},
    )
    return made.id


async def of_status(tx: Tx, opening_id: int, status: str, count: int) -> list[int]:
    cursor = await tx.execute(
        """
        SELECT id FROM hiring.application
         WHERE opening_id = %s AND status = %s::hiring.status ORDER BY id LIMIT %s
        """,
        [opening_id, status, count],
    )
    return [id for (id,) in await cursor.fetchall()]


OVERDUE: LiteralString = """
    SELECT count(*) FROM hiring.application
     WHERE status = 'PENDING_ACKNOWLEDGMENT' AND acknowledge_deadline < now() - interval '1 hour'
    """


async def due_offers(tx: Tx, openings: int, each: int) -> None:
    """Openings whose slots are all offered, with as many applicants waiting; all offers have just ended.

    The deadlines are a day ago, so that `OVERDUE` does not count the offers that follow.
    """
    await tx.execute(
        """
        WITH made AS (
            INSERT INTO hiring.opening
                   (title, capacity, occupied, waiting, next_key, max_key, next_deadline_at,
                    acknowledge_window, created_at, last_event_at)
            SELECT 'Due', %(each)s, %(each)s, %(each)s, %(each)s + 1, %(each)s,
                   now() - interval '1 day', interval '1 day', now(), now()
              FROM generate_series(1, %(openings)s)
            RETURNING id
        )
        INSERT INTO hiring.application
               (opening_id, applicant_id, status, queue_key, acknowledge_deadline, applied_at, entered_at)
        SELECT made.id, n, CASE WHEN n <= %(each)s THEN 'PENDING_ACKNOWLEDGMENT' ELSE 'WAITLIST' END::hiring.status,
               CASE WHEN n > %(each)s THEN n - %(each)s END,
               CASE WHEN n <= %(each)s THEN now() - interval '1 day' END, now(), now()
          FROM made, generate_series(1, 2 * %(each)s) AS n
        """,
        {"openings": openings, "each": each},
    )
    await tx.execute(
        """
        INSERT INTO hiring.waitlist_block (opening_id, block, waiting)
        SELECT opening_id, queue_key >> 10, count(*) FROM hiring.application
          JOIN hiring.opening ON opening.id = opening_id
         WHERE title = 'Due' AND application.status = 'WAITLIST' AND queue_key IS NOT NULL
         GROUP BY opening_id, queue_key >> 10
            ON CONFLICT DO NOTHING
        """
    )
    await tx.execute(
        """
        INSERT INTO hiring.webhook (url, secret) SELECT 'http://127.0.0.1:9/', ''
         WHERE NOT EXISTS (SELECT FROM hiring.webhook)
        """
    )
