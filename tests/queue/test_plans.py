"""The frequent statements of the queue use indexes beside a million finished items; none scans a large table."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, ClassVar
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from jobmill import queue
from jobmill.db import Tx
from jobmill.queue import Finish, ItemId, Move, Work, leases, lineage, search, store
from jobmill.queue.spawn_rules import ChildItem, hand_over_items, spawn_children
from jobmill.queue.store import ClaimRequest
from jobmill.queue.worker_connections import INDEX_PLANS
from tests.conftest import drop, run

from .helpers import SOON, fetch, new, stages

MILLION = 1_000_000


async def nothing(work: Work) -> Move:
    return Finish()


TABLE = stages(tea=nothing, cup=nothing)


@pytest.fixture(scope="module")
async def history(server: str, template: str) -> AsyncIterator[str]:
    """A million finished items in lineages of ten thousand, and a thousand live ones."""
    name = "history"
    run(server, "CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", name, template)
    url = make_conninfo(server, dbname=name)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as tx:
        await queue.declare_stages(tx, TABLE)
        await tx.execute(
            """
            INSERT INTO queue.item (kind, stage, key, key_hash, data, priority, tracking_id,
                ancestry, ancestor_keys, spawn_depth, max_spawn_depth, handed_over, max_retries)
            SELECT 'tea', 'run', 'k' || n, md5('k' || n)::uuid, '{}', 100,
                   md5('l' || n / 10000)::uuid, '{}', '{}', 0, 10, false, 3
              FROM generate_series(1, %s) AS n
            """,
            [MILLION],
        )
        await tx.execute(
            """
            INSERT INTO queue.ending (item_id, status, stage, final, retry_count, attempts)
            SELECT id, CASE WHEN id % 1000 = 0 THEN 'FAILED' ELSE 'SUCCESS' END::queue.status, 'run',
                   true, 0, 1 FROM queue.item
            """
        )
        await queue.submit_all(tx, [new("tea", f"live {n}") for n in range(1000)])
        await tx.execute("ANALYZE queue.item, queue.ending, queue.live")
    yield url
    drop(server, name)


class ExplainingCursor(psycopg.AsyncCursor[Any]):
    """Explains every statement before it runs it."""

    plans: ClassVar[list[str]] = []

    async def execute(self, query: Any, params: Any = None, **more: Any) -> Any:
        if str(query).strip().upper().startswith(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")):
            plain = psycopg.AsyncCursor(self.connection)
            await plain.execute(f"EXPLAIN {query}", params)
            self.plans.append("\n".join(line for (line,) in await plain.fetchall()))
        return await super().execute(query, params, **more)


class Plans:
    """Runs calls and returns the plans of their statements."""

    def __init__(self, tx: Tx) -> None:
        self.tx = tx

    async def of(self, call: Callable[[], Awaitable[Any]]) -> str:
        ExplainingCursor.plans.clear()
        await call()
        assert ExplainingCursor.plans
        return "\n".join(ExplainingCursor.plans)


@asynccontextmanager
async def explained(url: str, settings: Mapping[str, str]) -> AsyncIterator[Plans]:
    async with await psycopg.AsyncConnection.connect(
        url,
        cursor_factory=ExplainingCursor,
        options=" ".join(f"-c {name}={value}" for name, value in settings.items()),
    ) as tx:
        yield Plans(tx)
        await tx.rollback()


@pytest.fixture
async def plans(history: str) -> AsyncIterator[Plans]:
    """On a connection with the settings of a worker."""
    async with explained(history, INDEX_PLANS) as plans:
        yield plans


SCANNED = re.compile(r"Seq Scan on (item|ending|live|event)\b")
WALKED = re.compile(r"Scan using \w+ on (item|ending|live|event)\b[^\n]*\n(?!\s*Index Cond)")
"""A scan of a whole index."""


def by_index(plan: str, *indexes: str) -> None:
    """Every large table is read through an index condition, and these indexes are used."""
    assert not SCANNED.search(plan), plan
    assert not WALKED.search(plan), plan
    for index in indexes:
        assert re.search(rf"using {index}|on {index}", plan), plan


async def worker_of(tx: Tx) -> int:
    return await leases.register_worker(tx, "w", SOON)


async def test_a_claim_uses_indexes(plans: Plans) -> None:
    worker = await worker_of(plans.tx)
    plan = await plans.of(
        lambda: store.claim_items(plans.tx, worker, [ClaimRequest("tea", "run", 100)])
    )
    by_index(plan, "live_due", "item_pkey")


async def test_ending_and_requeueing_items_use_indexes(plans: Plans) -> None:
    worker = await worker_of(plans.tx)
    claimed = await store.claim_items(plans.tx, worker, [ClaimRequest("tea", "run", 20)])
    ends = [f'{{"id":{item.work.id},"attempt":1,"status":"SUCCESS"}}' for item in claimed[:10]]
    plan = await plans.of(lambda: store.end_items(plans.tx, worker, ends))
    by_index(plan, "live_pkey", "live_waiting")
    moves = [
        f'{{"id":{item.work.id},"attempt":1,"status":"PENDING","stage":"run","what":"retry","delay":5,"retries":1,"steps":0}}'
        for item in claimed[10:]
    ]
    plan = await plans.of(lambda: store.requeue_items(plans.tx, worker, moves))
    by_index(plan, "live_pkey")


async def test_a_spawn_and_its_five_rules_use_indexes(plans: Plans) -> None:
    children = [ChildItem(ItemId(5000), new("cup", f"c{n}")) for n in range(100)]
    plan = await plans.of(lambda: spawn_children(plans.tx, children))
    by_index(plan, "once_in_a_lineage", "live_once", "item_pkey")


async def test_a_spawn_uses_indexes_with_default_planner_settings(history: str) -> None:
    """As in a separate transaction of a stage."""
    async with explained(history, {}) as plans:
        plan = await plans.of(
            lambda: spawn_children(plans.tx, [ChildItem(ItemId(5000), new("cup", "c"))])
        )
    by_index(plan, "once_in_a_lineage")


async def test_a_hand_over_uses_indexes(plans: Plans) -> None:
    worker = await worker_of(plans.tx)
    [claimed] = await store.claim_items(plans.tx, worker, [ClaimRequest("tea", "run", 1)])
    move = queue.HandOver("run")
    plan = await plans.of(lambda: hand_over_items(plans.tx, worker, [(claimed.work, move)]))
    by_index(plan, "once_in_a_lineage", "live_pkey")


async def test_a_submission_scans_no_table(plans: Plans) -> None:
    plan = await plans.of(lambda: queue.submit(plans.tx, new("cup", "fresh")))
    assert "Seq Scan on item" not in plan
    assert "Seq Scan on live" not in plan


async def test_reading_a_lineage_of_ten_thousand_items_uses_indexes(plans: Plans) -> None:
    [tracking] = await fetch(plans.tx, "SELECT tracking_id FROM queue.item WHERE id = 5000")
    assert isinstance(tracking, UUID)
    plan = await plans.of(lambda: lineage.read_lineage(plans.tx, tracking, limit=100))
    # The last join may scan `live`, which has only unfinished items, once per page.
    by_index(plan.replace(" on live ", " on few "), "once_in_a_lineage", "item_pkey")


async def test_the_check_for_an_earlier_failure_uses_indexes(plans: Plans) -> None:
    [tracking] = await fetch(plans.tx, "SELECT tracking_id::text FROM queue.item WHERE id = 5000")
    work = Work(ItemId(1), "tea", "run", "k5000", {}, 1, 0, 3, 0, 0, tracking, None, None)
    plan = await plans.of(lambda: store.find_earlier_failure(plans.tx, work, "0" * 32))
    by_index(plan, "once_in_a_lineage", "ending_failed")


@pytest.mark.parametrize("status", [None, "FAILED", "SUCCESS", "PENDING"])
async def test_a_page_of_items_scans_no_table(plans: Plans, status: Any) -> None:
    plan = await plans.of(lambda: search.search_items(plans.tx, search.ItemFilter(status)))
    assert not re.search(r"Seq Scan on (item|ending)\b", plan), plan


@pytest.mark.parametrize("status", [None, "SUCCESS", "FAILED", "SKIPPED", "PENDING"])
@pytest.mark.parametrize(("kind", "key"), [("cup", None), (None, "k9"), ("tea", "k9")])
async def test_a_filtered_page_of_items_stays_within_its_scan_limit(
    plans: Plans, status: Any, kind: str | None, key: str | None
) -> None:
    sought = search.ItemFilter(status, kind, key)
    plan = await plans.of(lambda: search.search_items(plans.tx, sought, reach=1_000))
    by_index(plan.replace(" on live ", " on few "))


async def test_a_plan_that_scans_a_table_is_detected(plans: Plans) -> None:
    plan = await plans.of(
        lambda: plans.tx.execute("SELECT count(*) FROM queue.item WHERE message = 'x'")
    )
    with pytest.raises(AssertionError):
        by_index(plan)
