"""Actions of an operator: retry and cancel items, pause and resume phases, unblock items."""

from __future__ import annotations

from jobmill.db import Tx, fetch_value
from jobmill.errors import Conflict, NotFound
from jobmill.queue.admission import phase_name, unknown_phase
from jobmill.queue.items import ItemId
from jobmill.queue.store import CHANNEL


async def retry_item(tx: Tx, id: ItemId, note: str = "by hand") -> None:
    """Run an item that did not succeed again, from the stage where it ended."""
    status = await _lock(tx, id)
    if status not in ("FAILED", "SKIPPED", "FILTERED"):
        raise Conflict(
            f"item {id} is {status}: only FAILED, SKIPPED and FILTERED items can be retried"
        )
    cursor = await tx.execute(
        """
        WITH revived AS (
            INSERT INTO queue.live (id, kind, stage, key_hash, priority, available_at, parked, attempt)
            SELECT item.id, item.kind, ending.stage, item.key_hash, item.priority, now(), false,
                   ending.attempts
              FROM queue.item JOIN queue.ending ON ending.item_id = item.id
             WHERE item.id = %(id)s
            ON CONFLICT (kind, key_hash) DO NOTHING
            RETURNING id, stage
        ), reopened AS (
            DELETE FROM queue.ending USING revived
             WHERE item_id = revived.id
            RETURNING item_id, status
        ), logged AS (
            INSERT INTO queue.event (item_id, type, from_status, to_status, stage, note)
            SELECT id, 'put back', status, 'PENDING', stage, %(note)s
              FROM revived JOIN reopened ON item_id = id
        )
        SELECT pg_notify(%(channel)s, '') FROM revived
        """,
        {"id": id, "channel": CHANNEL, "note": note},
    )
    if cursor.rowcount == 0:
        raise Conflict(f"item {id} cannot be retried: another live item has its kind and key")


async def cancel_item(tx: Tx, id: ItemId, reason: str) -> None:
    """End an item that is not running as SKIPPED; a running item cannot be cancelled."""
    status = await _lock(tx, id)
    if status not in ("PENDING", "BLOCKED"):
        raise Conflict(f"item {id} is {status}: only PENDING and BLOCKED items can be cancelled")
    await tx.execute(
        """
        WITH removed AS (
            DELETE FROM queue.live WHERE id = %(id)s AND status IN ('PENDING', 'BLOCKED')
            RETURNING id, stage, status, retry_count, attempt
        ), ended AS (
            INSERT INTO queue.ending (item_id, status, stage, final, message, retry_count, attempts)
            SELECT id, 'SKIPPED', stage, true, %(message)s, retry_count, attempt FROM removed
        ), logged AS (
            INSERT INTO queue.event (item_id, type, from_status, to_status, stage, note)
            SELECT id, 'cancelled', status, 'SKIPPED', stage, %(message)s FROM removed
        )
        UPDATE queue.live AS waiting SET parked = false, available_at = now()
          FROM removed
         WHERE waiting.waits_for = removed.id AND waiting.parked
        """,
        {"id": id, "message": f"Cancelled: {reason}"},
    )


async def pause_phase(tx: Tx, kind: str, stage: str | None, reason: str) -> None:
    """Stop claiming items of a phase, or of all phases of a kind; running items continue."""
    await _check_phase(tx, kind, stage)
    await tx.execute(
        """
        INSERT INTO queue.pause (kind, stage, reason) VALUES (%s, %s, %s)
        ON CONFLICT (kind, stage) DO UPDATE SET reason = excluded.reason
        """,
        [kind, stage or "", reason],
    )


async def resume_phase(tx: Tx, kind: str, stage: str | None) -> None:
    """End a pause; Conflict if exactly this phase or kind is not paused."""
    await _check_phase(tx, kind, stage)
    cursor = await tx.execute(
        "DELETE FROM queue.pause WHERE kind = %s AND stage = %s", [kind, stage or ""]
    )
    if cursor.rowcount == 0:
        raise Conflict(f"{phase_name(kind, stage)} is not paused")
    await tx.execute("SELECT pg_notify(%s, '')", [CHANNEL])


async def unblock_items(tx: Tx, on: str) -> int:
    """Requeue every item that is blocked on a resource; returns how many."""
    cursor = await tx.execute(
        """
        WITH freed AS (
            UPDATE queue.live
               SET status = 'PENDING', parked = false, available_at = now(), blocked_on = NULL
             WHERE parked AND status = 'BLOCKED' AND blocked_on = %(on)s
            RETURNING id, stage
        ), logged AS (
            INSERT INTO queue.event (item_id, type, from_status, to_status, stage, note)
            SELECT id, 'unblocked', 'BLOCKED', 'PENDING', stage, %(on)s FROM freed
        ), notified AS MATERIALIZED (
            SELECT pg_notify(%(channel)s, '') WHERE EXISTS (SELECT FROM freed)
        )
        SELECT (SELECT count(*) FROM freed), (SELECT count(*) FROM notified)
        """,
        {"on": on, "channel": CHANNEL},
    )
    row = await cursor.fetchone()
    return row[0] if row else 0


async def _lock(tx: Tx, id: ItemId) -> str:
    """Lock an item until `tx` ends; returns its status."""
    # In the order of settlements, which change the live row before the item: they cannot deadlock.
    live = await tx.execute("SELECT FROM queue.live WHERE id = %s FOR UPDATE", [id])
    if not await fetch_value(tx, int, "SELECT id FROM queue.item WHERE id = %s FOR UPDATE", [id]):
        raise NotFound("item", id)
    status = await fetch_value(tx, str, "SELECT status FROM queue.items WHERE id = %s", [id])
    assert status
    if not live.rowcount and status in ("PENDING", "BLOCKED", "PROCESSING"):
        raise Conflict(f"item {id} was put back at the same time: try again")
    return status


async def _check_phase(tx: Tx, kind: str, stage: str | None) -> None:
    cursor = await tx.execute(
        "SELECT FROM queue.phase WHERE kind = %(kind)s AND stage = coalesce(%(stage)s, stage)",
        {"kind": kind, "stage": stage},
    )
    if cursor.rowcount == 0:
        raise await unknown_phase(tx, kind, stage)
