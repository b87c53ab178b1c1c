"""Checks from the tables alone that the queue kept its guarantees. Shares no code with the product.

Each check is one query that returns the rows that violate a guarantee. It is run when everything has come
to rest. The pipeline of `pipeline.py` leaves the evidence: each stage saves (item, stage, attempt) in
its own transaction, and each child carries the attempt that spawned it in its key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import LiteralString

import psycopg

from .history import Operation, as_rows

EVIDENCE: LiteralString = """
    CREATE SCHEMA chaos;
    -- No key: a second row of the same attempt must be able to exist, to be seen.
    CREATE TABLE chaos.saved (item bigint NOT NULL, stage text NOT NULL, attempt int NOT NULL);
"""

CHECKS: Mapping[str, LiteralString] = {
    "an acknowledged item does not exist, or exists twice": """
        SELECT asked.key, count(item.id)
          FROM json_to_recordset(%(history)s::json) AS asked(client text, key text, result text)
          LEFT JOIN queue.item ON item.key = asked.key AND item.parent_id IS NULL
         WHERE asked.result = 'ok'
         GROUP BY asked.key HAVING count(item.id) <> count(DISTINCT asked.client)
    """,
    "an item exists that no client asked for": """
        SELECT item.id, item.key FROM queue.item
         WHERE parent_id IS NULL
           AND NOT EXISTS (SELECT FROM json_to_recordset(%(history)s::json)
                                      AS asked(client text, key text, result text)
                            WHERE asked.key = item.key AND asked.result IN ('ok', 'unknown'))
    """,
    "an item is still live": """
        SELECT id, kind, stage, status, worker, attempt, parked FROM queue.live
    """,
    "an item did not end exactly once": """
        SELECT item.id, count(event.id)
          FROM queue.item
          LEFT JOIN queue.event ON event.item_id = item.id
                               AND event.to_status IN ('SUCCESS', 'FILTERED', 'SKIPPED', 'FAILED')
         GROUP BY item.id HAVING count(event.id) <> 1
    """,
    "an item ended without a row that says how, or otherwise than its last event": """
        SELECT item.id, ending.status, event.to_status
          FROM queue.item
          LEFT JOIN queue.ending ON ending.item_id = item.id
          LEFT JOIN queue.event ON event.item_id = item.id
                               AND event.to_status IN ('SUCCESS', 'FILTERED', 'SKIPPED', 'FAILED')
         WHERE ending.status IS DISTINCT FROM event.to_status
    """,
    "an item changed its status from one that it did not have": """
        SELECT item_id, id, from_status, expected FROM (
            SELECT item_id, id, from_status, lag(to_status) OVER (PARTITION BY item_id ORDER BY id) AS expected
              FROM queue.event WHERE to_status IS NOT NULL) AS change
         WHERE from_status IS DISTINCT FROM expected
    """,
    "a stage that succeeded was not saved exactly once": """
        SELECT step.item_id, step.stage, step.times, coalesce(saved.times, 0)
          FROM (SELECT item_id, count(*) AS times, min(event.stage) AS stage
                  FROM queue.event JOIN queue.item ON item.id = item_id AND item.kind <> 'line'
                 WHERE type IN ('advanced', 'waits for an item', 'handed over', 'success')
                 GROUP BY item_id) AS step
          FULL JOIN (SELECT item, count(*) AS times FROM chaos.saved GROUP BY item) AS saved
                 ON saved.item = step.item_id
         WHERE step.times IS DISTINCT FROM saved.times
    """,
    "one stage of one item was saved twice": """
        SELECT item, stage, array_agg(attempt) FROM chaos.saved
         GROUP BY item, stage HAVING count(*) > 1
    """,
    "the last save of an item is not of the attempt that ended it": """
        SELECT ending.item_id, ending.attempts, max(saved.attempt)
          FROM queue.ending JOIN chaos.saved ON saved.item = ending.item_id
         WHERE ending.status = 'SUCCESS'
         GROUP BY ending.item_id, ending.attempts HAVING max(saved.attempt) <> ending.attempts
    """,
    "a child was spawned by an attempt that did not win": """
        SELECT child.id, child.key FROM queue.item AS child
         WHERE child.parent_id IS NOT NULL AND NOT child.handed_over
           AND NOT EXISTS (SELECT FROM chaos.saved
                            WHERE saved.item = child.parent_id
                              AND saved.attempt = (child.data ->> 'spawned_by_attempt')::int
                              AND saved.stage = child.data ->> 'spawned_by_stage')
           AND NOT EXISTS (SELECT FROM queue.item AS parent
                            WHERE parent.id = child.parent_id AND parent.kind = 'line'
                              AND parent.data ->> 'finished_by' = child.data ->> 'spawned_by_attempt')
    """,
    "a line was not finished by the attempt that ended it, or has not one child": """
        SELECT line.id, line.data ->> 'finished_by', ending.attempts
          FROM queue.item AS line JOIN queue.ending ON ending.item_id = line.id
         WHERE line.kind = 'line' AND ending.status = 'SUCCESS'
           AND (line.data ->> 'finished_by' IS DISTINCT FROM ending.attempts::text
                OR (line.data ->> 'written_by')::int >= ending.attempts
                OR 1 <> (SELECT count(*) FROM queue.item AS note WHERE note.parent_id = line.id))
    """,
    "a child of an attempt that won is missing": """
        SELECT item.id, saved.stage, saved.attempt FROM queue.item
          JOIN chaos.saved ON saved.item = item.id
         WHERE item.data -> 'children_of' ? saved.stage
           AND NOT EXISTS (SELECT FROM queue.item AS child
                            WHERE child.parent_id = item.id AND NOT child.handed_over
                              AND child.data ->> 'spawned_by_stage' = saved.stage)
    """,
    "an item is deeper than its lineage may be": """
        SELECT id, spawn_depth, max_spawn_depth FROM queue.item
         WHERE NOT handed_over AND spawn_depth > max_spawn_depth
    """,
    "one lineage holds the same work twice": """
        SELECT tracking_id, kind, key, count(*) FROM queue.item
         WHERE NOT handed_over GROUP BY tracking_id, kind, key HAVING count(*) > 1
    """,
    "an item failed": """
        SELECT item.id, item.key, ending.message FROM queue.item
          JOIN queue.ending ON ending.item_id = item.id WHERE ending.status = 'FAILED'
    """,
}


def violations(url: str, history: Sequence[Operation]) -> list[str]:
    """One line for each violated guarantee, with the first rows that show it."""
    lines: list[str] = []
    with psycopg.connect(url, autocommit=True) as connection:
        for promise, query in CHECKS.items():
            rows = connection.execute(query, {"history": as_rows(history)}).fetchall()
            if rows:
                lines.append(f"{promise}: {len(rows)}, such as {rows[:3]}")
    return lines
