"""Actions of an operator, and which are refused."""

from __future__ import annotations

import asyncio
import datetime as dt

import pytest

from jobmill import queue
from jobmill.db import Database, Tx
from jobmill.errors import Conflict, Invalid, NotFound, OutsideError
from jobmill.queue import (
    Finish,
    ItemId,
    Move,
    WaitFor,
    Work,
    leases,
    operator_actions,
    retention,
    store,
)
from jobmill.queue.store import ClaimRequest
from jobmill.queue.worker import LEASE
from tests.catalog.helpers import somebody_waits

from .helpers import drain, fetch, happened, item, new, put, stages, statuses


async def nothing(work: Work) -> Move:
    return Finish()


async def fail_once(work: Work) -> Move:
    if work.attempt == 1:
        raise OutsideError("gone", permanent=True)
    return Finish()


async def test_a_failed_item_can_be_retried(database: Database) -> None:
    table = stages(tea=fail_once)
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    async with database.transaction() as tx:
        await operator_actions.retry_item(tx, id)
    await drain(database, table)
    again = await item(database, id)
    assert (again.status, again.attempts) == ("SUCCESS", 2)
    assert await happened(database, id) == [
        "submitted", "started", "failed", "put back", "started", "success",
    ]  # fmt: skip
    async with database.transaction() as tx:
        with pytest.raises(Conflict, match="is SUCCESS: only FAILED, SKIPPED and FILTERED"):
            await operator_actions.retry_item(tx, id)


async def test_an_item_cannot_be_retried_while_the_same_work_is_alive(database: Database) -> None:
    table = stages(tea=fail_once)
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    await put(database, table, new("tea"))
    async with database.transaction() as tx:
        with pytest.raises(Conflict, match="another live item has its kind and key"):
            await operator_actions.retry_item(tx, id)
    assert (await item(database, id)).status == "FAILED"


async def test_cancelling_a_pending_item_wakes_the_items_that_wait_for_it(
    database: Database,
) -> None:
    async def guest(work: Work) -> Move:
        return WaitFor(host) if work.waited_for is None else Finish("went home")

    table = stages(tea=nothing, guest=guest)
    host, visitor = await put(
        database, table, new("tea", delay=dt.timedelta(hours=1)), new("guest", "alice")
    )
    await drain(database, table)
    async with database.transaction() as tx:
        await operator_actions.cancel_item(tx, host, "no tea today")
    await drain(database, table)
    assert (await item(database, host)).message == "Cancelled: no tea today"
    assert (await item(database, visitor)).message == "went home"
    assert await statuses(database) == {"SKIPPED": 1, "SUCCESS": 1}


async def test_running_and_ended_items_cannot_be_cancelled(tx: Tx) -> None:
    await queue.declare_stages(tx, stages(tea=nothing))
    id = await queue.submit(tx, new("tea"))
    await tx.execute("UPDATE queue.live SET status = 'PROCESSING', worker = 1")
    with pytest.raises(Conflict, match="is PROCESSING"):
        await operator_actions.cancel_item(tx, id, "x")
    with pytest.raises(NotFound, match="item 999 does not exist"):
        await operator_actions.cancel_item(tx, ItemId(999), "x")


async def test_an_item_that_is_being_claimed_cannot_be_cancelled(database: Database) -> None:
    [id] = await put(database, stages(tea=nothing), new("tea"))

    async def cancel() -> None:
        async with database.transaction() as tx:
            await operator_actions.cancel_item(tx, id, "no tea today")

    async with database.transaction() as tx:
        worker = await leases.register_worker(tx, "here", LEASE)
        assert await store.claim_items(tx, worker, [ClaimRequest("tea", "run", 1)])
        cancelling = asyncio.create_task(cancel())
        await asyncio.sleep(0.3)
    with pytest.raises(Conflict, match="is PROCESSING"):
        await cancelling
    assert (await item(database, id)).status == "PROCESSING"


async def test_only_existing_phases_can_be_paused(tx: Tx) -> None:
    await queue.declare_stages(tx, stages(tea=nothing))
    with pytest.raises(Invalid, match="there is no phase coffee; the phases are: tea/run"):
        await operator_actions.pause_phase(tx, "coffee", None, "x")
    with pytest.raises(Conflict, match="tea/run is not paused"):
        await operator_actions.resume_phase(tx, "tea", "run")


async def test_old_items_are_deleted_with_their_events_and_recent_ones_stay(
    database: Database,
) -> None:
    table = stages(tea=nothing)
    old, young, live = await put(database, table, *(new("tea", str(n)) for n in range(3)))
    await drain(database, table, only=[])
    async with database.transaction() as tx:
        await tx.execute(
            "UPDATE queue.live SET parked = true, available_at = now() + interval '1 day' WHERE id = %s",
            [live],
        )
    await drain(database, table)
    async with database.transaction() as tx:
        await tx.execute(
            "UPDATE queue.ending SET finished_at = now() - interval '31 days' WHERE item_id = %s",
            [old],
        )
        assert await retention.prune_ended_items(tx, dt.timedelta(days=30)) == 1
        assert await retention.prune_ended_items(tx, dt.timedelta(days=30)) == 0
    assert await fetch(database, "SELECT id FROM queue.items ORDER BY id") == [young, live]
    assert await fetch(database, "SELECT DISTINCT item_id FROM queue.event ORDER BY 1") == [
        young, live,
    ]  # fmt: skip


async def test_cancelling_an_item_and_settling_it_at_once_do_not_deadlock(
    database: Database,
) -> None:
    """A settlement changes the live row of an item before the item itself."""
    [id] = await put(database, stages(tea=nothing), new("tea"))

    async def cancel() -> None:
        async with database.transaction() as tx:
            await operator_actions.cancel_item(tx, id, "not needed")

    async with database.transaction() as tx:
        await tx.execute("SELECT FROM queue.live WHERE id = %s FOR UPDATE", [id])
        cancelling = asyncio.create_task(cancel())
        while not await somebody_waits(tx):
            await asyncio.sleep(0.001)
        await tx.execute("UPDATE queue.item SET message = 'settled' WHERE id = %s", [id])
    await cancelling
    assert (await item(database, id)).status == "SKIPPED"
