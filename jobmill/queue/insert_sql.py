"""SQL that puts items into the queue, shared by submission, spawning, hand-over and import."""

from __future__ import annotations

from typing import LiteralString

LIVE_COLUMNS: LiteralString = "id, kind, stage, key_hash, priority, available_at, parked"
"""The columns of `queue.live` that a new item sets."""

ITEM_COLUMNS: LiteralString = """
    id, kind, stage, key, key_hash, data, priority, tracking_id, parent_id, ancestry, ancestor_keys,
    handed_over, spawn_depth, max_spawn_depth, max_retries
"""
"""The columns of `queue.item` that a new item sets."""

IDLE_WORKER_EXISTS: LiteralString = (
    "EXISTS (SELECT FROM queue.worker WHERE idle AND ended_at IS NULL)"
)
"""True while a worker waits for notifications. Producers notify only then, because NOTIFY takes a lock."""

INSERT_ADMITTED: LiteralString = f"""
    inserted AS (
        INSERT INTO queue.live ({LIVE_COLUMNS})
        SELECT id, kind, stage, key_hash, priority, now() + make_interval(secs => delay), delay > 0
          FROM admitted
         -- Always in the same order, so that two transactions cannot deadlock.
         ORDER BY kind, key_hash, n
        ON CONFLICT (kind, key_hash) DO NOTHING
        RETURNING id
    ), inserted_items AS (
        INSERT INTO queue.item ({ITEM_COLUMNS})
        SELECT {ITEM_COLUMNS} FROM admitted JOIN inserted USING (id)
    ), notified AS MATERIALIZED (
        SELECT pg_notify(%(channel)s, '')
         WHERE EXISTS (SELECT FROM inserted) AND {IDLE_WORKER_EXISTS}
    )
"""
"""Inserts the rows of `admitted`, which has ITEM_COLUMNS, `n` (the order) and `delay` (seconds).

`inserted` has the ids of those that were inserted: the others have the kind and key of a live item. A statement must read `notified`, or
PostgreSQL does not evaluate it.
"""
