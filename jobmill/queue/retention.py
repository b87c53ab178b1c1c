"""Old items leave in small bites, so that nobody who works notices."""

from __future__ import annotations

import datetime as dt

from jobmill.db import Tx, fetch_value

BATCH_SIZE = 1_000


async def prune_ended_items(tx: Tx, older_than: dt.timedelta) -> int:
    """Delete up to a bite of items that ended so long ago, with their events; returns how many.

    An item that a live descendant still names in its ancestry goes too: the descendant carries the
    ids and key hashes it needs. A lineage that lives longer than `older_than` forgets what ended in it.
    """
    return (
        await fetch_value(
            tx,
            int,
            """
            WITH old AS MATERIALIZED (
                SELECT item_id FROM queue.ending
                 WHERE finished_at < now() - %(age)s
                 LIMIT %(bite)s
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
            {"age": older_than, "bite": BATCH_SIZE},
        )
        or 0
    )
