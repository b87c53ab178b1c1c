"""How children come in: through the five spawn rules, or as the next stage of their parent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jobmill.db import Tx
from jobmill.queue.items import AcceptedItem, Claim, ItemId, NewItem, RefusedItem, SpawnReason, Work
from jobmill.queue.lease_fence import HOLDS_CLAIM, LEASE_STANDS
from jobmill.queue.refusals import explain_refusal, find_live_item
from jobmill.queue.stages import HandOver
from jobmill.queue.store import CHANNEL
from jobmill.queue.value_encoding import encode_new_item, encode_row, join_rows


class ChildItem(NamedTuple):
    parent: ItemId
    new: NewItem


async def spawn_children(tx: Tx, children: Sequence[ChildItem]) -> list[AcceptedItem | RefusedItem]:
    """Put children in, each under the five rules; the answers stand in the order of `children`."""
    rows = [
        encode_new_item(child.new, n=n, parent=child.parent) for n, child in enumerate(children)
    ]
    cursor = await tx.execute(
        """
        WITH asked AS MATERIALIZED (
            SELECT a.*, nextval('queue.item_id_seq') AS id, md5(a.key)::uuid AS key_hash
              FROM json_to_recordset(%(rows)s::json) AS a(
                       n int, parent bigint, kind text, stage text, key text, data jsonb,
                       priority smallint, delay float8, max_retries smallint)
        ), judged AS MATERIALIZED (
            SELECT asked.*, parent.tracking_id, parent.max_spawn_depth,
                   coalesce(asked.max_retries, phase.max_retries) AS retries,
                   parent.ancestry || parent.id AS ancestry,
                   parent.ancestor_keys || parent.key_hash AS ancestor_keys,
                   parent.spawn_depth + 1 AS spawn_depth, live.id AS live_id,
                   CASE
                       WHEN parent.spawn_depth >= parent.max_spawn_depth THEN 'depth'
                       WHEN asked.key_hash = ANY (parent.ancestor_keys || parent.key_hash)
                           THEN 'circular'
                       WHEN twin.tracking_id = parent.tracking_id THEN 'duplicate'
                       WHEN EXISTS (SELECT FROM queue.item AS done
                                     WHERE done.tracking_id = parent.tracking_id
                                       AND done.key_hash = asked.key_hash
                                       AND done.kind = asked.kind) THEN 'finished'
                       WHEN live.id IS NOT NULL THEN 'live elsewhere'
                   END AS reason
              FROM asked
              JOIN queue.phase USING (kind, stage)
             CROSS JOIN LATERAL (SELECT * FROM queue.item WHERE item.id = asked.parent LIMIT 1)
                        AS parent
              LEFT JOIN LATERAL (SELECT id FROM queue.live
                                  WHERE live.kind = asked.kind AND live.key_hash = asked.key_hash
                                  LIMIT 1) AS live ON true
              LEFT JOIN LATERAL (SELECT tracking_id FROM queue.item WHERE item.id = live.id LIMIT 1)
                        AS twin ON true
        ), alive AS (
            INSERT INTO queue.live (id, kind, stage, key_hash, priority, available_at, parked)
            SELECT id, kind, stage, key_hash, priority, now() + make_interval(secs => delay),
                   delay > 0
              FROM judged
             WHERE reason IS NULL
             -- Always in one order, or two spawners could each wait for the other.
             ORDER BY kind, key_hash, n
            ON CONFLICT (kind, key_hash) DO NOTHING
            RETURNING id
        ), born AS (
            INSERT INTO queue.item (id, kind, stage, key, key_hash, data, priority, tracking_id,
                                    parent_id, ancestry, ancestor_keys, spawn_depth,
                                    max_spawn_depth, handed_over, max_retries)
            SELECT id, kind, stage, key, key_hash, data, priority, tracking_id, parent, ancestry,
                   ancestor_keys, spawn_depth, max_spawn_depth, false, retries
              FROM judged JOIN alive USING (id)
        ), noted AS (
            INSERT INTO queue.event (item_id, what, became, stage, note)
            SELECT id, 'spawned', 'PENDING'::queue.status, stage, NULL
              FROM judged JOIN alive USING (id)
            UNION ALL
            SELECT parent, 'spawn refused', NULL, stage,
                   coalesce(reason, 'live elsewhere') || ': ' || kind || '/' || stage || ' ' || key
              FROM judged LEFT JOIN alive USING (id)
             WHERE alive.id IS NULL
        ), told AS MATERIALIZED (
            SELECT pg_notify(%(channel)s, '')
             WHERE EXISTS (SELECT FROM alive)
               AND EXISTS (SELECT FROM queue.worker WHERE idle AND gone_at IS NULL)
        )
        SELECT judged.n, alive.id, judged.reason, judged.live_id, judged.max_spawn_depth,
               (SELECT count(*) FROM told)
          FROM judged LEFT JOIN alive USING (id)
        """,
        {"rows": join_rows(rows), "channel": CHANNEL},
    )
    answers: dict[int, AcceptedItem | RefusedItem] = {}
    found: list[tuple[int, ItemId | None, SpawnReason | None, ItemId | None, int, int]]
    found = await cursor.fetchall()  # pyright: ignore[reportAssignmentType]
    for n, id, reason, live_id, depth, _ in found:
        answers[n] = (
            AcceptedItem(id)
            if id
            else await _refused_child(tx, children[n], reason, live_id, depth)
        )
    return [answers[n] for n in range(len(children))]


async def lock_existing_parents(tx: Tx, ids: Sequence[ItemId]) -> set[ItemId]:
    """Those that the queue still knows, kept until `tx` ends."""
    cursor = await tx.execute(
        "SELECT id FROM queue.item WHERE id = ANY(%s) FOR KEY SHARE", [list(set(ids))]
    )
    return {ItemId(id) for (id,) in await cursor.fetchall()}


async def hand_over_items(
    tx: Tx, worker: int, moves: Sequence[tuple[Work, HandOver]]
) -> dict[Claim, AcceptedItem | RefusedItem]:
    """End each item and let a child of the next stage take its place in `live`.

    Refused where that stage already ran in this lineage: then the item is left as it is. The depth
    limit does not apply, so that an admitted pipeline can finish. Claims that no longer hold are
    missing in the answer.
    """
    rows = [
        encode_row(
            {
                "id": work.id,
                "attempt": work.attempt,
                "stage": move.stage,
                "data": work.data if move.data is None else move.data,
                "message": move.message,
            }
        )
        for work, move in moves
    ]
    cursor = await tx.execute(
        f"""
        WITH judged AS MATERIALIZED (
            SELECT claim.id AS parent, claim.attempt, claim.stage, claim.data, claim.message,
                   nextval('queue.item_id_seq') AS id, item.kind, item.key, item.key_hash,
                   item.priority, item.tracking_id, item.max_spawn_depth, phase.max_retries,
                   item.ancestry || item.id AS ancestry,
                   item.ancestor_keys || item.key_hash AS ancestor_keys,
                   item.spawn_depth + 1 AS spawn_depth,
                   held.stage AS ended_stage, held.retry_count,
                   CASE
                       WHEN EXISTS (SELECT FROM queue.item AS done
                                     WHERE done.tracking_id = item.tracking_id
                                       AND done.key_hash = item.key_hash
                                       AND done.kind = item.kind
                                       AND done.stage = claim.stage) THEN 'finished'
                   END AS reason
              FROM json_to_recordset(%(rows)s::json) AS claim(
                       id bigint, attempt int, stage text, data jsonb, message text)
             CROSS JOIN LATERAL (SELECT stage, retry_count FROM queue.live
                                  WHERE {HOLDS_CLAIM} AND {LEASE_STANDS}
                                  LIMIT 1 FOR UPDATE) AS held
             CROSS JOIN LATERAL (SELECT * FROM queue.item WHERE item.id = claim.id LIMIT 1) AS item
              JOIN queue.phase ON phase.kind = item.kind AND phase.stage = claim.stage
        ), succeeded AS (
            -- The rows are locked by `judged`, so nothing can take them over here.
            UPDATE queue.live
               SET id = judged.id, stage = judged.stage, status = 'PENDING', worker = NULL,
                   attempt = 0, retry_count = 0, rescues = 0, steps = 0, started_at = NULL,
                   waits_for = NULL, waited_for = NULL, parked = false, available_at = now()
              FROM judged
             WHERE live.id = ANY (ARRAY(SELECT parent FROM judged WHERE reason IS NULL))
               AND live.id = judged.parent
            RETURNING judged.*
        ), born AS (
            INSERT INTO queue.item (id, kind, stage, key, key_hash, data, priority, tracking_id,
                                    parent_id, ancestry, ancestor_keys, spawn_depth,
                                    max_spawn_depth, handed_over, max_retries)
            SELECT id, kind, stage, key, key_hash, data, priority, tracking_id, parent, ancestry,
                   ancestor_keys, spawn_depth, max_spawn_depth, true, max_retries
              FROM succeeded
        ), ended AS (
            INSERT INTO queue.ending (item_id, status, stage, final, message, retry_count, attempts)
            SELECT parent, 'SUCCESS', ended_stage, false, message, retry_count, attempt
              FROM succeeded
        ), noted AS (
            INSERT INTO queue.event (item_id, what, was, became, stage, worker, note)
            SELECT parent, 'handed over', 'PROCESSING'::queue.status, 'SUCCESS'::queue.status,
                   ended_stage, %(worker)s, 'to item ' || id FROM succeeded
            UNION ALL
            SELECT id, 'spawned', NULL, 'PENDING', stage, NULL, NULL FROM succeeded
        ), followed AS (
            -- Whoever waited for this work goes on waiting for it, under its new id.
            UPDATE queue.live AS waiting SET waits_for = succeeded.id
              FROM succeeded
             WHERE waiting.waits_for = ANY (ARRAY(SELECT parent FROM succeeded)) AND waiting.parked
               AND waiting.waits_for = succeeded.parent
        )
        SELECT parent, attempt, id, reason, max_spawn_depth, stage FROM judged
        """,
        {"rows": join_rows(rows), "worker": worker},
    )
    works = {work.claim: work for work, _ in moves}
    answers: dict[Claim, AcceptedItem | RefusedItem] = {}
    for parent, attempt, id, reason, depth, stage in await cursor.fetchall():
        claim = Claim(parent, attempt)
        next_stage = NewItem(works[claim].kind, stage, works[claim].key)
        answers[claim] = (
            AcceptedItem(id)
            if reason is None
            else RefusedItem(next_stage, reason, explain_refusal(next_stage, reason, depth))
        )
    return answers


async def _refused_child(
    tx: Tx, child: ChildItem, reason: SpawnReason | None, live_id: ItemId | None, depth: int
) -> RefusedItem:
    if reason is None:
        # It lost a race: somebody put the same thing in while this statement ran.
        live = await find_live_item(tx, child.new)
        cursor = await tx.execute(
            "SELECT tracking_id FROM queue.item WHERE id = %s", [child.parent]
        )
        [mine] = await cursor.fetchone() or [None]
        live_id = live.id if live else None
        reason = "duplicate" if live and live.tracking_id == mine else "live elsewhere"
    return RefusedItem(child.new, reason, explain_refusal(child.new, reason, depth), live_id)
