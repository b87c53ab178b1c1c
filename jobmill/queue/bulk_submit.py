"""Submits many roots at once with COPY, twice as fast as INSERT, if none of the work is alive already."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from psycopg import errors

from jobmill.db import Tx
from jobmill.queue.insert_sql import IDLE_WORKER_EXISTS, ITEM_COLUMNS, LIVE_COLUMNS
from jobmill.queue.items import ItemId, NewItem
from jobmill.queue.store import CHANNEL

from .value_encoding import encode_row


class PhaseLimits(NamedTuple):
    """The limits for items that do not set their own, and the same limits as text for COPY."""

    max_retries: int
    max_spawn_depth: int
    text: str


MIN_BATCH_SIZE = 100
"""For smaller batches the round trips cost more than COPY saves."""


async def insert_all(
    tx: Tx, news: Sequence[NewItem], lineage: int, limits: Mapping[tuple[str, str], PhaseLimits]
) -> list[ItemId] | None:
    """Insert all; or insert nothing and return None if any is alive or another transaction interferes."""
    now, ids = await _reserve(tx, len(news))
    hashes = [hashlib.md5(new.key.encode(), usedforsecurity=False).hexdigest() for new in news]
    data = [encode_row(new.data) if new.data else "{}" for new in news]
    rows = list(zip(ids, news, hashes, data, strict=True))
    live = "".join(
        f"{id}\t{new.kind}\t{new.stage}\t{hash}\t{new.priority}\t{now}\tf\n"
        for id, new, hash, _ in rows
    )
    try:
        # A savepoint, because an error in here must not abort the caller's transaction.
        async with tx.transaction(), tx.cursor() as cursor:
            # The server works on each table while this process builds the text for the next one.
            async with cursor.copy(f"COPY queue.live ({LIVE_COLUMNS}) FROM STDIN") as copy:
                await copy.write(live)
                items = "".join(
                    f"{id}\t{new.kind}\t{new.stage}\t{_escape(new.key)}\t{hash}\t{_escape(data)}"
                    f"\t{new.priority}\t{lineage + n:032x}\t\\N\t{{}}\t{{}}\tf\t0"
                    f"\t{_limits_of(new, limits)}\n"
                    for n, (id, new, hash, data) in enumerate(rows)
                )
            async with cursor.copy(f"COPY queue.item ({ITEM_COLUMNS}) FROM STDIN") as copy:
                await copy.write(items)
                events = "".join(
                    f"{id}\tsubmitted\tPENDING\t{new.stage}\n" for id, new, _, _ in rows
                )
            async with cursor.copy(
                "COPY queue.event (item_id, type, to_status, stage) FROM STDIN"
            ) as copy:
                await copy.write(events)
            await _park(tx, [(id, new) for id, new, _, _ in rows if new.delay])
            await _notify(tx)
    except (errors.UniqueViolation, errors.DeadlockDetected):
        return None
    return ids


async def _reserve(tx: Tx, n: int) -> tuple[str, list[ItemId]]:
    cursor = await tx.execute(
        """
        SELECT now()::text, ARRAY(SELECT nextval('queue.item_id_seq') FROM generate_series(1, %s))
        """,
        [n],
    )
    row = await cursor.fetchone()
    assert row
    return row[0], row[1]


def _limits_of(new: NewItem, limits: Mapping[tuple[str, str], PhaseLimits]) -> str:
    if new.max_retries is None and new.max_spawn_depth is None:
        return limits[new.kind, new.stage].text
    retries, depth, _ = limits[new.kind, new.stage]
    retries = retries if new.max_retries is None else new.max_retries
    depth = depth if new.max_spawn_depth is None else new.max_spawn_depth
    return f"{depth}\t{retries}"


def _escape(text: str) -> str:
    # JSON and keys contain no raw control characters, so only the backslash needs escaping.
    return text.replace("\\", "\\\\")


async def _park(tx: Tx, delayed: Sequence[tuple[ItemId, NewItem]]) -> None:
    if delayed:
        await tx.execute(
            """
            UPDATE queue.live
               SET parked = true, available_at = now() + make_interval(secs => d.delay)
              FROM unnest(%(ids)s::bigint[], %(delays)s::float8[]) AS d(id, delay)
             WHERE live.id = d.id AND d.delay > 0
            """,
            {
                "ids": [id for id, _ in delayed],
                "delays": [new.delay.total_seconds() for _, new in delayed],
            },
        )


async def _notify(tx: Tx) -> None:
    await tx.execute(f"SELECT pg_notify(%s, '') WHERE {IDLE_WORKER_EXISTS}", [CHANNEL])
