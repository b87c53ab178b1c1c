"""Admission of roots: four reasons to refuse one, a capacity for each phase, a new lineage for each root.

If no phase is near its capacity and none of the work is alive already, a single item takes one statement and
a large batch uses COPY. Everything else takes the slow path: count the room under a lock, then insert.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from uuid import UUID

from jobmill.db import Tx, fetch_value
from jobmill.errors import Invalid
from jobmill.queue import bulk_submit
from jobmill.queue.insert_sql import IDLE_WORKER_EXISTS, INSERT_ADMITTED, ITEM_COLUMNS, LIVE_COLUMNS
from jobmill.queue.items import (
    AcceptedItem,
    AdmissionReason,
    ItemId,
    NewItem,
    NotAdmitted,
    RefusedItem,
)
from jobmill.queue.refusals import explain_refusal, find_live_item
from jobmill.queue.stages import Stages
from jobmill.queue.store import CHANNEL
from jobmill.queue.value_encoding import check_new_item, encode_new_item, encode_row, join_rows

MAX_ROWS_PER_PAGE = 80
"""A page of `queue.live` holds no more rows than this, so the size of the table limits their number."""

MAX_UNCOMMITTED = 10_000
"""Rows that other transactions may be inserting at this moment, which the size does not show yet."""


async def declare_stages(tx: Tx, stages: Stages) -> None:
    """Store the phases and their limits; the queue accepts items of these phases only."""
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
        INSERT INTO queue.phase AS stored
        SELECT declared.* FROM json_populate_recordset(NULL::queue.phase, %(rows)s::json) AS declared
         ORDER BY kind, stage
        ON CONFLICT (kind, stage) DO UPDATE
           SET place = excluded.place, processors = excluded.processors,
               capacity = excluded.capacity, max_retries = excluded.max_retries,
               max_spawn_depth = excluded.max_spawn_depth
         WHERE stored IS DISTINCT FROM excluded
        """,
        {"rows": join_rows(encode_row(row) for row in rows)},
    )


async def submit(tx: Tx, new: NewItem) -> ItemId:
    """Submit one root; NotAdmitted if this work is alive already or its phase is full."""
    [answer] = await submit_all(tx, [new])
    if isinstance(answer, RefusedItem):
        raise NotAdmitted(answer)
    return answer.id


async def submit_all(tx: Tx, news: Sequence[NewItem]) -> list[AcceptedItem | RefusedItem]:
    """Submit roots, each with a new lineage; the results are in the order of `news`."""
    for new in news:
        check_new_item(new)
    # One UUID per batch: its lineages get consecutive numbers.
    first = uuid7().int
    ids = await _insert_fast(tx, news, first)
    if ids is not None:
        return [AcceptedItem(id) for id in ids]
    rows = [
        encode_new_item(new, n=n, tracking_id=f"{first + n:032x}") for n, new in enumerate(news)
    ]
    capacity = await _count_capacity(tx, news)
    admitted: list[str] = []
    answers: dict[int, AcceptedItem | RefusedItem] = {}
    for n, new in enumerate(news):
        if capacity[new.kind, new.stage] > 0:
            capacity[new.kind, new.stage] -= 1
            admitted.append(rows[n])
        elif await find_live_item(tx, new):
            # "full" is the last of the four reasons: a caller must not try again if its work is alive.
            answers[n] = await _not_admitted(tx, new)
        else:
            answers[n] = RefusedItem(new, "full", explain_refusal(new, "full"))
    if admitted:
        answers |= await _insert_roots(tx, news, admitted)
    return [answers[n] for n in range(len(news))]


async def remaining_capacity(tx: Tx, kind: str, stage: str) -> int:
    """How many more roots this phase accepts. Locks the phase, so that the number holds until `tx` ends."""
    capacity = await fetch_value(
        tx, int, "SELECT capacity FROM queue.phase WHERE kind = %s AND stage = %s", [kind, stage]
    )
    if capacity is None:
        raise await unknown_phase(tx, kind, stage)
    await _lock_phase(tx, kind, stage)
    return capacity - await _count_pending(tx, kind, stage, capacity)


def uuid7() -> UUID:
    """A UUID that sorts by time, so that lineages created together are neighbours in the index."""
    milliseconds = time.time_ns() // 1_000_000
    random = secrets.randbits(74)
    value = (milliseconds & (1 << 48) - 1) << 80 | 0x7 << 76 | (random >> 62) << 64
    return UUID(int=value | 0b10 << 62 | random & (1 << 62) - 1)


async def _insert_fast(tx: Tx, news: Sequence[NewItem], lineage: int) -> list[ItemId] | None:
    """Insert all; or insert nothing and return None if a capacity is near or some are alive already."""
    if len(news) == 1:
        id = await _insert_one(tx, news[0], lineage)
        return None if id is None else [id]
    if len(news) < bulk_submit.MIN_BATCH_SIZE:
        return None
    limits = await _roomy_phases(tx, news)
    return None if limits is None else await bulk_submit.insert_all(tx, news, lineage, limits)


async def _insert_one(tx: Tx, new: NewItem, lineage: int) -> ItemId | None:
    cursor = await tx.execute(
        f"""
        WITH phase AS MATERIALIZED (
            SELECT max_retries, max_spawn_depth FROM queue.phase
             WHERE kind = %(kind)s AND stage = %(stage)s
               AND capacity > %(uncommitted)s + pg_relation_size('queue.live') / 8192 * %(per_page)s
        ), inserted AS (
            INSERT INTO queue.live ({LIVE_COLUMNS})
            SELECT nextval('queue.item_id_seq'), %(kind)s, %(stage)s, md5(%(key)s)::uuid,
                   %(priority)s, now() + make_interval(secs => %(delay)s), %(delay)s > 0
              FROM phase
            ON CONFLICT (kind, key_hash) DO NOTHING
            RETURNING id, key_hash
        ), inserted_item AS (
            INSERT INTO queue.item ({ITEM_COLUMNS})
            SELECT id, %(kind)s, %(stage)s, %(key)s, key_hash, %(data)s::jsonb, %(priority)s,
                   %(lineage)s::uuid, NULL, '{{}}', '{{}}', false, 0,
                   coalesce(%(max_spawn_depth)s, phase.max_spawn_depth),
                   coalesce(%(max_retries)s, phase.max_retries)
              FROM inserted, phase
        ), logged AS (
            INSERT INTO queue.event (item_id, type, to_status, stage)
            SELECT id, 'submitted', 'PENDING', %(stage)s FROM inserted
        )
        SELECT id, CASE WHEN {IDLE_WORKER_EXISTS} THEN pg_notify(%(channel)s, '') END
          FROM inserted
        """,
        {
            "kind": new.kind,
            "stage": new.stage,
            "key": new.key,
            "data": encode_row(new.data),
            "priority": new.priority,
            "delay": max(0.0, new.delay.total_seconds()),
            "max_retries": new.max_retries,
            "max_spawn_depth": new.max_spawn_depth,
            "lineage": f"{lineage:032x}",
            "channel": CHANNEL,
            "uncommitted": MAX_UNCOMMITTED,
            "per_page": MAX_ROWS_PER_PAGE,
        },
    )
    row = await cursor.fetchone()
    return row[0] if row else None


async def _roomy_phases(
    tx: Tx, news: Sequence[NewItem]
) -> dict[tuple[str, str], bulk_submit.PhaseLimits] | None:
    """The limits of the requested phases, if the size of the table proves that each has room for all items."""
    cursor = await tx.execute(
        """
        SELECT kind, stage, max_retries, max_spawn_depth FROM queue.phase
         WHERE capacity >= %(count)s + %(uncommitted)s
                           + pg_relation_size('queue.live') / 8192 * %(per_page)s
        """,
        {"count": len(news), "per_page": MAX_ROWS_PER_PAGE, "uncommitted": MAX_UNCOMMITTED},
    )
    roomy = {
        (kind, stage): bulk_submit.PhaseLimits(retries, depth, f"{depth}\t{retries}")
        for kind, stage, retries, depth in await cursor.fetchall()
    }
    return roomy if all((new.kind, new.stage) in roomy for new in news) else None


async def _count_capacity(tx: Tx, news: Sequence[NewItem]) -> dict[tuple[str, str], int]:
    """How many more items each phase accepts; the phases stay locked until `tx` ends."""
    # Always in the same order, so that two transactions cannot deadlock.
    phases = sorted({(new.kind, new.stage) for new in news})
    return {phase: await remaining_capacity(tx, *phase) for phase in phases}


async def _lock_phase(tx: Tx, kind: str, stage: str) -> None:
    """Near the capacity only one transaction may insert at a time, so that it is never exceeded."""
    await tx.execute(
        "SELECT pg_advisory_xact_lock(hashtext('jobmill.phase'), hashtext(%s))", [f"{kind}/{stage}"]
    )


async def _count_pending(tx: Tx, kind: str, stage: str, capacity: int) -> int:
    cursor = await tx.execute(
        """
        SELECT count(*) FROM (
            SELECT FROM queue.live
             WHERE kind = %(kind)s AND stage = %(stage)s AND NOT parked AND status = 'PENDING'
             LIMIT %(capacity)s) AS waiting
        """,
        {"kind": kind, "stage": stage, "capacity": capacity},
    )
    row = await cursor.fetchone()
    return row[0] if row else 0


async def unknown_phase(tx: Tx, kind: str, stage: str | None) -> Invalid:
    cursor = await tx.execute("SELECT kind, stage FROM queue.phase ORDER BY kind, stage")
    phases = ", ".join(f"{kind}/{stage}" for kind, stage in await cursor.fetchall())
    name = phase_name(kind, stage)
    return Invalid(f"there is no phase {name}; the phases are: {phases or 'none yet'}")


def phase_name(kind: str, stage: str | None) -> str:
    return f"{kind}/{stage}" if stage else kind


async def _insert_roots(
    tx: Tx, news: Sequence[NewItem], rows: Sequence[str]
) -> dict[int, AcceptedItem | RefusedItem]:
    """Insert roots for which there is room; refuse those that are alive already."""
    cursor = await tx.execute(
        f"""
        WITH admitted AS MATERIALIZED (
            SELECT n, nextval('queue.item_id_seq') AS id, kind, stage, key,
                   md5(key)::uuid AS key_hash, data, priority, delay, tracking_id,
                   NULL::bigint AS parent_id, '{{}}'::bigint[] AS ancestry,
                   '{{}}'::uuid[] AS ancestor_keys, false AS handed_over, 0 AS spawn_depth,
                   coalesce(new.max_spawn_depth, phase.max_spawn_depth) AS max_spawn_depth,
                   coalesce(new.max_retries, phase.max_retries) AS max_retries
              FROM json_to_recordset(%(rows)s::json) AS new(
                       n int, tracking_id uuid, kind text, stage text, key text, data jsonb,
                       priority smallint, delay float8, max_retries smallint,
                       max_spawn_depth smallint)
              JOIN queue.phase USING (kind, stage)
        ), {INSERT_ADMITTED}, logged AS (
            INSERT INTO queue.event (item_id, type, to_status, stage)
            SELECT id, 'submitted', 'PENDING', stage FROM admitted JOIN inserted USING (id)
        )
        SELECT admitted.n, inserted.id, (SELECT count(*) FROM notified)
          FROM admitted LEFT JOIN inserted USING (id)
        """,
        {"rows": join_rows(rows), "channel": CHANNEL},
    )
    results: list[tuple[int, ItemId | None, int]]
    results = await cursor.fetchall()  # pyright: ignore[reportAssignmentType]
    return {n: AcceptedItem(id) if id else await _not_admitted(tx, news[n]) for n, id, _ in results}


async def _not_admitted(tx: Tx, new: NewItem) -> RefusedItem:
    live = await find_live_item(tx, new)
    reason: AdmissionReason = "queued"
    if live and live.status == "PROCESSING":
        reason = "processing"
    elif live and live.stage != new.stage:
        reason = "other phase"
    return RefusedItem(new, reason, explain_refusal(new, reason), live.id if live else None)
