"""How roots come in: four refusals, a cap for each phase, and a lineage of its own for each.

A lone item takes one statement and a big batch goes by COPY, as long as no cap is near and nothing of it
is alive already. Everything else takes the careful way: count the room under a lock, then insert.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from jobmill.db import Tx, fetch_value
from jobmill.errors import Invalid
from jobmill.queue import bulk_submit
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

# A page of `live` cannot hold more rows than this, so its size bounds how many there are; beside
# them there may be as many that others put in this moment and have not committed.
ROWS_PER_PAGE = 80
UNSEEN = 10_000


async def declare_stages(tx: Tx, stages: Stages) -> None:
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
        {"rows": join_rows(encode_row(row) for row in rows)},
    )


async def submit(tx: Tx, new: NewItem) -> ItemId:
    """Put one root in; NotAdmitted where this work is alive already or its phase is full."""
    [answer] = await submit_all(tx, [new])
    if isinstance(answer, RefusedItem):
        raise NotAdmitted(answer)
    return answer.id


async def submit_all(tx: Tx, news: Sequence[NewItem]) -> list[AcceptedItem | RefusedItem]:
    """Put roots in, each with a lineage of its own; the answers stand in the order of `news`."""
    for new in news:
        check_new_item(new)
    # Lineages of one batch are neighbours: one look at the clock, one set of random bits.
    first = uuid7().int
    quick = await _insert_quickly(tx, news, first)
    if quick is not None:
        return [AcceptedItem(id) for id in quick]
    rows = [
        encode_new_item(new, n=n, tracking_id=f"{first + n:032x}") for n, new in enumerate(news)
    ]
    room = await _room(tx, Counter((new.kind, new.stage) for new in news))
    admitted: list[str] = []
    answers: dict[int, AcceptedItem | RefusedItem] = {}
    for n, new in enumerate(news):
        if room[new.kind, new.stage] > 0:
            room[new.kind, new.stage] -= 1
            admitted.append(rows[n])
        elif await find_live_item(tx, new):
            # Full comes last of the four: who is in already is not told to try again.
            answers[n] = await _not_admitted(tx, new)
        else:
            answers[n] = RefusedItem(new, "full", explain_refusal(new, "full"))
    if admitted:
        answers |= await _insert_roots(tx, news, admitted)
    return [answers[n] for n in range(len(news))]


async def remaining_capacity(tx: Tx, kind: str, stage: str) -> int:
    """How many more roots this phase takes, held until `tx` ends."""
    capacity = await fetch_value(
        tx, int, "SELECT capacity FROM queue.phase WHERE kind = %s AND stage = %s", [kind, stage]
    )
    if capacity is None:
        raise await _unknown(tx, kind, stage)
    await _lock_phase(tx, kind, stage)
    return capacity - await _count(tx, kind, stage, capacity)


def uuid7() -> UUID:
    """A UUID that sorts by time, so that lineages born together lie together in the index."""
    milliseconds = time.time_ns() // 1_000_000
    random = secrets.randbits(74)
    value = (milliseconds & (1 << 48) - 1) << 80 | 0x7 << 76 | (random >> 62) << 64
    return UUID(int=value | 0b10 << 62 | random & (1 << 62) - 1)


async def _insert_quickly(tx: Tx, news: Sequence[NewItem], lineage: int) -> list[ItemId] | None:
    """All of them, or None and nothing done where a cap is near or some are alive already."""
    if len(news) == 1:
        id = await _insert_one(tx, news[0], lineage)
        return None if id is None else [id]
    if len(news) < bulk_submit.MIN_BATCH_SIZE:
        return None
    limits = await _roomy_phases(tx, news)
    return None if limits is None else await bulk_submit.insert_all(tx, news, lineage, limits)


async def _insert_one(tx: Tx, new: NewItem, lineage: int) -> ItemId | None:
    cursor = await tx.execute(
        """
        WITH phase AS MATERIALIZED (
            SELECT max_retries, max_spawn_depth FROM queue.phase
             WHERE kind = %(kind)s AND stage = %(stage)s
               AND capacity > %(unseen)s + pg_relation_size('queue.live') / 8192 * %(per_page)s
        ), alive AS (
            INSERT INTO queue.live (id, kind, stage, key_hash, priority, available_at, parked)
            SELECT nextval('queue.item_id_seq'), %(kind)s, %(stage)s, md5(%(key)s)::uuid,
                   %(priority)s, now() + make_interval(secs => %(delay)s), %(delay)s > 0
              FROM phase
            ON CONFLICT (kind, key_hash) DO NOTHING
            RETURNING id, key_hash
        ), born AS (
            INSERT INTO queue.item (id, kind, stage, key, key_hash, data, priority, tracking_id,
                                    parent_id, ancestry, ancestor_keys, spawn_depth,
                                    max_spawn_depth, handed_over, max_retries)
            SELECT id, %(kind)s, %(stage)s, %(key)s, key_hash, %(data)s::jsonb, %(priority)s,
                   %(lineage)s::uuid, NULL, '{}', '{}', 0,
                   coalesce(%(max_spawn_depth)s, phase.max_spawn_depth), false,
                   coalesce(%(max_retries)s, phase.max_retries)
              FROM alive, phase
        ), noted AS (
            INSERT INTO queue.event (item_id, what, became, stage)
            SELECT id, 'submitted', 'PENDING', %(stage)s FROM alive
        )
        SELECT id, CASE WHEN EXISTS (SELECT FROM queue.worker WHERE idle AND gone_at IS NULL)
                        THEN pg_notify(%(channel)s, '') END
          FROM alive
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
            "unseen": UNSEEN,
            "per_page": ROWS_PER_PAGE,
        },
    )
    found = await cursor.fetchone()
    return found[0] if found else None


async def _roomy_phases(
    tx: Tx, news: Sequence[NewItem]
) -> dict[tuple[str, str], bulk_submit.PhaseLimits] | None:
    """The phases asked for, if the size of the table alone tells that each has room for all."""
    cursor = await tx.execute(
        """
        SELECT kind, stage, max_retries, max_spawn_depth FROM queue.phase
         WHERE capacity >= %(asked)s + %(unseen)s
                           + pg_relation_size('queue.live') / 8192 * %(per_page)s
        """,
        {"asked": len(news), "per_page": ROWS_PER_PAGE, "unseen": UNSEEN},
    )
    roomy = {
        (kind, stage): bulk_submit.PhaseLimits(retries, depth, f"{retries}\t{depth}")
        for kind, stage, retries, depth in await cursor.fetchall()
    }
    return roomy if all((new.kind, new.stage) in roomy for new in news) else None


async def _room(tx: Tx, asked: Counter[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """How many more each phase takes, counted, and held until `tx` ends."""
    # Always in one order, or two could each wait for the other.
    return {phase: await remaining_capacity(tx, *phase) for phase in sorted(asked)}


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
    tx: Tx, news: Sequence[NewItem], rows: Sequence[str]
) -> dict[int, AcceptedItem | RefusedItem]:
    """Put in roots for which there is room; what is alive already is refused."""
    cursor = await tx.execute(
        """
        WITH asked AS MATERIALIZED (
            SELECT a.*, nextval('queue.item_id_seq') AS id, md5(a.key)::uuid AS key_hash,
                   phase.max_retries AS retries, phase.max_spawn_depth AS depth
              FROM json_to_recordset(%(rows)s::json) AS a(
                       n int, tracking_id uuid, kind text, stage text, key text, data jsonb,
                       priority smallint, delay float8, max_retries smallint,
                       max_spawn_depth smallint)
              JOIN queue.phase USING (kind, stage)
        ), alive AS (
            INSERT INTO queue.live (id, kind, stage, key_hash, priority, available_at, parked)
            SELECT id, kind, stage, key_hash, priority, now() + make_interval(secs => delay),
                   delay > 0
              FROM asked
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
        SELECT asked.n, alive.id, (SELECT count(*) FROM told)
          FROM asked LEFT JOIN alive USING (id)
        """,
        {"rows": join_rows(rows), "channel": CHANNEL},
    )
    found: list[tuple[int, ItemId | None, int]]
    found = await cursor.fetchall()  # pyright: ignore[reportAssignmentType]
    return {n: AcceptedItem(id) if id else await _not_admitted(tx, news[n]) for n, id, _ in found}


async def _not_admitted(tx: Tx, new: NewItem) -> RefusedItem:
    live = await find_live_item(tx, new)
    reason: AdmissionReason = "queued"
    if live and live.status == "PROCESSING":
        reason = "processing"
    elif live and live.stage != new.stage:
        reason = "other phase"
    return RefusedItem(new, reason, explain_refusal(new, reason), live.id if live else None)
