"""The hot tables: claim, and what becomes of what was claimed. One function, one statement.

Every statement that ends or moves an item is fenced (`fence.py`), and returns the claims it settled:
an item id alone does not say which attempt.

Rows are looked up one by one (LATERAL … LIMIT 1) or by an array of ids, never by a plain join: a plan
that was made while a table was small, and reads it whole, must not be there when it has grown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jobmill.db import Tx
from jobmill.queue.items import Claim, Work
from jobmill.queue.lease_fence import HELD, HOLDS_CLAIM, LEASE_STANDS, STILL_HELD
from jobmill.queue.value_encoding import MAX_DELAY, join_rows

CHANNEL = "jobmill_queue"


class ClaimPosition(NamedTuple):
    """The place in a phase's order after which a claim may begin."""

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


async def claim_items(tx: Tx, worker: int, wants: Sequence[ClaimRequest]) -> list[ClaimedItem]:
    """Lease due items, most urgent first; two claimers never share one, and none waits for another."""
    cursor = await tx.execute(
        f"""
        WITH want AS (
            SELECT * FROM unnest(%(kinds)s::text[], %(stages)s::text[], %(limits)s::int[],
                                 %(priorities)s::smallint[], %(ats)s::timestamptz[], %(ids)s::bigint[])
                       AS w(kind, stage, most, after_priority, after_at, after_id)
        ), picked AS MATERIALIZED (
            SELECT found.id
              FROM want
             CROSS JOIN LATERAL (
                   SELECT id FROM queue.live
                    WHERE kind = want.kind AND stage = want.stage AND NOT parked
                      AND status = 'PENDING'
                      AND (priority, available_at, id)
                          > (want.after_priority, want.after_at, want.after_id)
                    ORDER BY priority, available_at, id
                    LIMIT want.most
                      FOR UPDATE SKIP LOCKED
                   ) AS found
             WHERE NOT EXISTS (SELECT FROM queue.pause
                                WHERE pause.kind = want.kind AND pause.stage IN ('', want.stage))
               AND {LEASE_STANDS}
        ), claimed AS (
            -- The array is evaluated once; a join could be planned as a loop that claims more.
            UPDATE queue.live
               SET status = 'PROCESSING', worker = %(worker)s, attempt = attempt + 1,
                   started_at = now()
             WHERE id = ANY (ARRAY(SELECT id FROM picked))
            RETURNING id, kind, stage, attempt, retry_count, steps,
                      coalesce(waits_for, waited_for) AS waited_for, priority, available_at
        ), noted AS (
            INSERT INTO queue.event (item_id, what, was, became, stage, worker)
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
            "kinds": [want.kind for want in wants],
            "stages": [want.stage for want in wants],
            "limits": [want.limit for want in wants],
            "priorities": [want.after.priority for want in wants],
            "ats": [want.after.available_at for want in wants],
            "ids": [want.after.id for want in wants],
        },
    )
    return [
        ClaimedItem(Work._make(row[:14]), ClaimPosition(row[14], row[15], row[0]))
        for row in await cursor.fetchall()
    ]


async def end_items(tx: Tx, worker: int, rows: Sequence[str]) -> list[Claim]:
    """End items for good and wake those that wait for them; returns the claims that still held.

    A row: id, attempt, status, message, and where they changed data and error_*.
    """
    cursor = await tx.execute(
        f"""
        WITH asked AS MATERIALIZED (
            SELECT claim.* FROM json_to_recordset(%(rows)s::json) AS claim(
                       id bigint, attempt int, status queue.status, message text, data jsonb,
                       error_class text, error_text text, fingerprint uuid)
            {HELD}
        ), gone AS (
            DELETE FROM queue.live
             WHERE live.id = ANY (ARRAY(SELECT id FROM asked)) AND {STILL_HELD}
            RETURNING id, stage, retry_count
        ), mine AS MATERIALIZED (
            SELECT asked.*, gone.stage, gone.retry_count FROM gone JOIN asked USING (id)
        ), ended AS (
            INSERT INTO queue.ending (item_id, status, stage, final, message, retry_count, attempts)
            SELECT id, status, stage, true, message, retry_count, attempt FROM mine
        ), amended AS (
            UPDATE queue.item
               SET data = coalesce(mine.data, item.data), updated_at = now(),
                   error_class = coalesce(mine.error_class, item.error_class),
                   error_text = coalesce(mine.error_text, item.error_text),
                   error_fingerprint = coalesce(mine.fingerprint, item.error_fingerprint)
              FROM mine
             WHERE item.id = ANY (ARRAY(SELECT id FROM mine WHERE data IS NOT NULL
                                                               OR error_class IS NOT NULL))
               AND item.id = mine.id
        ), noted AS (
            INSERT INTO queue.event (item_id, what, was, became, stage, worker, note)
            SELECT id, lower(status::text), 'PROCESSING', status, stage, %(worker)s, message
              FROM mine
        ), woken AS (
            UPDATE queue.live AS waiting SET parked = false, available_at = now()
             WHERE waiting.waits_for = ANY (ARRAY(SELECT id FROM mine)) AND waiting.parked
        )
        SELECT id, attempt FROM mine
        """,
        {"worker": worker, "rows": join_rows(rows)},
    )
    return [Claim._make(row) for row in await cursor.fetchall()]


async def requeue_items(tx: Tx, worker: int, rows: Sequence[str]) -> list[Claim]:
    """Send items on to their next run: advanced, waiting, blocked or to be retried.

    A row: id, attempt, what, status, stage, message, delay (s; 0 is now) or until (a time, compared
    with the server's clock), retries and steps to add, waits_for, blocked_on, and where they changed
    priority, data and error_*. Returns the claims that still held.
    """
    cursor = await tx.execute(
        f"""
        WITH asked AS MATERIALIZED (
            SELECT claim.*, due.at AS due_at,
                   due.at > now() AND (claim.waits_for IS NULL OR awaited.id IS NOT NULL) AS parked
              FROM json_to_recordset(%(rows)s::json) AS claim(
                       id bigint, attempt int, what text, status queue.status, stage text,
                       message text, delay float8, until timestamptz, retries int, steps int,
                       waits_for bigint, blocked_on text, data jsonb, priority smallint,
                       error_class text, error_text text, fingerprint uuid)
              {HELD}
             CROSS JOIN LATERAL (SELECT least(coalesce(claim.until,
                                                       now() + make_interval(secs => claim.delay)),
                                              now() + make_interval(secs => %(longest)s)) AS at) AS due
              LEFT JOIN LATERAL (SELECT id FROM queue.live WHERE live.id = claim.waits_for LIMIT 1)
                        AS awaited ON true
        ), mine AS (
            UPDATE queue.live
               SET status = claim.status, stage = claim.stage, worker = NULL, parked = claim.parked,
                   available_at = CASE WHEN claim.parked THEN claim.due_at ELSE now() END,
                   retry_count = CASE WHEN claim.what = 'advanced' THEN 0
                                      ELSE retry_count + claim.retries END,
                   steps = live.steps + claim.steps, waits_for = claim.waits_for,
                   waited_for = CASE WHEN claim.what = 'advanced' THEN NULL
                                     ELSE coalesce(live.waits_for, live.waited_for) END,
                   blocked_on = claim.blocked_on, priority = coalesce(claim.priority, live.priority)
              FROM asked AS claim
             WHERE live.id = ANY (ARRAY(SELECT id FROM asked)) AND {HOLDS_CLAIM}
            RETURNING claim.*
        ), amended AS (
            UPDATE queue.item
               SET data = coalesce(mine.data, item.data), updated_at = now(),
                   message = coalesce(mine.message, item.message),
                   error_class = coalesce(mine.error_class, item.error_class),
                   error_text = coalesce(mine.error_text, item.error_text),
                   error_fingerprint = coalesce(mine.fingerprint, item.error_fingerprint)
              FROM mine
             WHERE item.id = ANY (ARRAY(SELECT id FROM mine WHERE data IS NOT NULL
                                                               OR message IS NOT NULL))
               AND item.id = mine.id
        ), noted AS (
            INSERT INTO queue.event (item_id, what, was, became, stage, worker, note)
            SELECT id, what, 'PROCESSING', status, stage, %(worker)s, coalesce(error_text, message)
              FROM mine
        )
        SELECT id, attempt FROM mine
        """,
        {"worker": worker, "rows": join_rows(rows), "longest": MAX_DELAY.total_seconds()},
    )
    return [Claim._make(row) for row in await cursor.fetchall()]


async def lock_claim(tx: Tx, work: Work) -> bool:
    """Lock a claimed item until `tx` ends; False where the claim no longer holds.

    Also for what a stage writes in a transaction of its own, beside its move: the queue fences only
    the move.
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
    """Make due what waited for its time; returns how many."""
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
        ), noted AS (
            INSERT INTO queue.event (item_id, what, was, became, stage)
            SELECT id, 'looked at again', 'BLOCKED', 'PENDING', stage
              FROM due WHERE status = 'BLOCKED'
        )
        SELECT count(*) FROM due
        """
    )
    found = await cursor.fetchone()
    return found[0] if found else 0


async def seconds_until_next_due(tx: Tx) -> float | None:
    """Seconds until the next parked item is due; None where nothing is parked."""
    cursor = await tx.execute(
        """
        SELECT extract(epoch FROM available_at - clock_timestamp())::float8
          FROM queue.live
         WHERE parked AND available_at < 'infinity'
         ORDER BY available_at
         LIMIT 1
        """
    )
    found = await cursor.fetchone()
    return found[0] if found else None


async def wake_stranded_waiters(tx: Tx) -> int:
    """Free those whose awaited item ended in the moment they lay down; returns how many.

    Where it did not end but hand over in that moment, they wait for its heir.
    """
    await tx.execute(
        """
        UPDATE queue.live AS waiting SET waits_for = heir.id
          FROM queue.item AS awaited, queue.live AS heir, queue.item AS child
         WHERE waiting.parked AND waiting.waits_for IS NOT NULL AND awaited.id = waiting.waits_for
           AND heir.kind = awaited.kind AND heir.key_hash = awaited.key_hash
           AND heir.id <> awaited.id AND child.id = heir.id
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


async def has_failed_with(tx: Tx, work: Work, fingerprint: str) -> bool:
    """Whether this kind and key already FAILED of the same error in this lineage."""
    cursor = await tx.execute(
        """
        SELECT FROM queue.item JOIN queue.ending ON ending.item_id = item.id
         WHERE item.tracking_id = %(tracking_id)s AND item.key_hash = md5(%(key)s)::uuid
           AND item.kind = %(kind)s AND item.error_fingerprint = %(fingerprint)s
           AND ending.status = 'FAILED' AND item.id <> %(id)s
         LIMIT 1
        """,
        {
            "tracking_id": work.tracking_id,
            "key": work.key,
            "kind": work.kind,
            "fingerprint": fingerprint,
            "id": work.id,
        },
    )
    return cursor.rowcount == 1
