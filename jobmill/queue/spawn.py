"""How new items come in: roots through admission, children through the five spawn rules."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from jobmill.db import Tx, value
from jobmill.errors import Invalid
from jobmill.queue.encode import array, new_item, record
from jobmill.queue.store import CHANNEL
from jobmill.queue.work import (
    AdmissionReason,
    HandOver,
    ItemId,
    New,
    NotAdmitted,
    Placed,
    Refused,
    SpawnReason,
    Stages,
    Work,
)

# A page of `live` cannot hold more rows than this, so its size bounds how many there are; beside
# them there may be as many that others put in this moment and have not committed.
ROWS_PER_PAGE = 80
UNSEEN = 10_000


class Child(NamedTuple):
    parent: ItemId
    new: New


async def declare(tx: Tx, stages: Stages) -> None:
    """Tell the database which phases there are; what it does not know, nobody can put in."""
    rows = [
        {
            "kind": kind,
            "stage": name,
            "place": place,
            "processors": stage.processors,
            "capacity": stage.capacity,
            "max_retries": stage.max_retries,
            "max_spawn_depth": stage.max_spawn_depth,
        }
        for place, ((kind, name), stage) in enumerate(stages.items())
    ]
    await tx.execute(
        """
        INSERT INTO queue.phase AS known
        SELECT given.* FROM json_populate_recordset(NULL::queue.phase, %(rows)s::json) AS given
         ORDER BY kind, stage
        ON CONFLICT (kind, stage) DO UPDATE
           SET place = excluded.place, processors = excluded.processors,
               capacity = excluded.capacity, max_retries = excluded.max_retries,
               max_spawn_depth = excluded.max_spawn_depth
         WHERE known IS DISTINCT FROM excluded
        """,
        {"rows": array(record(row) for row in rows)},
    )


async def submit(tx: Tx, new: New) -> ItemId:
    """Put one root in; NotAdmitted where this work is alive already or its phase is full."""
    [answer] = await submit_all(tx, [new])
    if isinstance(answer, Refused):
        raise NotAdmitted(answer)
    return answer.id


async def submit_all(tx: Tx, news: Sequence[New]) -> list[Placed | Refused]:
    """Put roots in, each with a lineage of its own; the answers stand in the order of `news`."""
    first = uuid7().int
    # Lineages of one batch are neighbours: one look at the clock, one set of random bits.
    rows = [new_item(new, n=n, tracking_id=f"{first + n:032x}") for n, new in enumerate(news)]
    answers = await _insert_roots(tx, news, rows, counted=False)
    if answers is not None:
        return [answers[n] for n in range(len(news))]
    room = await _room(tx, Counter((new.kind, new.stage) for new in news))
    admitted: list[str] = []
    refused: dict[int, Placed | Refused] = {}
    for n, new in enumerate(news):
        if room[new.kind, new.stage] > 0:
            room[new.kind, new.stage] -= 1
            admitted.append(rows[n])
        else:
            refused[n] = Refused(new, "full", explain(new, "full"))
    answers = await _insert_roots(tx, news, admitted, counted=True) if admitted else {}
    return [(refused | (answers or {}))[n] for n in range(len(news))]


async def room_in(tx: Tx, kind: str, stage: str) -> int:
    """How many more roots this phase takes, held until `tx` ends."""
    capacity = await value(
        tx, int, "SELECT capacity FROM queue.phase WHERE kind = %s AND stage = %s", [kind, stage]
    )
    if capacity is None:
        raise await _unknown(tx, kind, stage)
    await _lock_phase(tx, kind, stage)
    return capacity - await _count(tx, kind, stage, capacity)


async def spawn(tx: Tx, children: Sequence[Child]) -> list[Placed | Refused]:
    """Put children in, each under the five rules; the answers stand in the order of `children`."""
    rows = [new_item(child.new, n=n, parent=child.parent) for n, child in enumerate(children)]
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
        {"rows": array(rows), "channel": CHANNEL},
    )
    answers: dict[int, Placed | Refused] = {}
    found: list[tuple[int, ItemId | None, SpawnReason | None, ItemId | None, int, int]]
    found = await cursor.fetchall()  # pyright: ignore[reportAssignmentType]
    for n, id, reason, live_id, depth, _ in found:
        answers[n] = (
            Placed(id) if id else await _refused_child(tx, children[n], reason, live_id, depth)
        )
    return [answers[n] for n in range(len(children))]


async def hand_over(
    tx: Tx, worker: int, moves: Sequence[tuple[Work, HandOver]]
) -> dict[ItemId, Placed | Refused]:
    """End each item and let a child of the next stage take its place in `live`.

    Refused where the chain is too deep or that stage already ran in this lineage: then the item is
    left as it is. Items that are no longer ours are missing in the answer.
    """
    rows = [
        record(
            {
                "parent": work.id,
                "attempt": work.attempt,
                "stage": move.stage,
                "data": work.data if move.data is None else move.data,
                "message": move.message,
            }
        )
        for work, move in moves
    ]
    cursor = await tx.execute(
        """
        WITH judged AS MATERIALIZED (
            SELECT a.*, nextval('queue.item_id_seq') AS id, item.kind, item.key, item.key_hash,
                   item.priority, item.tracking_id, item.max_spawn_depth, phase.max_retries,
                   item.ancestry || item.id AS ancestry,
                   item.ancestor_keys || item.key_hash AS ancestor_keys,
                   item.spawn_depth + 1 AS spawn_depth,
                   live.stage AS ended_stage, live.retry_count,
                   CASE
                       WHEN item.spawn_depth >= item.max_spawn_depth THEN 'depth'
                       WHEN EXISTS (SELECT FROM queue.item AS done
                                     WHERE done.tracking_id = item.tracking_id
                                       AND done.key_hash = item.key_hash
                                       AND done.kind = item.kind
                                       AND done.stage = a.stage) THEN 'finished'
                   END AS reason
              FROM json_to_recordset(%(rows)s::json) AS a(
                       parent bigint, attempt int, stage text, data jsonb, message text)
             CROSS JOIN LATERAL (SELECT stage, retry_count FROM queue.live
                                  WHERE live.id = a.parent AND live.attempt = a.attempt
                                    AND live.worker = %(worker)s
                                  LIMIT 1 FOR UPDATE) AS live
             CROSS JOIN LATERAL (SELECT * FROM queue.item WHERE item.id = a.parent LIMIT 1) AS item
              JOIN queue.phase ON phase.kind = item.kind AND phase.stage = a.stage
             WHERE EXISTS (SELECT FROM queue.worker
                            WHERE id = %(worker)s AND gone_at IS NULL AND beat_at + lease > now())
        ), succeeded AS (
            UPDATE queue.live
               SET id = judged.id, stage = judged.stage, status = 'PENDING', worker = NULL,
                   attempt = 0, retry_count = 0, rescues = 0, steps = 0, started_at = NULL,
                   waits_for = NULL, parked = false, available_at = now()
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
        SELECT parent, id, reason, max_spawn_depth, stage FROM judged
        """,
        {"rows": array(rows), "worker": worker},
    )
    by_id = {work.id: work for work, _ in moves}
    return {
        parent: Placed(id)
        if reason is None
        else Refused(
            New(by_id[parent].kind, stage, by_id[parent].key),
            reason,
            explain(New(by_id[parent].kind, stage, by_id[parent].key), reason, depth),
        )
        for parent, id, reason, depth, stage in await cursor.fetchall()
    }


def explain(new: New, reason: str, depth: int = 0) -> str:
    """A refusal in words."""
    what = f"{new.kind}/{new.stage} for {new.key}"
    words: Mapping[str, str] = {
        "depth": f"Max spawn depth ({depth}) reached",
        "circular": f"Circular dependency detected: {new.key} already in chain",
        "duplicate": f"Duplicate work: {what} already queued",
        "finished": f"Already completed: {what}",
        "live elsewhere": f"Another lineage already works on {what}",
        "queued": f"Already queued: {what}",
        "processing": f"Currently processing: {what}",
        "other phase": f"Wrong phase: {new.kind} for {new.key} stands in another phase",
        "full": f"Queue full: phase {new.kind}/{new.stage} takes no more; try again when it has drained",
    }
    return words[reason]


def uuid7() -> UUID:
    """A UUID that sorts by time, so that lineages born together lie together in the index."""
    milliseconds = time.time_ns() // 1_000_000
    random = secrets.randbits(74)
    value = (milliseconds & (1 << 48) - 1) << 80 | 0x7 << 76 | (random >> 62) << 64
    return UUID(int=value | 0b10 << 62 | random & (1 << 62) - 1)


async def _room(tx: Tx, asked: Counter[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """How many more each phase takes, counted, and held until `tx` ends."""
    # Always in one order, or two could each wait for the other.
    return {phase: await room_in(tx, *phase) for phase in sorted(asked)}


async def _lock_phase(tx: Tx, kind: str, stage: str) -> None:
    """Where the cap is near only one may pour at a time, so that it holds exactly."""
    await tx.execute(
        "SELECT pg_advisory_xact_lock(hashtext('jobmill.phase'), hashtext(%s))", [f"{kind}/{stage}"]
    )


async def _count(tx: Tx, kind: str, stage: str, capacity: int) -> int:
    cursor = await tx.execute(
        """
        SELECT count(*) FROM (
            SELECT FROM queue.live
             WHERE kind = %(kind)s AND stage = %(stage)s AND NOT parked AND status = 'PENDING'
             LIMIT %(capacity)s) AS waiting
        """,
        {"kind": kind, "stage": stage, "capacity": capacity},
    )
    found = await cursor.fetchone()
    return found[0] if found else 0


async def _unknown(tx: Tx, kind: str, stage: str) -> Invalid:
    cursor = await tx.execute("SELECT kind, stage FROM queue.phase ORDER BY kind, stage")
    known = ", ".join(f"{kind}/{stage}" for kind, stage in await cursor.fetchall())
    return Invalid(f"nothing here runs {kind}/{stage}; known phases: {known or 'none yet'}")


async def _insert_roots(
    tx: Tx, news: Sequence[New], rows: Sequence[str], *, counted: bool
) -> dict[int, Placed | Refused] | None:
    """Put roots in; None, and nothing put in, where the room must be counted first.

    That is where a phase is unknown or its cap so near that the size of the table cannot tell.
    """
    cursor = await tx.execute(
        """
        WITH asked AS MATERIALIZED (
            SELECT a.*, nextval('queue.item_id_seq') AS id, md5(a.key)::uuid AS key_hash,
                   phase.capacity, phase.max_retries AS retries, phase.max_spawn_depth AS depth
              FROM json_to_recordset(%(rows)s::json) AS a(
                       n int, tracking_id uuid, kind text, stage text, key text, data jsonb,
                       priority smallint, delay float8, max_retries smallint,
                       max_spawn_depth smallint)
              LEFT JOIN queue.phase USING (kind, stage)
        ), fits AS MATERIALIZED (
            SELECT %(counted)s
                OR coalesce(bool_and(capacity >= (SELECT count(*) FROM asked) + %(unseen)s
                                     + pg_relation_size('queue.live') / 8192 * %(per_page)s),
                            false) AND count(capacity) = count(*) AS all
              FROM asked
        ), alive AS (
            INSERT INTO queue.live (id, kind, stage, key_hash, priority, available_at, parked)
            SELECT id, kind, stage, key_hash, priority, now() + make_interval(secs => delay),
                   delay > 0
              FROM asked
             WHERE (SELECT fits.all FROM fits)
             -- Always in one order, or two could each wait for the other.
             ORDER BY kind, key_hash, n
            ON CONFLICT (kind, key_hash) DO NOTHING
            RETURNING id
        ), born AS (
            INSERT INTO queue.item (id, kind, stage, key, key_hash, data, priority, tracking_id,
                                    parent_id, ancestry, ancestor_keys, spawn_depth,
                                    max_spawn_depth, handed_over, max_retries)
            SELECT id, kind, stage, key, key_hash, data, priority, tracking_id, NULL, '{}', '{}', 0,
                   coalesce(max_spawn_depth, depth), false, coalesce(max_retries, retries)
              FROM asked JOIN alive USING (id)
        ), noted AS (
            INSERT INTO queue.event (item_id, what, became, stage)
            SELECT id, 'submitted', 'PENDING', stage FROM asked JOIN alive USING (id)
        ), told AS MATERIALIZED (
            SELECT pg_notify(%(channel)s, '')
             WHERE EXISTS (SELECT FROM alive)
               AND EXISTS (SELECT FROM queue.worker WHERE idle AND gone_at IS NULL)
        )
        SELECT asked.n, alive.id, fits.all, (SELECT count(*) FROM told)
          FROM fits, asked LEFT JOIN alive USING (id)
        """,
        {
            "rows": array(rows),
            "channel": CHANNEL,
            "counted": counted,
            "unseen": UNSEEN,
            "per_page": ROWS_PER_PAGE,
        },
    )
    found: list[tuple[int, ItemId | None, bool, int]]
    found = await cursor.fetchall()  # pyright: ignore[reportAssignmentType]
    if not all(fits for _, _, fits, _ in found):
        return None
    return {n: Placed(id) if id else await _not_admitted(tx, news[n]) for n, id, _, _ in found}


async def _not_admitted(tx: Tx, new: New) -> Refused:
    live = await _find_live(tx, new)
    reason: AdmissionReason = "queued"
    if live and live.status == "PROCESSING":
        reason = "processing"
    elif live and live.stage != new.stage:
        reason = "other phase"
    return Refused(new, reason, explain(new, reason), live.id if live else None)


async def _refused_child(
    tx: Tx, child: Child, reason: SpawnReason | None, live_id: ItemId | None, depth: int
) -> Refused:
    if reason is None:
        # It lost a race: somebody put the same thing in while this statement ran.
        live = await _find_live(tx, child.new)
        cursor = await tx.execute(
            "SELECT tracking_id FROM queue.item WHERE id = %s", [child.parent]
        )
        [mine] = await cursor.fetchone() or [None]
        live_id = live.id if live else None
        reason = "duplicate" if live and live.tracking_id == mine else "live elsewhere"
    return Refused(child.new, reason, explain(child.new, reason, depth), live_id)


class _Live(NamedTuple):
    id: ItemId
    stage: str
    status: str
    tracking_id: UUID


async def _find_live(tx: Tx, new: New) -> _Live | None:
    cursor = await tx.execute(
        """
        SELECT live.id, live.stage, live.status, item.tracking_id
          FROM queue.live JOIN queue.item USING (id)
         WHERE live.kind = %(kind)s AND live.key_hash = md5(%(key)s)::uuid
        """,
        {"kind": new.kind, "key": new.key},
    )
    found: Any = await cursor.fetchone()
    return _Live(*found) if found else None
