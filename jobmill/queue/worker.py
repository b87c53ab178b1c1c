"""Runs leased work: one stage, one move, one transaction; stops cleanly, survives anything else."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import os
import socket
import time
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, get_args

import psycopg

from jobmill.db import (
    CONNECTION_ERRORS,
    Database,
    Tx,
    connect,
    listen,
    migrate,
    open_connection,
)
from jobmill.errors import AppError
from jobmill.queue import admission, alerts, leases, operator_actions, store
from jobmill.queue.feed import FEED_PAYLOAD
from jobmill.queue.group_commit import GroupCommitter
from jobmill.queue.items import Work
from jobmill.queue.processor_pool import Processor, ProcessorPool
from jobmill.queue.pump import INDEX_PLANS, NO_LEASE, Pump
from jobmill.queue.retry import (
    BLOCKED_ON_SCHEMA,
    classify_error,
    describe_error,
    fingerprint_error,
    outcome_of_error,
)
from jobmill.queue.run_counters import RunCounters
from jobmill.queue.settlement import Settlement, needs_own_transaction, prepare_settlement
from jobmill.queue.stages import Move, Outcome, Release, Stages

log = logging.getLogger(__name__)

LEASE = dt.timedelta(seconds=20)
"""How long a worker that does not beat keeps what it holds."""

STAGE_ANSWER_LIMIT = LEASE.total_seconds() * 3 / 4
"""Seconds that a stage should wait for an answer of the database: the limit for the pool it uses."""

DATABASE_ERRORS = (psycopg.Error, *CONNECTION_ERRORS)
"""Whatever the database says no to, from being away to being read-only: it passes."""

OUTDATED_WORKER_RULE = "outdated worker"
"""The rule of the alert that a worker raises when the schema is newer than its code."""

TASK_CONNECTIONS = 3
"""For what recurs: rescues, schedules, feeds, counts."""

COMMIT_CONNECTIONS = 4
"""Connections on which moves with a `save` commit, apart from those of heartbeats and stages."""

GRACE = dt.timedelta(seconds=10)
"""What a stopping worker gives to what runs, and an overdue stage to end after its cancellation."""


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """Something every worker does every so many seconds; it sees to it itself that one doing is enough.

    It is done again at once where it answers True (there is more), or after so many seconds.
    """

    every: float
    do: Callable[[Tx], Awaitable[object]]
    when_told: bool = False
    """Also when somebody says that a feed has something."""


class Worker:
    def __init__(
        self,
        db: Database,
        stages: Stages,
        *,
        only: Iterable[tuple[str, str]] | None = None,
        chores: Sequence[PeriodicTask] = (),
        poll_only: bool = False,
        lease: dt.timedelta = LEASE,
        grace: dt.timedelta = GRACE,
    ) -> None:
        phases = stages if only is None else {phase: stages[phase] for phase in only}
        self._db = db
        self._stages = stages
        self._pools = {phase: ProcessorPool(*phase, stage) for phase, stage in phases.items()}
        # Every wait for the database ends before the lease does, also when the network drops packets.
        self._answer_limit = lease.total_seconds() * 3 / 4
        self._pump = Pump(
            db.direct_url,
            stages,
            self._pools,
            notified=not poll_only,
            answer_limit=lease.total_seconds() / 2,
        )
        self._tally = RunCounters()
        self._lease = lease
        self._lease_ends = 0.0
        self._newest_migration = max(migrate.list_migrations())
        self._grace = grace.total_seconds()
        self._chores: list[PeriodicTask] = [
            PeriodicTask(lease.total_seconds() / 4, leases.rescue_abandoned_items),
            PeriodicTask(5.0, store.wake_stranded_waiters),
            PeriodicTask(2.0, self._tally.write),
            PeriodicTask(60.0, self._give_back_unknown),
            *chores,
        ]
        self._stop = asyncio.Event()
        self._told: list[asyncio.Event] = []
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._saver: GroupCommitter
        self._own_db: Database
        self.ran = 0

    async def run(self) -> None:
        """Work until `stop()`."""
        async with self._working():
            await self._stop.wait()

    async def drain(self) -> int:
        """Work until nothing is due; returns how many stages ran."""
        async with self._working():
            await self._pump.quiet.wait()
        return self.ran

    def stop(self) -> None:
        """Finish what runs, give back the rest, and return from `run`."""
        self._stop.set()

    @asynccontextmanager
    async def _working(self) -> AsyncGenerator[None]:
        async with self._db.transaction() as tx:
            await admission.declare_stages(tx, self._stages)
            # Blocked by a worker of another version; if this one does not fit either, it says so.
            await operator_actions.unblock_items(tx, BLOCKED_ON_SCHEMA)
        async with (
            self._connect(COMMIT_CONNECTIONS, INDEX_PLANS) as for_saves,
            # Stages may use up all of their connections; rescues and schedules must go on.
            self._connect(TASK_CONNECTIONS) as self._own_db,
        ):
            self._saver = GroupCommitter(for_saves, self._pump)
            async with self._employed():
                yield

    def _connect(
        self, size: int, options: Mapping[str, str] | None = None
    ) -> AbstractAsyncContextManager[Database]:
        return connect(
            self._db.direct_url, size=size, options=options, answer_limit=self._answer_limit
        )

    @asynccontextmanager
    async def _employed(self) -> AsyncGenerator[None]:
        sent_at = time.monotonic()
        async with self._own_db.transaction() as tx:
            worker = await leases.register_worker(tx, self._name, self._lease)
        self._hold_lease(worker, sent_at)
        for pool in self._pools.values():
            for processor in pool.processors:
                self._start(pool, processor)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(loop) for loop in self._loops()]
                try:
                    yield
                finally:
                    await self._finish()
                    await _end(tasks)
        finally:
            await self._leave()

    def _loops(self) -> list[Coroutine[Any, Any, None]]:
        chores = [self._do_chore(chore) for chore in self._chores]
        listening = [self._listen()] if self._pump.notified else []
        savers = [self._saver.run() for _ in range(COMMIT_CONNECTIONS)]
        pump = [self._pump.claim(), self._pump.settle()]
        return [*pump, *savers, *listening, *chores, self._keep_lease(), self._mind_time()]

    async def _finish(self) -> None:
        """Claim no more, give back what nobody began, wait for what runs, then give that back too."""
        self._pump.claiming = False
        for pool in self._pools.values():
            for work in pool.close():
                self._put(work, Release("its worker stopped"))
        tasks = [processor.task for processor in self._processors() if processor.task]
        if tasks:
            await asyncio.wait(tasks, timeout=self._grace)
        for processor in self._processors():
            if processor.work and processor.task:
                processor.task.cancel()
                self._put(processor.work, Release("its worker stopped"))

    async def _leave(self) -> None:
        try:
            await self._pump.leave()
            async with self._own_db.transaction() as tx:
                await self._tally.write(tx)
                await alerts.resolve_alert(tx, OUTDATED_WORKER_RULE, self._name)
        except DATABASE_ERRORS as error:
            # The lease lapses then, and another worker gives back what this one held.
            log.warning("could not sign off", extra={"error": describe_error(error)})

    def _processors(self) -> list[Processor]:
        return [processor for pool in self._pools.values() for processor in pool.processors]

    def _start(self, pool: ProcessorPool, processor: Processor) -> None:
        processor.task = asyncio.create_task(self._process(pool, processor))

    async def _process(self, pool: ProcessorPool, processor: Processor) -> None:
        while work := await self._next(pool, processor):
            processor.begin(work)
            settlement, settled = await self._run_to_outcome(pool, processor, work)
            # A cancellation that met the end of its own run must not hit the next one.
            processor.was_cancelled_for()
            if processor.state == "error":
                return
            if not settled:
                self._pump.put(settlement)
            took = processor.rest()
            if settled:
                # The settler does not learn of it, so nothing else says that a processor is free.
                self._pump.wake()
            pool.took(took)
            self.ran += 1
            self._count(pool, settlement.outcome, took)

    async def _run_to_outcome(
        self, pool: ProcessorPool, processor: Processor, work: Work
    ) -> tuple[Settlement, bool]:
        """The outcome of a run, and whether it is settled already."""
        try:
            return await self._attempt(pool, work)
        except asyncio.CancelledError:
            match processor.was_cancelled_for():
                case None:
                    raise
                case "overdue":
                    limit = pool.stage.run_limit.total_seconds()
                    outcome = outcome_of_error(work, TimeoutError(f"ran longer than {limit:g} s"))
                case "lease lost":
                    outcome = Release("its worker lost its lease")
            return prepare_settlement(work, outcome, self._stages), False

    async def _next(self, pool: ProcessorPool, processor: Processor) -> Work | None:
        while True:
            try:
                return await pool.take()
            except asyncio.CancelledError:
                # The run that was to be cancelled ended in that very moment.
                if not processor.was_cancelled_for():
                    raise

    def _count(self, pool: ProcessorPool, outcome: Outcome, seconds: float) -> None:
        self._tally.add(pool.kind, pool.name, type(outcome).__name__.lower(), seconds)

    async def _attempt(self, pool: ProcessorPool, work: Work) -> tuple[Settlement, bool]:
        """What to settle, and whether it is settled already."""
        # The stage waits on sites and models, so no transaction is open.
        try:
            move = await self._move(pool, work)
            settlement = prepare_settlement(work, move, self._stages)
            if needs_own_transaction(move):
                await self._saver.save(settlement, move)
                return settlement, True
            return settlement, False
        # The one place that outlives any error: a bad item must not stop the others.
        except Exception as error:  # noqa: BLE001
            return prepare_settlement(work, await self._judge(work, error), self._stages), False

    async def _move(self, pool: ProcessorPool, work: Work) -> Move:
        try:
            move = await pool.stage.run(work)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task and task.cancelling():
                raise
            raise RuntimeError(
                "the stage raised CancelledError though nobody cancelled it"
            ) from error
        if not isinstance(move, get_args(Move)):
            raise TypeError(f"the stage answered {move!r}, which is no move")
        return move

    async def _judge(self, work: Work, error: BaseException) -> Outcome:
        ours = isinstance(error, AppError | TimeoutError)
        log.warning(
            "stage failed",
            extra={
                "item": work.id,
                "phase": f"{work.kind}/{work.stage}",
                "error": describe_error(error),
            },
            exc_info=None if ours else error,
        )
        seen = False
        if classify_error(error) == "transient":
            try:
                async with self._own_db.transaction() as tx:
                    seen = await store.has_failed_with(tx, work, fingerprint_error(error))
            except DATABASE_ERRORS:
                # Without the database nobody can look; the retry count still bounds it.
                log.warning("could not look for the same error", extra={"item": work.id})
        return outcome_of_error(work, error, seen_before=seen)

    def _put(self, work: Work, outcome: Outcome) -> None:
        self._pump.put(prepare_settlement(work, outcome, self._stages))

    async def _keep_lease(self) -> None:
        """On a connection of its own: stages and saves may use up all of theirs."""
        while True:
            try:
                limit = self._lease.total_seconds() / 4
                async with await open_connection(
                    self._db.direct_url, answer_limit=limit
                ) as connection:
                    while True:
                        await asyncio.sleep(self._lease.total_seconds() / 10)
                        await self._beat_or_join(connection)
            except DATABASE_ERRORS as error:
                log.warning("no heartbeat", extra={"error": describe_error(error)})
                await asyncio.sleep(min(0.5, self._lease.total_seconds() / 10))

    async def _beat_or_join(self, connection: Tx) -> None:
        sent_at = time.monotonic()
        worker = self._pump.worker
        # In a transaction, so that a connection that loses the answers to COMMIT looks as sick here
        # as it is to settlements.
        if worker == NO_LEASE:
            async with connection.transaction():
                worker = await leases.register_worker(connection, self._name, self._lease)
            self._hold_lease(worker, sent_at)
            return
        processors = [row for pool in self._pools.values() for row in pool.snapshot()]
        async with connection.transaction():
            heartbeat = await leases.send_heartbeat(connection, worker, processors)
        if not heartbeat.alive:
            self._abandon("it lapsed")
        elif worker == self._pump.worker:
            self._lease_ends = sent_at + self._lease.total_seconds()
            await self._compare_schema(connection, heartbeat.newest_migration)

    def _hold_lease(self, worker: int, sent_at: float) -> None:
        self._lease_ends = sent_at + self._lease.total_seconds()
        self._pump.enlist(worker)

    async def _compare_schema(self, tx: Tx, newest: str) -> None:
        """Claim nothing while the schema is newer than this code, which would fail item after item."""
        was_outdated, self._pump.outdated = self._pump.outdated, newest > self._newest_migration
        if self._pump.outdated == was_outdated:
            return
        if was_outdated:
            await alerts.resolve_alert(tx, OUTDATED_WORKER_RULE, self._name)
            return
        detail = (
            f"Worker {self._name} has stopped claiming tasks: a newer Jobmill migrated the "
            f"database ({newest}). Upgrade Jobmill on its host and restart it."
        )
        log.error("worker outdated", extra={"detail": detail})
        await alerts.raise_alert(tx, OUTDATED_WORKER_RULE, self._name, detail)

    async def _give_back_unknown(self, tx: Tx) -> None:
        await leases.release_unknown_claims(
            tx, self._pump.worker, self._pump.held(), older_than=dt.timedelta(seconds=30)
        )

    def _abandon(self, reason: str) -> None:
        """The lease is lost: stop what runs under it, drop its outcomes, and join anew."""
        log.warning("lease lost", extra={"worker": self._pump.worker, "reason": reason})
        self._pump.abandon()
        for pool in self._pools.values():
            pool.empty()
            for processor in pool.processors:
                # Another worker may run the item now; what this run still does, happens twice.
                if processor.state == "busy" and not processor.cancelled_for:
                    processor.cancel("lease lost")

    def _mind_lease(self) -> None:
        """Notice a lost lease without the database, which may be what is lost."""
        if self._pump.worker == NO_LEASE:
            return
        if time.monotonic() > self._lease_ends:
            self._abandon("no heartbeat was confirmed in time")
        elif self._pump.outages.longest() > self._lease.total_seconds():
            self._abandon("settlements are not confirmed")

    async def _mind_time(self) -> None:
        """Cancel runs that take too long; one that ignores its cancellation is written off and replaced."""
        while True:
            await asyncio.sleep(min(1.0, self._shortest_limit() / 4))
            self._mind_lease()
            for pool in self._pools.values():
                for work in pool.stale():
                    self._put(work, Release("its worker is busy"))
                limit = pool.stage.run_limit.total_seconds()
                for processor in pool.processors:
                    if processor.busy_for() <= limit:
                        continue
                    if not processor.cancelled_for:
                        processor.cancel("overdue")
                    elif processor.busy_for() > limit + self._grace:
                        self._write_off(pool, processor)

    def _shortest_limit(self) -> float:
        limits = [pool.stage.run_limit.total_seconds() for pool in self._pools.values()]
        return min([*limits, self._lease.total_seconds()])

    def _write_off(self, pool: ProcessorPool, processor: Processor) -> None:
        work = processor.work
        assert work
        log.error("processor stuck", extra={"item": work.id, "phase": f"{pool.kind}/{pool.name}"})
        outcome = outcome_of_error(work, TimeoutError("ran on after its run was cancelled"))
        self._put(work, outcome)
        self._count(pool, outcome, processor.busy_for())
        processor.state = "error"
        processor.work = None
        pool.forget_ended()
        if sum(one.state == "error" for one in pool.processors) <= pool.stage.processors:
            fresh = Processor(len(pool.processors) + 1)
            pool.processors.append(fresh)
            self._start(pool, fresh)

    async def _listen(self) -> None:
        while True:
            try:
                async for payload in listen(self._db.direct_url, store.CHANNEL):
                    if payload == FEED_PAYLOAD:
                        for told in self._told:
                            told.set()
                    self._pump.wake()
            except DATABASE_ERRORS as error:
                log.warning("not listening", extra={"error": describe_error(error)})
            await asyncio.sleep(1.0)

    async def _do_chore(self, chore: PeriodicTask) -> None:
        # One each: whoever is amid a scan must hear what is said meanwhile.
        told = asyncio.Event()
        if chore.when_told:
            self._told.append(told)
        while True:
            again: object = False
            try:
                async with self._own_db.transaction() as tx:
                    again = await chore.do(tx)
            # Also a fault in a feed's own code: the work that is in the queue must go on.
            except Exception as error:
                known = isinstance(error, (AppError, *DATABASE_ERRORS))
                log.warning(
                    "chore put off",
                    extra={"error": describe_error(error)},
                    exc_info=None if known else error,
                )
            if again is not True:
                every = again if isinstance(again, float) else chore.every
                await _rest(every, told)


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel them until they are gone: a cancellation is lost where it meets the end of a `wait_for`,
    as in the connection pool, on Python 3.11."""
    while left := [task for task in tasks if not task.done()]:
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=0.5)


async def _rest(seconds: float, told: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await told.wait()
    told.clear()
