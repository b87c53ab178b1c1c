"""Children: spawned under the five spawn rules, or created as the next stage of their parent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jobmill.db import Tx
from jobmill.queue.insert_sql import INSERT_ADMITTED, ITEM_COLUMNS
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
    """Insert children, each subject to the five spawn rules; the results are in the order of `children`."""
    rows = [
        encode_new_item(child.new, n=n, parent_id=child.parent) for n, child in enumerate(children)
    ]
    cursor = await tx.execute(
        f"""
        WITH requested AS MATERIALIZED (
            SELECT r.*, nextval('queue.item_id_seq') AS id, md5(r.key)::uuid AS key_hash
              FROM json_to_recordset(%(rows)s::json) AS r(
                       n int, parent_id bigint, kind text, stage text, key text, data jsonb,
                       priority smallint, delay float8, max_retries smallint)
        ), checked AS MATERIALIZED (
            SELECT requested.n, requested.id, requested.kind, requested.stage, requested.key,
                   requested.key_hash, requested.data, requested.priority, requested.delay,
                   requested.parent_id, parent.tracking_id, parent.max_spawn_depth,
                   coalesce(requested.max_retries, phase.max_retries) AS max_retries,
                   parent.ancestry || parent.id AS ancestry,
                   parent.ancestor_keys || parent.key_hash AS ancestor_keys,
                   parent.spawn_depth + 1 AS spawn_depth, false AS handed_over, live.id AS live_id,
                   CASE
                       WHEN parent.spawn_depth >= parent.max_spawn_depth THEN 'depth'
                       WHEN requested.key_hash = ANY (parent.ancestor_keys || parent.key_hash)
                           THEN 'circular'
                       WHEN twin.tracking_id = parent.tracking_id THEN 'duplicate'
                       WHEN EXISTS (SELECT FROM queue.item AS done
                                     WHERE done.tracking_id = parent.tracking_id
                                       AND done.key_hash = requested.key_hash
                                       AND done.kind = requested.kind) THEN 'finished'
                       WHEN live.id IS NOT NULL THEN 'live elsewhere'
                   END AS reason
              FROM requested
              JOIN queue.phase USING (kind, stage)
             CROSS JOIN LATERAL (SELECT * FROM queue.item WHERE item.id = requested.parent_id LIMIT 1)
                        AS parent
              LEFT JOIN LATERAL (SELECT id FROM queue.live
                                  WHERE live.kind = requested.kind
                                    AND live.key_hash = requested.key_hash
                                  LIMIT 1) AS live ON true
              LEFT JOIN LATERAL (SELECT tracking_id FROM queue.item WHERE item.id = live.id LIMIT 1)
                        AS twin ON true
        ), admitted AS (
            SELECT * FROM checked WHERE reason IS NULL
        ), {INSERT_ADMITTED}, logged AS (
            INSERT INTO queue.event (item_id, type, to_status, stage, note)
            SELECT id, 'spawned', 'PENDING'::queue.status, stage, NULL
              FROM checked JOIN inserted USING (id)
            UNION ALL
            SELECT parent_id, 'spawn refused', NULL, stage,
                   coalesce(reason, 'live elsewhere') || ': ' || kind || '/' || stage || ' ' || key
              FROM checked LEFT JOIN inserted USING (id)
             WHERE inserted.id IS NULL
        )
        SELECT checked.n, inserted.id, checked.reason, checked.live_id, checked.max_spawn_depth,
               CASE WHEN inserted.id IS NULL THEN checked.tracking_id::text END,
               (SELECT count(*) FROM notified)
          FROM checked LEFT JOIN inserted USING (id)
        """,
        {"rows": join_rows(rows), "channel": CHANNEL},
    )
    answers: dict[int, AcceptedItem | RefusedItem] = {}
    results: list[tuple[int, ItemId | None, SpawnReason | None, ItemId | None, int, str, int]]
    results = await cursor.fetchall()  # pyright: ignore[reportAssignmentType]
    for n, id, reason, live_id, depth, tracking_id, _ in results:
        answers[n] = (
            AcceptedItem(id)
            if id
            else await _refused_child(tx, children[n], reason, live_id, depth, tracking_id)
        )
    return [answers[n] for n in range(len(children))]


async def lock_existing_parents(tx: Tx, ids: Sequence[ItemId]) -> set[ItemId]:
    """The ids that retention has not deleted; it cannot delete them until `tx` ends."""
    cursor = await tx.execute(
        "SELECT id FROM queue.item WHERE id = ANY(%s) FOR KEY SHARE", [list(set(ids))]
    )
    return {ItemId(id) for (id,) in await cursor.fetchall()}


async def hand_over_items(
    tx: Tx, worker: int, moves: Sequence[tuple[Work, HandOver]]
) -> dict[Claim, AcceptedItem | RefusedItem]:
    """End each item and replace it in `queue.live` by a child of the next stage.

    A hand-over is refused, and the item left unchanged, if that stage already ran in this lineage. The depth
    limit does not apply, so that an admitted pipeline can finish. Claims that the worker no longer holds are
    missing in the result.
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
        WITH checked AS MATERIALIZED (
            SELECT claim.id AS parent_id, claim.attempt, claim.stage, claim.data, claim.message,
                   nextval('queue.item_id_seq') AS id, item.kind, item.key, item.key_hash,
                   item.priority, item.tracking_id, item.max_spawn_depth, phase.max_retries,
                   item.ancestry || item.id AS ancestry,
                   item.ancestor_keys || item.key_hash AS ancestor_keys,
                   item.spawn_depth + 1 AS spawn_depth, true AS handed_over,
                   claimed.stage AS ended_stage, claimed.retry_count,
                   CASE
                       WHEN EXISTS (SELECT FROM queue.item AS done
                                     WHERE done.tracking_id = item.tracking_id
                                       AND done.key_hash = item.key_hash
                                       AND done.kind = item.kind
                                       AND done.stage = claim.stage
                                       AND done.legacy_id = '') THEN 'finished'
                   END AS reason
              FROM json_to_recordset(%(rows)s::json) AS claim(
                       id bigint, attempt int, stage text, data jsonb, message text)
             CROSS JOIN LATERAL (SELECT stage, retry_count FROM queue.live
                                  WHERE {HOLDS_CLAIM} AND {LEASE_STANDS}
                                  LIMIT 1 FOR UPDATE) AS claimed
             CROSS JOIN LATERAL (SELECT * FROM queue.item WHERE item.id = claim.id LIMIT 1) AS item
              JOIN queue.phase ON phase.kind = item.kind AND phase.stage = claim.stage
        ), succeeded AS (
            -- `checked` has locked these rows, so no other worker can claim them meanwhile.
            UPDATE queue.live
               SET id = checked.id, stage = checked.stage, status = 'PENDING', worker = NULL,
                   attempt = 0, retry_count = 0, steps = 0, started_at = NULL,
                   waits_for = NULL, waited_for = NULL, parked = false, available_at = now()
              FROM checked
             WHERE live.id = ANY (ARRAY(SELECT parent_id FROM checked WHERE reason IS NULL))
               AND live.id = checked.parent_id
            RETURNING checked.*
        ), inserted_items AS (
            INSERT INTO queue.item ({ITEM_COLUMNS}) SELECT {ITEM_COLUMNS} FROM succeeded
        ), ended AS (
            INSERT INTO queue.ending (item_id, status, stage, final, message, retry_count, attempts)
            SELECT parent_id, 'SUCCESS', ended_stage, false, message, retry_count, attempt
              FROM succeeded
        ), logged AS (
            INSERT INTO queue.event (item_id, type, from_status, to_status, stage, worker, note)
            SELECT parent_id, 'handed over', 'PROCESSING'::queue.status, 'SUCCESS'::queue.status,
                   ended_stage, %(worker)s, 'to item ' || id FROM succeeded
            UNION ALL
            SELECT id, 'spawned', NULL, 'PENDING', stage, NULL, NULL FROM succeeded
        ), followed AS (
            -- Items that wait for this work keep waiting for it, under its new id.
            UPDATE queue.live AS waiting SET waits_for = succeeded.id
              FROM succeeded
             WHERE waiting.waits_for = ANY (ARRAY(SELECT parent_id FROM succeeded)) AND waiting.parked
               AND waiting.waits_for = succeeded.parent_id
        )
        SELECT parent_id, attempt, id, reason, max_spawn_depth, stage FROM checked
        """,
        {"rows": join_rows(rows), "worker": worker},
    )
    works = {work.claim: work for work, _ in moves}
    answers: dict[Claim, AcceptedItem | RefusedItem] = {}
    for parent_id, attempt, id, reason, depth, stage in await cursor.fetchall():
        claim = Claim(parent_id, attempt)
        next_stage = NewItem(works[claim].kind, stage, works[claim].key)
        answers[claim] = (
            AcceptedItem(id)
            if reason is None
            else RefusedItem(
                next_stage,
                reason,
                explain_refusal(next_stage, reason, depth),
                parent=parent_id,
                tracking_id=works[claim].tracking_id,
            )
        )
    return answers


async def _refused_child(
    tx: Tx,
    child: ChildItem,
    reason: SpawnReason | None,
    live_id: ItemId | None,
    depth: int,
    tracking_id: str,
) -> RefusedItem:
    if reason is None:
        # It lost a race: another transaction inserted the same work while this statement ran.
        live = await find_live_item(tx, child.new)
        live_id = live.id if live else None
        reason = "duplicate" if live and str(live.tracking_id) == tracking_id else "live elsewhere"
    message = explain_refusal(child.new, reason, depth)
    return RefusedItem(child.new, reason, message, live_id, child.parent, tracking_id)
