"""Random histories: the queue and a model in memory have the same state after each step."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, LiteralString

import pytest
from hypothesis import given, note, settings
from psycopg.rows import dict_row

from jobmill import queue
from jobmill.db import Database, Tx, connect, open_connection
from jobmill.errors import AppError
from jobmill.queue import ItemId, NewItem, NotAdmitted, Stage, Work, leases, operator_actions, store
from jobmill.queue.group_commit import GroupCommitter
from jobmill.queue.held_lease import HeldLease
from jobmill.queue.items import Claim
from jobmill.queue.settlement import (
    Settlement,
    SettlementResult,
    needs_own_transaction,
    prepare_settlement,
    settle_batch,
)
from jobmill.queue.stages import Outcome, Save
from jobmill.queue.store import ClaimRequest
from jobmill.queue.worker_connections import INDEX_PLANS

from . import stories
from .model import CAPACITY, LEASE, MAX_RETRIES, MAX_SPAWN_DEPTH, START, Batch, QueueModel
from .stories import PASSING, PHASES, QueueStep, Settle, Submit


async def never(work: Work) -> queue.Move:
    raise AssertionError


STAGES = {
    (kind, stage): Stage(
        never, capacity=CAPACITY[kind], max_retries=MAX_RETRIES, max_spawn_depth=MAX_SPAWN_DEPTH
    )
    for kind, stage in PHASES
}

READ_ITEMS = """
    SELECT id, item.kind, item.key, item.stage AS first_stage, item.priority AS first_priority,
           coalesce(live.stage, ending.stage) AS stage,
           coalesce(live.priority, item.priority) AS priority,
           item.parent_id AS parent, item.handed_over,
           CASE WHEN live.status IS NULL OR ending.status IS NULL
                THEN coalesce(live.status, ending.status)::text ELSE 'live and ended' END AS status,
           coalesce(live.parked, false) AS parked, live.worker,
           coalesce(live.attempt, ending.attempts) AS attempt,
           coalesce(live.retry_count, ending.retry_count) AS retry_count,
           coalesce(live.steps, 0) AS steps,
           live.waits_for, live.waited_for, live.blocked_on, item.ancestry,
           item.spawn_depth AS depth,
           (SELECT root.id FROM queue.item AS root
             WHERE root.tracking_id = item.tracking_id AND root.parent_id IS NULL) AS lineage
      FROM queue.item
      FULL JOIN queue.live USING (id)
      FULL JOIN (SELECT item_id AS id, * FROM queue.ending) AS ending USING (id)
"""

CLEAN = """
    DELETE FROM queue.item; DELETE FROM queue.live; DELETE FROM queue.ending; DELETE FROM queue.event;
    DELETE FROM queue.worker; DELETE FROM queue.pause; DELETE FROM queue.tick; DELETE FROM saved
"""
SILENCE = "UPDATE queue.worker SET heartbeat_at = heartbeat_at - %s WHERE id = %s"
PASS_TIME = """
    WITH live AS (UPDATE queue.live SET available_at = available_at - %(time)s),
         tick AS (UPDATE queue.tick SET at = at - %(time)s)
    UPDATE queue.worker SET heartbeat_at = heartbeat_at - %(time)s, ended_at = ended_at - %(time)s
     WHERE ended_at IS NOT NULL OR heartbeat_at + lease < now()
"""


@dataclass
class Process:
    lease: HeldLease
    committer: GroupCommitter
    works: list[Work] = field(default_factory=list[Work])
    """All claimed items, newest first."""

    @classmethod
    def make(cls, database: Database) -> Process:
        lease = HeldLease(LEASE)
        return cls(lease, GroupCommitter(database, lease))

    @property
    def worker(self) -> int:
        return self.lease.worker


Verb = tuple[Callable[[], Awaitable[object]], Callable[[], object]]
"""What PostgreSQL does in one transaction, and what the model does; equal refusals are expected."""


class QueueStory:
    """Takes each step on PostgreSQL and in the model, and compares the answers and the states."""

    def __init__(self, tx: Tx, database: Database) -> None:
        self.tx = tx
        self.database = database

    async def tell(self, steps: list[Any]) -> None:
        await self.tx.execute(CLEAN)
        self.rows: dict[ItemId, dict[str, Any]] = {}
        self.model = QueueModel()
        self.processes = [Process.make(self.database) for _ in range(stories.PROCESSES)]
        for process in self.processes:
            await self.join(process)
        for step in filter(None, steps):
            note(stories.brief(step))
            await self.take(step)
            self.compare()

    async def take(self, step: Any) -> None:
        match step:
            case Submit(news):
                for new in news:
                    await self.do(self.submission(new))
            case stories.ClaimItems():
                await self.claim(self.processes[step.process], step.limit)
            case Settle():
                await self.claim(self.processes[step.process], step.claim)
                await self.settle(self.processes[step.process], step)
            case QueueStep("stop and rejoin"):
                await self.do(self.verbs(step.number)["kill"])
                await self.join(self.processes[step.number % stories.PROCESSES])
            case QueueStep() if step.verb not in ("put back", "cancel") or self.model.items:
                await self.do(self.verbs(step.number)[step.verb])

    def begin_transaction(self) -> None:
        self.model.now = (self.model.now[0], self.model.now[1] + 1)

    async def do(self, verb: Verb) -> None:
        self.begin_transaction()
        act, predict = verb
        refusal = None
        try:
            async with self.tx.transaction():
                await act()
        except NotAdmitted as error:
            refusal = error.refused.reason
        except AppError as error:
            refusal = type(error).__name__
        await self.observe()
        assert refusal == (predict() or None)

    def verbs(self, number: int) -> dict[str, Verb]:
        tx, model = self.tx, self.model
        id, ended = self.item(number, live=True), self.item(number, live=False)
        on = stories.BLOCKS[number % 2]
        phase = stories.PAUSES[number % len(stories.PAUSES)]
        kind, stage = phase[0], phase[1] or None
        process = self.processes[number % stories.PROCESSES]
        worker, keep = process.worker, [work.claim for work in process.works[: number // 2]]
        time = PASSING * (1 + number)
        return {
            "put back": (
                lambda: operator_actions.retry_item(tx, ended),
                lambda: model.put_back(ended),
            ),
            "cancel": (
                lambda: operator_actions.cancel_item(tx, id, "story"),
                lambda: model.cancel(id),
            ),
            "pause": (
                lambda: operator_actions.pause_phase(tx, kind, stage, "story"),
                lambda: model.paused.add(phase),
            ),
            "resume": (
                lambda: operator_actions.resume_phase(tx, kind, stage),
                lambda: model.resume(phase),
            ),
            "unblock": (lambda: operator_actions.unblock_items(tx, on), lambda: model.unblock(on)),
            "unpark": (lambda: store.unpark_due_items(tx), model.unpark),
            "wake orphans": (lambda: store.wake_stranded_waiters(tx), model.wake_orphans),
            "rescue": (lambda: leases.rescue_abandoned_items(tx), model.rescue),
            "disown": (
                lambda: leases.release_unknown_claims(tx, worker, keep),
                lambda: model.disown(worker, keep),
            ),
            "kill": (
                lambda: tx.execute(SILENCE, [LEASE, worker]),
                lambda: model.let_lease_lapse(worker),
            ),
            "pass time": (
                lambda: tx.execute(PASS_TIME, {"time": time}),
                lambda: model.pass_time(time),
            ),
        }

    def item(self, number: int, *, live: bool) -> ItemId:
        """0 is the newest item that lives, or that has ended."""
        items = self.model.items
        ids = sorted(items, key=lambda id: (items[id].live == live, id), reverse=True)
        return ids[number % len(ids)] if ids else ItemId(0)

    async def join(self, process: Process) -> None:
        """The process gets a new lease under a new worker id, and still has its old claims."""
        worker = await leases.register_worker(self.tx, "story", LEASE)
        process.lease.end()
        process.lease.start(worker, time.monotonic())
        self.model.heartbeats[worker] = self.model.now[0]

    def submission(self, new: NewItem) -> Verb:
        return lambda: queue.submit(self.tx, new), lambda: self.model.submit(new)

    async def claim(self, process: Process, limit: int) -> None:
        self.begin_transaction()
        wants = [ClaimRequest(kind, stage, limit) for kind, stage in PHASES]
        claimed = await store.claim_items(self.tx, process.worker, wants)
        works = [row.work for row in claimed]
        process.works = [*reversed(works), *process.works]
        await self.observe()
        names = "id", "kind", "stage", "attempt", "retry_count", "steps", "worker"
        assert [[getattr(work, name) for name in names] + [work.waited_for] for work in works] == [
            [getattr(item, name) for name in names] + [item.waits_for or item.waited_for]
            for item in self.model.claim(process.worker, limit)
        ]

    async def settle(self, process: Process, step: Settle) -> None:
        self.begin_transaction()
        model, worker = self.model, process.worker
        works = sorted(process.works, key=lambda work: not model.holds(worker, work.claim))
        batch: list[tuple[Work, Outcome]] = []
        for number, outcome in step.batch if works else []:
            work = works[number % len(works)]
            save = insert_saved_row(work.claim) if step.saves else None
            batch.append((work, replace(self.resolve(outcome), save=save)))
        with_saves = [(work, outcome) for work, outcome in batch if needs_own_transaction(outcome)]
        if with_saves:
            await self.run_committer(process.committer, with_saves)
            await self.observe()
            model.settle_and_save(worker, claims(with_saves))
            self.begin_transaction()
        if shared := [pair for pair in batch if not needs_own_transaction(pair[1])]:
            settlements = [encode(work, outcome) for work, outcome in shared]
            async with self.tx.transaction():
                answers = await settle_batch(self.tx, worker, settlements)
            await self.observe()
            expected = model.settle(worker, claims(shared))
            assert [brief_answer(answer) for answer in answers] == expected
        saved = await self.read("SELECT item AS id, attempt FROM saved ORDER BY item, attempt")
        assert saved == [claim._asdict() for claim in sorted(model.saved)]

    def resolve(self, outcome: Outcome) -> Outcome:
        if isinstance(outcome, queue.WaitFor) and isinstance(outcome.item, int):
            return replace(outcome, item=self.item(outcome.item, live=True))
        return outcome

    async def run_committer(
        self, committer: GroupCommitter, batch: list[tuple[Work, Outcome]]
    ) -> None:
        """Every save waits before the committer begins, so they are one group."""
        saves = [asyncio.ensure_future(committer.save(encode(*pair), pair[1])) for pair in batch]
        running = asyncio.ensure_future(committer.run())
        await asyncio.gather(*saves)
        running.cancel()
        await asyncio.wait([running])

    async def read(self, sql: LiteralString) -> list[dict[str, Any]]:
        return await (await self.tx.cursor(row_factory=dict_row).execute(sql)).fetchall()

    async def observe(self) -> None:
        self.rows = {row["id"]: row for row in await self.read(READ_ITEMS)}
        self.model.new_ids = {
            (row["parent"], row["kind"], row["key"], row["first_stage"]): id
            for id, row in self.rows.items()
            if id not in self.model.items
        }

    def compare(self) -> None:
        expected = {id: item.row() for id, item in self.model.items.items()}
        assert self.rows.keys() == expected.keys()
        for id, row in self.rows.items():
            assert {name: row[name] for name in row if row[name] != expected[id][name]} == {
                name: expected[id][name] for name in row if row[name] != expected[id][name]
            }


def claims(batch: list[tuple[Work, Outcome]]) -> Batch:
    return [(work.claim, outcome) for work, outcome in batch]


def insert_saved_row(claim: Claim) -> Save:
    return lambda tx: tx.execute("INSERT INTO saved VALUES (%s, %s)", claim)


def encode(work: Work, outcome: Outcome) -> Settlement:
    if isinstance(outcome, queue.WaitUntil) and outcome.until > START:
        outcome = replace(outcome, until=dt.datetime.now(dt.UTC) + (outcome.until - START))
    return prepare_settlement(work, outcome, STAGES)


def brief_answer(answer: SettlementResult) -> str | list[ItemId | str]:
    if answer.lost:
        assert answer == SettlementResult(answer.work, lost=True)
        return "lost"
    children = answer.children
    ids = [
        child.id if isinstance(child, queue.AcceptedItem) else child.reason for child in children
    ]
    return "refused" if answer.refused else ids


@pytest.fixture
async def story(url: str) -> AsyncIterator[QueueStory]:
    """On connections with the settings of a worker."""
    async with (
        connect(url, size=1, options=INDEX_PLANS) as database,
        await open_connection(url, options=INDEX_PLANS) as connection,
    ):
        await connection.execute("CREATE TABLE saved (item bigint, attempt int)")
        await queue.declare_stages(connection, STAGES)
        yield QueueStory(connection, database)


RANDOM = settings(
    max_examples=100,
    deadline=None,
    database=None,
    print_blob=True,
    report_multiple_bugs=False,
)


@settings(RANDOM)
@given(steps=stories.STORIES)
async def test_the_queue_and_the_model_agree(story: QueueStory, steps: list[Any]) -> None:
    await story.tell(steps)


@pytest.mark.soak
@settings(RANDOM, max_examples=5_000)
@given(steps=stories.STORIES)
async def test_the_queue_and_the_model_agree_for_long(story: QueueStory, steps: list[Any]) -> None:
    await story.tell(steps)
