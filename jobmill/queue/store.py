"""Statements on live items: claim, end, requeue, unpark and wake. Each function runs one statement.

Every statement that ends or moves an item is fenced (`lease_fence.py`) and returns the claims it settled,
because an item id alone does not identify the attempt.

Rows are looked up one by one (LATERAL … LIMIT 1) or by an array of ids, never by a plain join: a plan that
was made while a table was small would scan the whole table when it has grown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jobmill.db import Tx
from jobmill.queue.items import Claim, ItemId, Work
from jobmill.queue.lease_fence import HOLDS_CLAIM, HOLDS_REQUESTED, LEASE_STANDS, ONLY_HELD
from jobmill.queue.value_encoding import MAX_DELAY, join_rows

CHANNEL = "jobmill_queue"


class ClaimPosition(NamedTuple):
    """A position in the order of a phase; a claim takes only items after it."""

    priority: int = -32768
    available_at: str = "-infinity"
    id: int = 0


class ClaimRequest(NamedTuple):
    kind: str
    stage: str
    limit: int
    after: ClaimPosition = ClaimPosition()


class ClaimedItem(NamedTuple):
    work: Work
    position: ClaimPosition


async def claim_items(tx: Tx, worker: int, requests: Sequence[ClaimRequest]) -> list[ClaimedItem]:
    """Claim due items, most urgent first; concurrent claims never share an item or wait for each other."""
    cursor = await tx.execute(
        f"""
        WITH request AS (
            SELECT * FROM unnest(%(kinds)s::text[], %(stages)s::text[], %(limits)s::int[],
                                 %(priorities)s::smallint[], %(ats)s::timestamptz[], %(ids)s::bigint[])
                       AS r(kind, stage, max_items, after_priority, after_at, after_id)
        ), picked AS MATERIALIZED (
            SELECT due.id
              FROM request
             CROSS JOIN LATERAL (
                   SELECT id FROM queue.live
                    WHERE kind = request.kind AND stage = request.stage AND NOT parked
                      AND status = 'PENDING'
                      AND (priority, available_at, id)
                          > (request.after_priority, request.after_at, request.after_id)
                    ORDER BY priority, available_at, id
                    LIMIT request.max_items
                      FOR UPDATE SKIP LOCKED
                   ) AS due
             WHERE NOT EXISTS (SELECT FROM queue.pause
                                WHERE pause.kind = request.kind
                                  AND pause.stage IN ('', request.stage))
               AND {LEASE_STANDS}
        ), claimed AS (
            -- The array is evaluated once; a join might be planned as a loop that claims more items.
            UPDATE queue.live
               SET status = 'PROCESSING', worker = %(worker)s, attempt = attempt + 1,
                   started_at = now()
             WHERE id = ANY (ARRAY(SELECT id FROM picked))
            RETURNING id, kind, stage, attempt, retry_count, steps,
                      coalesce(waits_for, waited_for) AS waited_for, priority, available_at
        ), logged AS (
            INSERT INTO queue.event (item_id, type, from_status, to_status, stage, worker)
            SELECT id, 'started', 'PENDING', 'PROCESSING', stage, %(worker)s FROM claimed
        )
        SELECT claimed.id, claimed.kind, claimed.stage, item.key, item.data, claimed.attempt,
               claimed.retry_count, item.max_retries, claimed.steps, item.spawn_depth,
               item.tracking_id::text, item.parent_id, claimed.waited_for, %(worker)s::bigint,
               claimed.priority, claimed.available_at::text
          FROM claimed
         CROSS JOIN LATERAL (SELECT * FROM queue.item WHERE item.id = claimed.id LIMIT 1) AS item
         ORDER BY claimed.priority, claimed.available_at, claimed.id
        """,
        {
            "worker": worker,
            "kinds": [request.kind for request in requests],
            "stages": [request.stage for request in requests],
            "limits": [request.limit for request in requests],
            "priorities": [request.after.priority for request in requests],
            "ats": [request.after.available_at for request in requests],
            "ids": [request.after.id for request in requests],
        },
    )
    return [
        ClaimedItem(Work._make(row[:14]), ClaimPosition(row[14], row[15], row[0]))
        for row in await cursor.fetchall()
    ]


async def end_items(tx: Tx, worker: int, rows: Sequence[str]) -> list[Claim]:
    """End items and wake those that wait for them; returns the claims that the worker still held.

    A row has id, attempt, status, message, and data and error_* if they changed.
    """
    cursor = await tx.execute(
        f"""
        WITH requested AS MATERIALIZED (
            SELECT claim.* FROM json_to_recordset(%(rows)s::json) AS claim(
                       id bigint, attempt int, status queue.status, message text, data jsonb,
                       error_class text, error_text text, fingerprint uuid)
            {ONLY_HELD}
        ), removed AS (
            DELETE FROM queue.live
             WHERE live.id = ANY (ARRAY(SELECT id FROM requested)) AND {HOLDS_REQUESTED}
            RETURNING id, stage, retry_count
        ), settled AS MATERIALIZED (
            SELECT requested.*, removed.stage, removed.retry_count
              FROM removed JOIN requested USING (id)
        ), ended AS (
            INSERT INTO queue.ending (item_id, status, stage, final, message, retry_count, attempts)
            SELECT id, status, stage, true, message, retry_count, attempt FROM settled
        ), updated AS (
            UPDATE queue.item
               SET data = coalesce(settled.data, item.data), updated_at = now(),
                   error_class = coalesce(settled.error_class, item.error_class),
                   error_text = coalesce(settled.error_text, item.error_text),
                   error_fingerprint = coalesce(settled.fingerprint, item.error_fingerprint)
              FROM settled
             WHERE item.id = ANY (ARRAY(SELECT id FROM settled WHERE data IS NOT NULL
                                                               OR error_class IS NOT NULL))
               AND item.id = settled.id
        ), logged AS (
            INSERT INTO queue.event (item_id, type, from_status, to_status, stage, worker, note)
            SELECT id, lower(status::text), 'PROCESSING', status, stage, %(worker)s, message
              FROM settled
        ), woken AS (
            UPDATE queue.live AS waiting SET parked = false, available_at = now()
             WHERE waiting.waits_for = ANY (ARRAY(SELECT id FROM settled)) AND waiting.parked
        )
        SELECT id, attempt FROM settled
        """,
        {"worker": worker, "rows": join_rows(rows)},
    )
    return [Claim._make(row) for row in await cursor.fetchall()]


async def requeue_items(tx: Tx, worker: int, rows: Sequence[str]) -> list[Claim]:
    """Requeue items for another run: advanced, waiting, blocked or retried.

    A row has id, attempt, what, status, stage, message, delay (seconds; 0 is now) or until (a time, compared
    with the server's clock), retries and steps to add, waits_for, blocked_on, and priority, data and error_*
    if they changed. Returns the claims that the worker still held.
    """
    cursor = await tx.execute(
        f"""
        WITH requested AS MATERIALIZED (
            SELECT claim.*, due.at AS due_at,
                   due.at > now() AND (claim.waits_for IS NULL OR awaited.id IS NOT NULL) AS parked
              FROM json_to_recordset(%(rows)s::json) AS claim(
                       id bigint, attempt int, what text, status queue.status, stage text,
                       message text, delay float8, until timestamptz, retries int, steps int,
                       waits_for bigint, blocked_on text, data jsonb, priority smallint,
                       error_class text, error_text text, fingerprint uuid)
              {ONLY_HELD}
             CROSS JOIN LATERAL (SELECT least(coalesce(claim.until,
                                                       now() + make_interval(secs => claim.delay)),
                                              now() + make_interval(secs => %(max_delay)s)) AS at) AS due
              LEFT JOIN LATERAL (SELECT id FROM queue.live WHERE live.id = claim.waits_for LIMIT 1)
                        AS awaited ON true
        ), settled AS (
            UPDATE queue.live
               SET status = claim.status, stage = claim.stage, worker = NULL, parked = claim.parked,
                   available_at = CASE WHEN claim.parked THEN claim.due_at ELSE now() END,
                   retry_count = CASE WHEN claim.what = 'advanced' THEN 0
                                      ELSE retry_count + claim.retries END,
                   steps = live.steps + claim.steps, waits_for = claim.waits_for,
                   waited_for = CASE WHEN claim.what = 'advanced' THEN NULL
                                     ELSE coalesce(live.waits_for, live.waited_for) END,
                   blocked_on = claim.blocked_on, priority = coalesce(claim.priority, live.priority)
              FROM requested AS claim
             WHERE live.id = ANY (ARRAY(SELECT id FROM requested)) AND {HOLDS_CLAIM}
            RETURNING claim.*
        ), updated AS (
            UPDATE queue.item
               SET data = coalesce(settled.data, item.data), updated_at = now(),
                   message = coalesce(settled.message, item.message),
                   error_class = coalesce(settled.error_class, item.error_class),
                   error_text = coalesce(settled.error_text, item.error_text),
                   error_fingerprint = coalesce(settled.fingerprint, item.error_fingerprint)
              FROM settled
             WHERE item.id = ANY (ARRAY(SELECT id FROM settled WHERE data IS NOT NULL
                                                               OR message IS NOT NULL))
               AND item.id = settled.id
        ), logged AS (
            INSERT INTO queue.event (item_id, type, from_status, to_status, stage, worker, note)
            SELECT id, what, 'PROCESSING', status, stage, %(worker)s, coalesce(error_text, message)
              FROM settled
        )
        SELECT id, attempt FROM settled
        """,
        {"worker": worker, "rows": join_rows(rows), "max_delay": MAX_DELAY.total_seconds()},
    )
    return [Claim._make(row) for row in await cursor.fetchall()]


async def lock_claim(tx: Tx, work: Work) -> bool:
    """Lock a claimed item until `tx` ends; False if the worker no longer holds the claim.

    Stages call it before they write in a transaction of their own: the queue fences only the move.
    """
    cursor = await tx.execute(
        f"""
        SELECT FROM queue.live, (SELECT %(id)s::bigint AS id, %(attempt)s::int AS attempt) AS claim
         WHERE {HOLDS_CLAIM} AND {LEASE_STANDS}
           FOR UPDATE OF live
        """,
        {"id": work.id, "attempt": work.attempt, "worker": work.worker},
    )
    return cursor.rowcount == 1


async def unpark_due_items(tx: Tx) -> int:
    """Unpark the items that are due; returns how many."""
    cursor = await tx.execute(
        """
        WITH due AS MATERIALIZED (
            SELECT id, status, stage FROM queue.live
             WHERE parked AND available_at <= now() AND available_at < 'infinity'
             ORDER BY available_at
             LIMIT 500
               FOR UPDATE SKIP LOCKED
        ), freed AS (
            UPDATE queue.live SET parked = false, status = 'PENDING', blocked_on = NULL
              FROM due
             WHERE live.id = due.id
        ), logged AS (
            INSERT INTO queue.event (item_id, type, from_status, to_status, stage)
            SELECT id, 'looked at again', 'BLOCKED', 'PENDING', stage
              FROM due WHERE status = 'BLOCKED'
        )
        SELECT count(*) FROM due
        """
    )
    row = await cursor.fetchone()
    return row[0] if row else 0


async def seconds_until_next_due(tx: Tx) -> float | None:
    """Seconds until the next parked item is due; None if no item is parked."""
    cursor = await tx.execute(
        """
        SELECT extract(epoch FROM available_at - clock_timestamp())::float8
          FROM queue.live
         WHERE parked AND available_at < 'infinity'
         ORDER BY available_at
         LIMIT 1
        """
    )
    row = await cursor.fetchone()
    return row[0] if row else None


async def wake_stranded_waiters(tx: Tx) -> int:
    """Unpark items that were parked in the moment their awaited item ended; returns how many.

    If the awaited item handed over in that moment, they wait for its successor instead.
    """
    await tx.execute(
        """
        UPDATE queue.live AS waiting SET waits_for = successor.id
          FROM queue.item AS awaited, queue.live AS successor, queue.item AS child
         WHERE waiting.parked AND waiting.waits_for IS NOT NULL AND awaited.id = waiting.waits_for
           AND successor.kind = awaited.kind AND successor.key_hash = awaited.key_hash
           AND successor.id <> awaited.id AND child.id = successor.id
           AND child.handed_over AND child.tracking_id = awaited.tracking_id
        """
    )
    cursor = await tx.execute(
        """
        UPDATE queue.live AS waiting SET parked = false, available_at = now()
         WHERE waiting.parked AND waiting.waits_for IS NOT NULL
           AND NOT EXISTS (SELECT FROM queue.live AS awaited WHERE awaited.id = waiting.waits_for)
        """
    )
    return cursor.rowcount


async def find_earlier_failure(tx: Tx, work: Work, fingerprint: str) -> ItemId | None:
    """An item of this kind and key in the lineage that already FAILED with the same error.

    It is the item itself if its last run FAILED before an operator put it back.
    """
    cursor = await tx.execute(
        """
        SELECT item.id FROM queue.item JOIN queue.ending ON ending.item_id = item.id
         WHERE item.tracking_id = %(tracking_id)s AND item.key_hash = md5(%(key)s)::uuid
           AND item.kind = %(kind)s AND item.error_fingerprint = %(fingerprint)s
           AND ending.status = 'FAILED'
        UNION ALL
        -- Before its first retry, an item still has the fingerprint of the error that it FAILED with.
        SELECT item.id FROM queue.item
         WHERE item.id = %(id)s AND item.error_fingerprint = %(fingerprint)s
           AND %(retry_count)s = 0
           AND EXISTS (SELECT FROM queue.event
                        WHERE event.item_id = item.id AND event.from_status = 'FAILED')
         LIMIT 1
        """,
        {
            "tracking_id": work.tracking_id,
            "key": work.key,
            "kind": work.kind,
            "fingerprint": fingerprint,
            "id": work.id,
            "retry_count": work.retry_count,
        },
    )
    row = await cursor.fetchone()
    return row[0] if row else None
