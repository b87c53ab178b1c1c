"""Leases: registration and heartbeats of workers, and the rescue of items of lost workers."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from jobmill.db import Tx
from jobmill.queue.items import Claim
from jobmill.queue.store import CHANNEL


class RescueCounts(NamedTuple):
    expired_workers: int
    released: int
    failed: int


async def register_worker(tx: Tx, name: str, lease: dt.timedelta) -> int:
    """Register a worker; returns its id. Ids are never reused, so a stale worker cannot pass for a new one."""
    cursor = await tx.execute(
        "INSERT INTO queue.worker (name, lease) VALUES (%s, %s) RETURNING id", [name, lease]
    )
    row = await cursor.fetchone()
    assert row
    return row[0]


class Heartbeat(NamedTuple):
    alive: bool
    """False if the lease had lapsed."""
    newest_migration: str = ""


async def send_heartbeat(tx: Tx, worker: int, processors: Sequence[dict[str, Any]]) -> Heartbeat:
    """Renew the lease, store what the processors do, and read the newest migration of the schema."""
    cursor = await tx.execute(
        """
        UPDATE queue.worker SET heartbeat_at = clock_timestamp(), processors = %(processors)s::jsonb
         WHERE id = %(worker)s AND ended_at IS NULL AND heartbeat_at + lease > clock_timestamp()
        RETURNING (SELECT max(name) FROM public.jobmill_migration)
        """,
        {"worker": worker, "processors": json.dumps(processors)},
    )
    row = await cursor.fetchone()
    return Heartbeat(False) if row is None else Heartbeat(True, row[0] or "")


async def notify_idle_workers(tx: Tx, worker: int) -> None:
    """Notify the other workers, if any is idle, that items may be due."""
    await tx.execute(
        """
        SELECT pg_notify(%(channel)s, '')
         WHERE EXISTS (SELECT FROM queue.worker
                        WHERE idle AND ended_at IS NULL AND id <> %(worker)s)
        """,
        {"channel": CHANNEL, "worker": worker},
    )


async def set_idle(tx: Tx, worker: int, idle: bool) -> None:
    """Set whether producers should notify this worker."""
    await tx.execute("UPDATE queue.worker SET idle = %s WHERE id = %s", [idle, worker])


async def sign_off(tx: Tx, worker: int) -> None:
    await tx.execute(
        "UPDATE queue.worker SET ended_at = clock_timestamp(), idle = false, processors = '[]' WHERE id = %s",
        [worker],
    )


async def rescue_abandoned_items(tx: Tx) -> RescueCounts:
    """Mark workers with a lapsed lease as gone, and requeue the items they held.

    A lost worker costs a retry, since the item may be the cause: without one left, the item fails.
    It looks for items while a worker was marked recently, because a claim that was in flight at that moment
    commits afterwards, and once a minute in any case.
    """
    cursor = await tx.execute("SELECT pg_try_advisory_xact_lock(hashtext('jobmill.rescue'))")
    if await cursor.fetchone() != (True,):
        return RescueCounts(0, 0, 0)
    cursor = await tx.execute(
        """
        UPDATE queue.worker SET ended_at = clock_timestamp(), idle = false, processors = '[]'
          FROM (SELECT id FROM queue.worker
                 WHERE ended_at IS NULL AND heartbeat_at + lease < clock_timestamp()
                   -- A worker that was stopped during its heartbeat holds its row: skip it for now.
                   FOR UPDATE SKIP LOCKED) AS silent
         WHERE worker.id = silent.id
        """
    )
    expired_workers = cursor.rowcount
    if not await _should_scan(tx):
        return RescueCounts(0, 0, 0)
    await delete_old_workers(tx)
    cursor = await tx.execute(
        """
        WITH abandoned AS MATERIALIZED (
            SELECT live.id, live.retry_count >= item.max_retries AS hopeless
              FROM queue.live JOIN queue.item USING (id)
             WHERE status = 'PROCESSING'
               AND NOT EXISTS (SELECT FROM queue.worker AS alive
                                WHERE alive.id = live.worker AND alive.ended_at IS NULL)
             ORDER BY live.id
             LIMIT 500
               FOR UPDATE OF live SKIP LOCKED
        ), freed AS (
            UPDATE queue.live SET status = 'PENDING', worker = NULL, retry_count = retry_count + 1
              FROM abandoned
             WHERE live.id = abandoned.id AND NOT hopeless
            RETURNING live.id, stage
        ), removed AS (
            DELETE FROM queue.live USING abandoned
             WHERE live.id = abandoned.id AND hopeless
            RETURNING live.id, stage, retry_count, attempt
        ), ended AS (
            INSERT INTO queue.ending (item_id, status, stage, final, message, retry_count, attempts)
            SELECT id, 'FAILED', stage, true, format(%(message)s, retry_count), retry_count, attempt
              FROM removed
        ), logged AS (
            INSERT INTO queue.event (item_id, type, from_status, to_status, stage, note)
            SELECT id, 'rescued', 'PROCESSING'::queue.status, 'PENDING'::queue.status, stage,
                   'its worker is gone' FROM freed
            UNION ALL
            SELECT id, 'failed', 'PROCESSING', 'FAILED', stage, format(%(message)s, retry_count)
              FROM removed
        ), notified AS MATERIALIZED (
            SELECT pg_notify(%(channel)s, '') WHERE EXISTS (SELECT FROM freed)
        )
        SELECT (SELECT count(*) FROM freed), (SELECT count(*) FROM removed),
               (SELECT count(*) FROM notified)
        """,
        {
            "message": "Failed after %s retries: its worker was lost, and the item may be the cause",
            "channel": CHANNEL,
        },
    )
    released, failed, _ = await cursor.fetchone() or (0, 0, 0)
    return RescueCounts(expired_workers, released, failed)


async def _should_scan(tx: Tx) -> bool:
    """Whether to scan all of `queue.live`, which deliberately has no index on the worker."""
    cursor = await tx.execute(
        """
        INSERT INTO queue.tick (name, at) VALUES ('rescue', clock_timestamp())
        ON CONFLICT (name) DO UPDATE SET at = excluded.at
         WHERE tick.at < excluded.at - interval '1 minute'
            OR EXISTS (SELECT FROM queue.worker
                        WHERE ended_at > clock_timestamp() - interval '2 minutes')
        """
    )
    return cursor.rowcount == 1


async def release_unknown_claims(
    tx: Tx, worker: int, keep: Sequence[Claim] = (), *, older_than: dt.timedelta = dt.timedelta()
) -> int:
    """Release claims that this worker holds without knowing it, because the answer to the claim was lost."""
    cursor = await tx.execute(
        """
        WITH freed AS (
            UPDATE queue.live SET status = 'PENDING', worker = NULL
             WHERE status = 'PROCESSING' AND worker = %(worker)s
               AND NOT EXISTS (SELECT FROM unnest(%(ids)s::bigint[], %(attempts)s::int[])
                                            AS claim(id, attempt)
                                WHERE claim.id = live.id AND claim.attempt = live.attempt)
               AND coalesce(started_at, '-infinity') <= now() - %(older_than)s
            RETURNING id, stage
        )
        INSERT INTO queue.event (item_id, type, from_status, to_status, stage, worker, note)
        SELECT id, 'released', 'PROCESSING', 'PENDING', stage, %(worker)s, 'never begun' FROM freed
        """,
        {
            "worker": worker,
            "ids": [claim.id for claim in keep],
            "attempts": [claim.attempt for claim in keep],
            "older_than": older_than,
        },
    )
    return cursor.rowcount


async def delete_old_workers(tx: Tx) -> None:
    """Delete the rows of workers that have been gone for a day."""
    await tx.execute(
        "DELETE FROM queue.worker WHERE ended_at < clock_timestamp() - interval '1 day'"
    )
