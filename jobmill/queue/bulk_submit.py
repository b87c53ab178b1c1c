"""Many roots at once, by COPY: twice as fast as the careful way, if nothing of it is alive already."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from psycopg import errors

from jobmill.db import Tx
from jobmill.queue.items import ItemId, NewItem
from jobmill.queue.store import CHANNEL

from .value_encoding import encode_row


class PhaseLimits(NamedTuple):
    """What a phase sets where an item does not, and the same as COPY writes it."""

    max_retries: int
    max_spawn_depth: int
    text: str


MIN_BATCH_SIZE = 100
"""Below so many the round trips cost more than COPY saves."""


async def insert_all(
    tx: Tx, news: Sequence[NewItem], lineage: int, limits: Mapping[tuple[str, str], PhaseLimits]
) -> list[ItemId] | None:
    """Put all in; None, and nothing put in, where any of them is alive or somebody races us."""
    now, ids = await _reserve(tx, len(news))
    hashes = [hashlib.md5(new.key.encode(), usedforsecurity=False).hexdigest() for new in news]
    data = [encode_row(new.data) if new.data else "{}" for new in news]
    rows = list(zip(ids, news, hashes, data, strict=True))
    live = "".join(
        f"{id}\t{new.kind}\t{new.stage}\t{hash}\t{new.priority}\t{now}\tf\n"
        for id, new, hash, _ in rows
    )
    try:
        # A savepoint: what goes wrong in here must not end the caller's transaction.
        async with tx.transaction(), tx.cursor() as cursor:
            # The server works on each table while the text for the next one is made.
            async with cursor.copy(
                """
                COPY queue.live (id, kind, stage, key_hash, priority, available_at, parked)
                FROM STDIN
                """
            ) as copy:
                await copy.write(live)
                items = "".join(
                    f"{id}\t{new.kind}\t{new.stage}\t{_escape(new.key)}\t{hash}\t{_escape(data)}"
                    f"\t{new.priority}\t{lineage + n:032x}\t0\t{_limits_of(new, limits)}\t{{}}\t{{}}\tf\n"
                    for n, (id, new, hash, data) in enumerate(rows)
                )
            async with cursor.copy(
                """
                COPY queue.item (id, kind, stage, key, key_hash, data, priority, tracking_id,
                                 spawn_depth, max_retries, max_spawn_depth, ancestry,
                                 ancestor_keys, handed_over)
                FROM STDIN
                """
            ) as copy:
                await copy.write(items)
                events = "".join(
                    f"{id}\tsubmitted\tPENDING\t{new.stage}\n" for id, new, _, _ in rows
                )
            async with cursor.copy(
                "COPY queue.event (item_id, what, became, stage) FROM STDIN"
            ) as copy:
                await copy.write(events)
            await _park(tx, [(id, new) for id, new, _, _ in rows if new.delay])
            await _tell(tx)
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
    found = await cursor.fetchone()
    assert found
    return found[0], found[1]


def _limits_of(new: NewItem, limits: Mapping[tuple[str, str], PhaseLimits]) -> str:
    if new.max_retries is None and new.max_spawn_depth is None:
        return limits[new.kind, new.stage].text
    retries, depth, _ = limits[new.kind, new.stage]
    retries = retries if new.max_retries is None else new.max_retries
    depth = depth if new.max_spawn_depth is None else new.max_spawn_depth
    return f"{retries}\t{depth}"


def _escape(text: str) -> str:
    # JSON and keys hold no raw control characters, so the backslash is all there is to escape.
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


async def _tell(tx: Tx) -> None:
    await tx.execute(
        """
        SELECT pg_notify(%s, '')
         WHERE EXISTS (SELECT FROM queue.worker WHERE idle AND gone_at IS NULL)
        """,
        [CHANNEL],
    )
