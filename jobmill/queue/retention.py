"""Deletes old items in small batches, so that workers are not held up."""

from __future__ import annotations

import datetime as dt

from jobmill.db import Tx, fetch_value

BATCH_SIZE = 1_000


async def prune_ended_items(tx: Tx, older_than: dt.timedelta) -> int:
    """Delete one batch of items that ended longer ago than `older_than`, with their events; returns how many.

    This also deletes items that are ancestors of a live item, which carries the ids and key hashes that it
    needs. A lineage that lives longer than `older_than` forgets what ended in it.
    """
    return (
        await fetch_value(
            tx,
            int,
            """
            WITH old AS MATERIALIZED (
                SELECT item_id FROM queue.ending
                 WHERE finished_at < now() - %(age)s
                 LIMIT %(limit)s
                   FOR UPDATE SKIP LOCKED
            ), endings AS (
                DELETE FROM queue.ending WHERE item_id = ANY (ARRAY(SELECT item_id FROM old))
            ), items AS (
                DELETE FROM queue.item WHERE id = ANY (ARRAY(SELECT item_id FROM old))
            ), events AS (
                DELETE FROM queue.event WHERE item_id = ANY (ARRAY(SELECT item_id FROM old))
            )
            SELECT count(*) FROM old
            """,
            {"age": older_than, "limit": BATCH_SIZE},
        )
        or 0
    )
