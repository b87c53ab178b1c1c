"""A stale claim changes nothing: every fenced statement against old attempts, lapsed leases and takeovers."""

from __future__ import annotations

from jobmill import queue
from jobmill.db import Database
from jobmill.queue import Finish, Move, Work, crew, store
from jobmill.queue.settle import prepare, settle
from jobmill.queue.store import Want
from jobmill.queue.worker import LEASE

from .kit import fetch, new, put, stages


async def never(work: Work) -> Move:
    raise AssertionError


STAGES = stages(tea=never, cup=never)


async def test_only_the_newest_attempt_of_a_batch_settles(database: Database) -> None:
    [id] = await put(database, STAGES, new("tea"))
    async with database.transaction() as tx:
        worker = await crew.join(tx, "here", LEASE)
        [first] = await store.claim(tx, worker, [Want("tea", "run", 1)])
        await crew.disown(tx, worker)
        [second] = await store.claim(tx, worker, [Want("tea", "run", 1)])
        stale = prepare(first.work, Finish(spawn=[new("cup", "stale")]), STAGES)
        current = prepare(second.work, Finish(spawn=[new("cup", "current")]), STAGES)
        answers = await settle(tx, worker, [stale, current])
    assert [answer.lost for answer in answers] == [True, False]
    children = await fetch(database, "SELECT key FROM queue.item WHERE parent_id = %s", [id])
    assert children == ["current"]
    assert queue.ItemId(id) == second.work.id
