"""Claims: order, concurrency, pauses, start rates and notifications."""

from __future__ import annotations

import asyncio
import datetime as dt

from jobmill import queue
from jobmill.db import Database, Tx
from jobmill.queue import Finish, Move, Stage, StartRate, Work, leases, operator_actions, store
from jobmill.queue.store import ClaimPosition, ClaimRequest

from .helpers import SOON, drain, fetch, new, put, running, stages


async def nothing(work: Work) -> Move:
    return Finish()


TEA = stages({"tea": Stage(nothing, capacity=100_000)})


async def claim(
    tx: Tx,
    worker: int,
    most: int = 5,
    after: ClaimPosition = ClaimPosition(),  # noqa: B008
) -> list[store.ClaimedItem]:
    return await store.claim_items(tx, worker, [ClaimRequest("tea", "run", most, after)])


async def join(database: Database) -> int:
    async with database.transaction() as tx:
        return await leases.register_worker(tx, "w", SOON)


async def test_concurrent_claims_never_share_an_item(database: Database) -> None:
    await put(database, TEA, *(new("tea", str(n)) for n in range(40)))
    worker = await join(database)

    async def ask(_: int) -> list[int]:
        async with database.transaction() as tx:
            return [claimed.work.id for claimed in await claim(tx, worker)]

    claimed = [id for ids in await asyncio.gather(*map(ask, range(8))) for id in ids]
    assert len(claimed) == len(set(claimed)) == 40


async def test_a_claim_never_waits_for_another(database: Database) -> None:
    await put(database, TEA, new("tea", "one"), new("tea", "two"))
    worker = await join(database)
    async with database.transaction() as first, database.transaction() as second:
        await first.execute("SET LOCAL statement_timeout = '2s'")
        await second.execute("SET LOCAL statement_timeout = '2s'")
        assert len(await claim(first, worker, 1)) == 1
        assert len(await claim(second, worker, 1)) == 1


async def test_items_are_claimed_by_priority_then_by_age(database: Database) -> None:
    order: list[str] = []

    async def run(work: Work) -> Move:
        order.append(work.key)
        return Finish()

    table = stages({"tea": Stage(run, processors=1)})
    await put(database, table, new("tea", "a"), new("tea", "b"), new("tea", "vip", priority=1))
    await put(database, table, new("tea", "c"), new("tea", "last", priority=900))
    await drain(database, table)
    assert order == ["vip", "a", "b", "c", "last"]


async def test_a_delayed_item_is_not_claimed_before_its_time(database: Database) -> None:
    await put(database, TEA, new("tea", delay=dt.timedelta(hours=1)))
    assert await drain(database, TEA) == 0
    [available] = await fetch(
        database,
        "UPDATE queue.live SET available_at = now() + interval '0.5 s' RETURNING available_at",
    )
    async with asyncio.timeout(60), running(database, TEA) as worker:
        while worker.runs == 0:
            await asyncio.sleep(0.01)
    [started] = await fetch(database, "SELECT at FROM queue.event WHERE type = 'started'")
    assert started >= available


async def test_a_claim_with_a_position_skips_earlier_items_and_one_without_finds_them(
    database: Database,
) -> None:
    await put(database, TEA, *(new("tea", str(n)) for n in range(6)))
    worker = await join(database)
    async with database.transaction() as tx:
        first = await claim(tx, worker, 3)
        await tx.execute(
            "UPDATE queue.live SET status = 'PENDING', worker = NULL WHERE id = %s",
            [first[0].work.id],
        )
        later = await claim(tx, worker, 10, first[-1].position)
        again = await claim(tx, worker, 10)
    assert [claimed.work.key for claimed in later] == ["3", "4", "5"]
    assert [claimed.work.key for claimed in again] == ["0"]


async def test_work_that_arrives_out_of_order_is_found_under_load(database: Database) -> None:
    """An urgent item that is submitted during a long backlog does not wait for its end."""
    order: list[str] = []

    async def run(work: Work) -> Move:
        order.append(work.key)
        if len(order) == 50:
            await put(database, table, new("tea", "vip", priority=1))
        await asyncio.sleep(0.002)
        return Finish()

    table = stages({"tea": Stage(run, processors=2, capacity=100_000)})
    await put(database, table, *(new("tea", str(n)) for n in range(3000)))
    await drain(database, table)
    assert len(order) == 3001
    assert order.index("vip") < 2000


async def test_a_paused_phase_claims_nothing_and_a_resumed_one_continues(
    database: Database,
) -> None:
    table = stages({"tea/boil": Stage(nothing), "tea/pour": Stage(nothing)})
    await put(database, table, new("tea/boil", "a"), new("tea/pour", "b"))
    async with database.transaction() as tx:
        await operator_actions.pause_phase(tx, "tea", "boil", "descaling")
    assert await drain(database, table) == 1
    async with database.transaction() as tx:
        await operator_actions.resume_phase(tx, "tea", "boil")
    assert await drain(database, table) == 1


async def test_a_paused_kind_claims_nothing_in_any_phase(database: Database) -> None:
    table = stages({"tea/boil": Stage(nothing), "tea/pour": Stage(nothing)}, coffee=nothing)
    await put(database, table, new("tea/boil", "a"), new("tea/pour", "b"), new("coffee", "c"))
    async with database.transaction() as tx:
        await operator_actions.pause_phase(tx, "tea", None, "descaling")
    assert await drain(database, table) == 1
    assert await fetch(database, "SELECT kind FROM queue.live ORDER BY id") == ["tea", "tea"]


async def test_a_start_rate_holds_over_all_workers(database: Database) -> None:
    """Three items may start per window, over all workers."""
    rate = StartRate(3, dt.timedelta(minutes=5))
    table = stages({"tea": Stage(nothing, rate=rate)})
    await put(database, table, *(new("tea", str(n)) for n in range(10)))
    ran = await asyncio.gather(*(drain(database, table) for _ in range(3)))
    assert sum(ran) == 3
    async with database.transaction() as tx:
        await tx.execute("UPDATE queue.start_rate SET opened_at = opened_at - interval '5 minutes'")
    assert await drain(database, table) == 3


async def test_a_pool_runs_as_many_items_at_once_as_it_has_processors(database: Database) -> None:
    running = most = 0

    async def run(work: Work) -> Move:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        return Finish()

    table = stages({"tea": Stage(run, processors=4)})
    await put(database, table, *(new("tea", str(n)) for n in range(30)))
    await drain(database, table)
    assert most == 4


async def test_a_worker_does_not_claim_slow_work_ahead(database: Database) -> None:
    """A worker claims what its processors can start and leaves the rest to other workers."""
    gate = asyncio.Event()

    async def run(work: Work) -> Move:
        await gate.wait()
        return Finish()

    table = stages({"tea": Stage(run, processors=3)})
    await put(database, table, *(new("tea", str(n)) for n in range(20)))
    draining = asyncio.create_task(drain(database, table))
    async with asyncio.timeout(10):
        while await fetch(database, "SELECT count(*) FROM queue.live WHERE worker > 0") != [3]:
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.3)
    assert await fetch(database, "SELECT count(*) FROM queue.live WHERE worker > 0") == [3]
    gate.set()
    await draining


async def test_a_polling_worker_runs_new_items(database: Database) -> None:
    await put(database, TEA, new("tea"))
    assert await drain(database, TEA, poll_only=True) == 1
    assert await fetch(database, "SELECT bool_or(idle) FROM queue.worker") == [False]


async def test_an_idle_worker_is_notified_of_new_items(database: Database) -> None:
    worker = queue.Worker(database, TEA)
    running = asyncio.create_task(worker.run())
    await put(database, TEA)
    async with asyncio.timeout(10):
        while await fetch(database, "SELECT count(*) FROM queue.worker WHERE idle") != [1]:
            await asyncio.sleep(0.01)
        listener = await queue.worker.open_connection(database.url)
        await listener.execute("LISTEN jobmill_queue")
        await put(database, TEA, new("tea"))
        async for _ in listener.notifies(stop_after=1):
            pass
        await listener.close()
        while worker.runs == 0:
            await asyncio.sleep(0.01)
    worker.stop()
    await running


async def test_no_notification_is_sent_while_no_worker_is_idle(database: Database) -> None:
    """pg_notify takes a lock that all commits share, so a busy queue avoids it."""
    listener = await queue.worker.open_connection(database.url)
    await listener.execute("LISTEN jobmill_queue")
    await put(database, TEA, new("tea"))
    notifications = [note async for note in listener.notifies(timeout=0.2)]
    await listener.close()
    assert notifications == []
