"""A stale claim changes nothing: every fenced statement against every way to lose a claim."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from jobmill import queue
from jobmill.db import Database, Tx
from jobmill.queue import Advance, Finish, HandOver, Move, Stages, WaitFor, Work, leases, store
from jobmill.queue.group_commit import GroupCommitter, settle_and_save
from jobmill.queue.held_lease import HeldLease
from jobmill.queue.items import ItemId
from jobmill.queue.settlement import prepare_settlement, settle_batch
from jobmill.queue.store import ClaimRequest
from jobmill.queue.worker import LEASE

from .helpers import fetch, new, put, stages


async def never(work: Work) -> Move:
    raise AssertionError


STAGES: Stages = stages({name: queue.Stage(never) for name in ("tea/run", "tea/pour", "cup/run")})

Statement = Callable[[Tx, int, Work], Awaitable[bool]]
"""Acts on a claim; False if the fence refused it."""


async def end(tx: Tx, worker: int, work: Work) -> bool:
    return await settles(tx, worker, work, Finish(spawn=[new("cup", "child")]))


async def requeue(tx: Tx, worker: int, work: Work) -> bool:
    return await settles(tx, worker, work, Advance("pour", spawn=[new("cup", "child")]))


async def hand_over(tx: Tx, worker: int, work: Work) -> bool:
    return await settles(tx, worker, work, HandOver("pour", spawn=[new("cup", "child")]))


async def hold(tx: Tx, worker: int, work: Work) -> bool:
    return await store.lock_claim(tx, work)


async def settles(tx: Tx, worker: int, work: Work, outcome: Move) -> bool:
    [answer] = await settle_batch(tx, worker, [prepare_settlement(work, outcome, STAGES)])
    return not answer.lost


Loss = Callable[[Tx, int], Awaitable[object]]
"""Makes the claims of a worker stale."""


async def claim_again(tx: Tx, worker: int) -> None:
    """The same worker claims the item a second time."""
    await leases.release_unknown_claims(tx, worker)
    await claim(tx, worker)


async def take_over(tx: Tx, worker: int) -> None:
    """Another worker claims the item."""
    await leases.release_unknown_claims(tx, worker)
    await claim(tx, await leases.register_worker(tx, "other", LEASE))


async def requeue_and_forget(tx: Tx, worker: int) -> None:
    """The item was released, and no worker has claimed it since."""
    await leases.release_unknown_claims(tx, worker)


async def lapse(tx: Tx, worker: int) -> None:
    await tx.execute(
        "UPDATE queue.worker SET heartbeat_at = now() - lease - interval '1 ms' WHERE id = %s",
        [worker],
    )


async def bury(tx: Tx, worker: int) -> None:
    await leases.sign_off(tx, worker)


async def claim(tx: Tx, worker: int) -> Work:
    [claimed] = await store.claim_items(tx, worker, [ClaimRequest("tea", "run", 1)])
    return claimed.work


@dataclass(frozen=True)
class Claimed:
    worker: int
    work: Work


@pytest.fixture
async def claimed(database: Database) -> Claimed:
    await put(database, STAGES, new("tea"))
    async with database.transaction() as tx:
        worker = await leases.register_worker(tx, "here", LEASE)
        return Claimed(worker, await claim(tx, worker))


async def snapshot(database: Database) -> list[object]:
    return [
        *await fetch(database, "SELECT id, stage, status, worker, attempt FROM queue.live"),
        *await fetch(database, "SELECT id, key FROM queue.item ORDER BY id"),
        *await fetch(database, "SELECT item_id, status FROM queue.ending"),
    ]


STATEMENTS = pytest.mark.parametrize("statement", [end, requeue, hand_over, hold])


@STATEMENTS
async def test_a_claim_that_holds_is_settled(
    database: Database, claimed: Claimed, statement: Statement
) -> None:
    async with database.transaction() as tx:
        assert await statement(tx, claimed.worker, claimed.work)


@STATEMENTS
@pytest.mark.parametrize("lose", [claim_again, take_over, requeue_and_forget, lapse, bury])
async def test_a_stale_claim_changes_nothing(
    database: Database, claimed: Claimed, statement: Statement, lose: Loss
) -> None:
    async with database.transaction() as tx:
        await lose(tx, claimed.worker)
    before = await snapshot(database)
    async with database.transaction() as tx:
        assert not await statement(tx, claimed.worker, claimed.work)
    assert await snapshot(database) == before


@STATEMENTS
@pytest.mark.parametrize("lose", [claim_again, take_over, requeue_and_forget])
async def test_a_claim_lost_while_its_statement_waits_changes_nothing(
    database: Database, claimed: Claimed, statement: Statement, lose: Loss
) -> None:
    """The statement found the claim and then waited for the row; PostgreSQL checks the row again."""

    async def act() -> bool:
        async with database.transaction() as tx:
            return await statement(tx, claimed.worker, claimed.work)

    async with database.transaction() as rival:
        await rival.execute("SELECT FROM queue.live FOR UPDATE")
        acting = asyncio.create_task(act())
        await until_a_backend_waits(database)
        await lose(rival, claimed.worker)
    before = await snapshot(database)
    assert not await acting
    assert await snapshot(database) == before


@pytest.mark.parametrize("lose", [claim_again, take_over, requeue_and_forget, lapse, bury])
@pytest.mark.parametrize(
    "move",
    [
        Finish,
        lambda **more: WaitFor(new("cup", "awaited"), **more),
        lambda **more: WaitFor(ItemId(1), **more),
    ],
    ids=["end", "wait for a new item", "wait for an item"],
)
async def test_a_stale_claim_saves_nothing(
    database: Database, claimed: Claimed, move: Callable[..., Move], lose: Loss
) -> None:
    saves: list[Tx] = []

    async def save(tx: Tx) -> None:
        saves.append(tx)

    async with database.transaction() as tx:
        await lose(tx, claimed.worker)
    before = await snapshot(database)
    outcome = move(save=save)
    async with database.transaction() as tx:
        settlement = prepare_settlement(claimed.work, outcome, STAGES)
        [answer] = await settle_and_save(tx, claimed.worker, [(settlement, outcome)])
    assert answer.lost
    assert saves == []
    assert await snapshot(database) == before


async def test_a_worker_buried_after_it_spawned_an_awaited_item_leaves_no_child(
    database: Database, claimed: Claimed
) -> None:
    """The spawn waits for a rival with the same key, and the worker is marked as gone meanwhile."""
    lease = HeldLease(LEASE)
    lease.start(claimed.worker, time.monotonic())
    committer = GroupCommitter(database, lease)
    move = WaitFor(new("cup", "awaited"))
    running = asyncio.create_task(committer.run())
    with pytest.raises(RollbackRival):
        async with database.transaction() as rival:
            await queue.submit(rival, new("cup", "awaited"))
            settlement = prepare_settlement(claimed.work, move, STAGES)
            saving = asyncio.create_task(committer.save(settlement, move))
            await until_a_backend_waits(database)
            async with database.transaction() as tx:
                await bury(tx, claimed.worker)
            raise RollbackRival
    await saving
    running.cancel()
    assert await fetch(database, "SELECT key FROM queue.item WHERE kind = 'cup'") == []


class RollbackRival(Exception):
    pass


async def until_a_backend_waits(database: Database) -> None:
    async with asyncio.timeout(20):
        while not await fetch(
            database,
            """
            SELECT pid FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'
            """,
        ):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("lose", [lapse, bury])
async def test_a_worker_without_a_lease_claims_nothing(database: Database, lose: Loss) -> None:
    await put(database, STAGES, new("tea"))
    async with database.transaction() as tx:
        worker = await leases.register_worker(tx, "here", LEASE)
        await lose(tx, worker)
        assert await store.claim_items(tx, worker, [ClaimRequest("tea", "run", 1)]) == []


@pytest.mark.parametrize("lose", [lapse, bury])
async def test_a_worker_without_a_lease_cannot_renew_it(database: Database, lose: Loss) -> None:
    async with database.transaction() as tx:
        worker = await leases.register_worker(tx, "here", LEASE)
        assert (await leases.send_heartbeat(tx, worker, [])).alive
        await lose(tx, worker)
        assert not (await leases.send_heartbeat(tx, worker, [])).alive


@pytest.mark.parametrize("newest_last", [True, False])
@pytest.mark.parametrize(
    "outcome",
    [Finish, lambda **more: Advance("pour", **more), lambda **more: HandOver("pour", **more)],
)
async def test_of_two_attempts_in_one_batch_only_the_newest_settles(
    database: Database, claimed: Claimed, outcome: Callable[..., Move], newest_last: bool
) -> None:
    async with database.transaction() as tx:
        await leases.release_unknown_claims(tx, claimed.worker)
        current = await claim(tx, claimed.worker)
        batch = [
            prepare_settlement(claimed.work, outcome(spawn=[new("cup", "stale")]), STAGES),
            prepare_settlement(current, outcome(spawn=[new("cup", "current")]), STAGES),
        ]
        answers = await settle_batch(tx, claimed.worker, batch if newest_last else batch[::-1])
    assert {answer.work.attempt: answer.lost for answer in answers} == {1: True, 2: False}
    assert await fetch(database, "SELECT key FROM queue.item WHERE kind = 'cup'") == ["current"]


async def test_two_outcomes_of_one_claim_settle_once(database: Database, claimed: Claimed) -> None:
    batch = [
        prepare_settlement(claimed.work, Finish(spawn=[new("cup", key)]), STAGES)
        for key in ("first", "second")
    ]
    async with database.transaction() as tx:
        answers = await settle_batch(tx, claimed.worker, batch)
    assert [answer.lost for answer in answers] == [False, True]
    assert [len(answer.children) for answer in answers] == [1, 0]
    assert await fetch(database, "SELECT key FROM queue.item WHERE kind = 'cup'") == ["first"]


@pytest.mark.parametrize("first", [Finish(), WaitFor(new("cup", "first"))])
async def test_the_second_outcome_of_a_claim_does_not_spawn_the_item_it_waits_for(
    database: Database, claimed: Claimed, first: Move
) -> None:
    lease = HeldLease(LEASE)
    lease.start(claimed.worker, time.monotonic())
    committer = GroupCommitter(database, lease)
    moves = [first, WaitFor(new("cup", "second"))]
    # Both wait before the committer runs, so it commits them as one group.
    saves = [
        asyncio.create_task(committer.save(prepare_settlement(claimed.work, move, STAGES), move))
        for move in moves
    ]
    running = asyncio.create_task(committer.run())
    await asyncio.gather(*saves)
    running.cancel()
    assert await fetch(database, "SELECT key FROM queue.item WHERE key = 'second'") == []


async def test_a_claim_whose_answer_was_lost_is_released_although_an_older_attempt_is_known(
    database: Database, claimed: Claimed
) -> None:
    async with database.transaction() as tx:
        await claim_again(tx, claimed.worker)
        assert await leases.release_unknown_claims(tx, claimed.worker, [claimed.work.claim]) == 1


async def test_a_worker_releases_no_claims_of_another_worker(
    database: Database, claimed: Claimed
) -> None:
    async with database.transaction() as tx:
        assert (
            await leases.release_unknown_claims(
                tx, await leases.register_worker(tx, "other", LEASE)
            )
            == 0
        )
        assert await hold(tx, claimed.worker, claimed.work)


async def test_a_wait_until_a_time_is_measured_by_the_clock_of_the_server(
    database: Database, claimed: Claimed
) -> None:
    [until] = await fetch(database, "SELECT now() + interval '1 hour'")
    wait = prepare_settlement(claimed.work, queue.WaitUntil(until), STAGES)
    async with database.transaction() as tx:
        await settle_batch(tx, claimed.worker, [wait])
    assert await fetch(database, "SELECT parked, available_at FROM queue.live") == [(True, until)]


async def test_a_wait_until_a_time_that_has_passed_is_due_at_once(
    database: Database, claimed: Claimed
) -> None:
    wait = prepare_settlement(
        claimed.work, queue.WaitUntil(dt.datetime(2001, 1, 1, tzinfo=dt.UTC)), STAGES
    )
    async with database.transaction() as tx:
        await settle_batch(tx, claimed.worker, [wait])
    assert await fetch(database, "SELECT parked FROM queue.live") == [False]
