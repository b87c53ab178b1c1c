"""Measures the cost of a claim and a spawn as the history and the lineage grow and a transaction gets
old.

Both calls of a pair are measured alternately, so that a busy machine slows both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import NamedTuple

import psycopg

from bench.queue import ours
from jobmill import db, queue
from jobmill.db import Tx
from jobmill.queue import (
    Finish,
    HandOver,
    ItemId,
    Move,
    NewItem,
    Stage,
    Stages,
    Work,
    Worker,
    leases,
    store,
)
from jobmill.queue.spawn_rules import ChildItem, spawn_children
from jobmill.queue.store import ClaimRequest
from jobmill.queue.worker import LEASE
from jobmill.queue.worker_connections import INDEX_PLANS

MAX_RATIO = 1.2
TURNS = 200
LIVE = 5_000


class Cost(NamedTuple):
    """The cost of an operation at the beginning and at the end, in milliseconds."""

    name: str
    before: float
    after: float

    @property
    def ratio(self) -> float:
        return self.after / self.before


async def finished(url: str, many: int) -> None:
    """Insert this many ended items and some live ones."""
    await ours.install(url)
    async with await db.open_connection(url) as tx:
        await tx.execute(
            """
            INSERT INTO queue.item (kind, stage, key, key_hash, data, priority, tracking_id,
                ancestry, ancestor_keys, spawn_depth, max_spawn_depth, handed_over, max_retries)
            SELECT 'bench', 'run', 'k' || n, md5('k' || n)::uuid, '{}', 100, md5('l' || n)::uuid,
                   '{}', '{}', 0, 10, false, 3
              FROM generate_series(1, %s) AS n
            """,
            [many],
        )
        await tx.execute(
            """
            INSERT INTO queue.ending (item_id, status, stage, final, retry_count, attempts)
            SELECT id, 'SUCCESS', 'run', true, 0, 1 FROM queue.item
            """
        )
        await queue.submit_all(tx, [NewItem("bench", "run", f"live {n}") for n in range(LIVE)])
        await tx.execute("VACUUM (ANALYZE)")
        await tx.execute("CHECKPOINT")


async def claim_cost(few: str, many: str) -> Cost:
    """One claim of ten beside 10,000 finished items, and beside 1,000,000."""
    await finished(few, 10_000)
    await finished(many, 1_000_000)

    async def claim(tx: Tx) -> None:
        await store.claim_items(tx, workers[tx], [ClaimRequest("bench", "run", 10)])

    async with AsyncExitStack() as stack:
        pair = [
            await stack.enter_async_context(await db.open_connection(url, options=INDEX_PLANS))
            for url in (few, many)
        ]
        workers = {tx: await leases.register_worker(tx, "bench", LEASE * 100) for tx in pair}
        before, after = await in_turn([lambda tx=tx: claim(tx) for tx in pair])
    return Cost("claim-at-a-million", before, after)


async def spawn_cost(url: str) -> Cost:
    """One spawn of ten in a lineage of 100 items, and in one of 100,000."""
    await ours.install(url)
    async with await db.open_connection(url, options=INDEX_PLANS) as tx:
        small = await _lineage(tx, "small", 100)
        large = await _lineage(tx, "large", 100_000)
        await tx.execute("VACUUM (ANALYZE)")
        number = iter(range(10**9))

        async def ten(parent: ItemId) -> None:
            await spawn_children(
                tx,
                [ChildItem(parent, NewItem("bench", "run", f"c{next(number)}")) for _ in range(10)],
            )

        before, after = await in_turn([lambda: ten(small), lambda: ten(large)])
    return Cost("spawn-in-100000", before, after)


async def _lineage(tx: Tx, name: str, many: int) -> ItemId:
    root = await queue.submit(tx, NewItem("bench", "run", name))
    await tx.execute(
        """
        INSERT INTO queue.item (kind, stage, key, key_hash, data, priority, tracking_id, parent_id,
            ancestry, ancestor_keys, spawn_depth, max_spawn_depth, handed_over, max_retries)
        SELECT 'bench', 'run', key || n, md5(key || n)::uuid, '{}', 100, tracking_id, id,
               ARRAY[id], ARRAY[key_hash], 1, 10, false, 3
          FROM queue.item, generate_series(1, %s) AS n WHERE id = %s
        """,
        [many, root],
    )
    return root


async def held_cost(url: str) -> Cost:
    """Claims of a real worker at the beginning and the end of 40,000 items, none of which may be
    cleaned up behind it because an old transaction still sees them all."""
    await ours.install(url)
    async with await db.open_connection(url) as tx:
        for start in range(0, 40_000, 1_000):
            async with tx.transaction():
                news = [NewItem("bench", "run", str(start + n)) for n in range(1_000)]
                await queue.submit_all(tx, news)
        await tx.execute("VACUUM (ANALYZE)")
    taken: list[tuple[float, int]] = []
    real = store.claim_items

    async def timed(tx: Tx, worker: int, wants: list[ClaimRequest]) -> list[store.ClaimedItem]:
        began = time.perf_counter()
        claimed = await real(tx, worker, wants)
        taken.append((time.perf_counter() - began, len(claimed)))
        return claimed

    with psycopg.connect(url) as old:
        old.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        old.execute("SELECT count(*) FROM queue.live")
        store.claim_items = timed  # pyright: ignore[reportAttributeAccessIssue]
        try:
            async with db.connect(url) as database:
                await Worker(database, ours.stages(lambda: None, saves=False)).drain()
        finally:
            store.claim_items = real
    full = [(seconds, n) for seconds, n in taken if n >= 100]
    quarter = len(full) // 4
    return Cost("claim-under-old-transaction", _each(full[:quarter]), _each(full[-quarter:]))


def _each(claims: list[tuple[float, int]]) -> float:
    """Milliseconds per hundred items; the mean, so that claims that start from the beginning of the
    index count too."""
    return sum(seconds for seconds, _ in claims) / sum(n for _, n in claims) * 100 * 1_000


async def pipeline(url: str, items: int) -> float:
    """Stages per second of items that pass three stages and spawn one child each."""
    await ours.install(url)

    async def first(work: Work) -> Move:
        return queue.Advance("second")

    async def second(work: Work) -> Move:
        return HandOver("third", spawn=[NewItem("child", "run", f"child of {work.key}")])

    async def last(work: Work) -> Move:
        return Finish()

    stages: Stages = {
        ("root", "first"): Stage(first, capacity=ours.CAPACITY),
        ("root", "second"): Stage(second),
        ("root", "third"): Stage(last),
        ("child", "run"): Stage(last),
    }
    async with db.connect(url) as database:
        async with database.transaction() as tx:
            await queue.declare_stages(tx, stages)
        for start in range(0, items, 1_000):
            async with database.transaction() as tx:
                news = [NewItem("root", "first", str(start + n)) for n in range(1_000)]
                await queue.submit_all(tx, news)
        began = time.perf_counter()
        ran = await Worker(database, stages).drain()
    return ran / (time.perf_counter() - began)


async def in_turn(calls: list[Callable[[], Awaitable[None]]]) -> tuple[float, float]:
    """The median cost of each of two calls, in milliseconds."""
    took: list[list[float]] = [[], []]
    for turn in range(TURNS + 20):
        for n, call in enumerate(calls):
            began = time.perf_counter()
            await call()
            if turn >= 20:
                took[n].append((time.perf_counter() - began) * 1_000)
    return statistics.median(took[0]), statistics.median(took[1])
