"""The worker processes: who is alive, what they do, and what the dead leave behind."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from jobmill.db import Tx
from jobmill.queue.items import Claim
from jobmill.queue.store import CHANNEL

MAX_RESCUES = 20
"""Workers that may die over one item before the item is taken for the cause."""


class RescueCounts(NamedTuple):
    buried: int
    released: int
    failed: int


async def register_worker(tx: Tx, name: str, lease: dt.timedelta) -> int:
    """A new worker's id. Ids are never used again, so a zombie can never pass for a newcomer."""
    cursor = await tx.execute(
        "INSERT INTO queue.worker (name, lease) VALUES (%s, %s) RETURNING id", [name, lease]
    )
    found = await cursor.fetchone()
    assert found
    return found[0]


class Heartbeat(NamedTuple):
    alive: bool
    """False where the lease lapsed before."""
    newest_migration: str = ""


async def send_heartbeat(tx: Tx, worker: int, processors: Sequence[dict[str, Any]]) -> Heartbeat:
    """Renew the lease, publish what the processors do, and read the version of the schema."""
    cursor = await tx.execute(
        """
        UPDATE queue.worker SET beat_at = clock_timestamp(), processors = %(processors)s::jsonb
         WHERE id = %(worker)s AND gone_at IS NULL AND beat_at + lease > clock_timestamp()
        RETURNING (SELECT max(name) FROM public.jobmill_migration)
        """,
        {"worker": worker, "processors": json.dumps(processors)},
    )
    row = await cursor.fetchone()
    return Heartbeat(False) if row is None else Heartbeat(True, row[0] or "")


async def notify_idle_workers(tx: Tx, worker: int) -> None:
    """Say that something may be due, where any other worker sleeps."""
    await tx.execute(
        """
        SELECT pg_notify(%(channel)s, '')
         WHERE EXISTS (SELECT FROM queue.worker
                        WHERE idle AND gone_at IS NULL AND id <> %(worker)s)
        """,
        {"channel": CHANNEL, "worker": worker},
    )


async def set_idle(tx: Tx, worker: int, idle: bool) -> None:
    """Whether those who put work in should notify us."""
    await tx.execute("UPDATE queue.worker SET idle = %s WHERE id = %s", [idle, worker])


async def sign_off(tx: Tx, worker: int) -> None:
    await tx.execute(
        "UPDATE queue.worker SET gone_at = clock_timestamp(), idle = false, processors = '[]' WHERE id = %s",
        [worker],
    )


async def rescue_abandoned_items(tx: Tx) -> RescueCounts:
    """Bury workers whose lease ran out and give back what they held.

    That is looked for while anybody is newly gone (a claim that was under way when its worker was buried
    commits after the burial), and once a minute in any case.
    """
    cursor = await tx.execute("SELECT pg_try_advisory_xact_lock(hashtext('jobmill.rescue'))")
    if await cursor.fetchone() != (True,):
        return RescueCounts(0, 0, 0)
    cursor = await tx.execute(
        """
        UPDATE queue.worker SET gone_at = clock_timestamp(), idle = false, processors = '[]'
          FROM (SELECT id FROM queue.worker
                 WHERE gone_at IS NULL AND beat_at + lease < clock_timestamp()
                   -- One that was stopped amid its own heartbeat holds its row: pass it by for now.
                   FOR UPDATE SKIP LOCKED) AS silent
         WHERE worker.id = silent.id
        """
    )
    buried = cursor.rowcount
    if not await _worth_a_look(tx):
        return RescueCounts(0, 0, 0)
    await delete_old_workers(tx)
    cursor = await tx.execute(
        """
        WITH held AS MATERIALIZED (
            SELECT live.id, live.rescues >= %(most)s AS hopeless
              FROM queue.live
             WHERE status = 'PROCESSING'
               AND NOT EXISTS (SELECT FROM queue.worker AS alive
                                WHERE alive.id = live.worker AND alive.gone_at IS NULL)
             ORDER BY live.id
             LIMIT 500
               FOR UPDATE SKIP LOCKED
        ), freed AS (
            UPDATE queue.live SET status = 'PENDING', worker = NULL, rescues = rescues + 1
              FROM held
             WHERE live.id = held.id AND NOT hopeless
            RETURNING live.id, stage
        ), given_up AS (
            DELETE FROM queue.live USING held
             WHERE live.id = held.id AND hopeless
            RETURNING live.id, stage, retry_count, attempt
        ), ended AS (
            INSERT INTO queue.ending (item_id, status, stage, final, message, retry_count, attempts)
            SELECT id, 'FAILED', stage, true, %(words)s, retry_count, attempt FROM given_up
        ), noted AS (
            INSERT INTO queue.event (item_id, what, was, became, stage, note)
            SELECT id, 'rescued', 'PROCESSING'::queue.status, 'PENDING'::queue.status, stage,
                   'its worker is gone' FROM freed
            UNION ALL
            SELECT id, 'failed', 'PROCESSING', 'FAILED', stage, %(words)s FROM given_up
        ), told AS MATERIALIZED (
            SELECT pg_notify(%(channel)s, '') WHERE EXISTS (SELECT FROM freed)
        )
        SELECT (SELECT count(*) FROM freed), (SELECT count(*) FROM given_up),
               (SELECT count(*) FROM told)
        """,
        {
            "most": MAX_RESCUES,
            "words": f"Its worker died {MAX_RESCUES + 1} times while it ran: the item may be the cause",
            "channel": CHANNEL,
        },
    )
    released, failed, _ = await cursor.fetchone() or (0, 0, 0)
    return RescueCounts(buried, released, failed)


async def _worth_a_look(tx: Tx) -> bool:
    """Whether to read all that is unfinished: `live` has no index on its workers, on purpose."""
    cursor = await tx.execute(
        """
        INSERT INTO queue.tick (name, at) VALUES ('rescue', clock_timestamp())
        ON CONFLICT (name) DO UPDATE SET at = excluded.at
         WHERE tick.at < excluded.at - interval '1 minute'
            OR EXISTS (SELECT FROM queue.worker
                        WHERE gone_at > clock_timestamp() - interval '2 minutes')
        """
    )
    return cursor.rowcount == 1


async def release_unknown_claims(
    tx: Tx, worker: int, keep: Sequence[Claim] = (), *, older_than: dt.timedelta = dt.timedelta()
) -> int:
    """Give back what this worker holds without knowing it: claims whose answer was lost on the way."""
    cursor = await tx.execute(
        """
        WITH freed AS (
            UPDATE queue.live SET status = 'PENDING', worker = NULL
             WHERE status = 'PROCESSING' AND worker = %(worker)s
               AND NOT EXISTS (SELECT FROM unnest(%(ids)s::bigint[], %(attempts)s::int[])
                                            AS kept(id, attempt)
                                WHERE kept.id = live.id AND kept.attempt = live.attempt)
               AND coalesce(started_at, '-infinity') <= now() - %(older_than)s
            RETURNING id, stage
        )
        INSERT INTO queue.event (item_id, what, was, became, stage, worker, note)
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
    """Drop the rows of workers long gone."""
    await tx.execute(
        "DELETE FROM queue.worker WHERE gone_at < clock_timestamp() - interval '1 day'"
    )
