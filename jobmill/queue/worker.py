"""A worker: a process that claims items, runs their stages and settles the outcomes."""

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
from jobmill.db.cancellation import cancel_tasks
from jobmill.errors import AppError, Invalid, RetryLater
from jobmill.queue import admission, alerts, leases, operator_actions, store
from jobmill.queue.claimer import Claimer
from jobmill.queue.feed import FEED_PAYLOAD
from jobmill.queue.group_commit import GroupCommitter
from jobmill.queue.held_lease import NO_LEASE, HeldLease
from jobmill.queue.items import ItemId, Work
from jobmill.queue.processor_pool import Processor, ProcessorPool
from jobmill.queue.retry import (
    BLOCKED_ON_SCHEMA,
    classify_error,
    describe_error,
    fingerprint_error,
    outcome_of_error,
)
from jobmill.queue.run_counters import RunCounters
from jobmill.queue.settlement import Settlement, needs_own_transaction, prepare_settlement
from jobmill.queue.settler import Settler
from jobmill.queue.stages import Move, Outcome, Release, Stages
from jobmill.queue.worker_connections import INDEX_PLANS

log = logging.getLogger(__name__)

LEASE = dt.timedelta(seconds=20)
"""How long a worker keeps its items without a heartbeat."""

STAGE_ANSWER_LIMIT = LEASE.total_seconds() * 3 / 4
"""Seconds that a stage should wait for an answer of the database: the limit for the pool it uses."""

DATABASE_ERRORS = (psycopg.Error, *CONNECTION_ERRORS)
"""Every error of the database, such as being unreachable or read-only: the worker tries again later."""

OUTDATED_WORKER_RULE = "outdated worker"
"""The rule of the alert that a worker raises when the schema is newer than its code."""

TASK_CONNECTIONS = 3
"""Connections for periodic tasks: rescues, schedules, feeds, run counters."""

COMMIT_CONNECTIONS = 4
"""Connections that commit moves with a `save`; heartbeats and stages have their own."""

GRACE = dt.timedelta(seconds=10)
"""How long a stopping worker waits for running stages, and an overdue stage may run after its cancellation."""


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """Something that every worker does every `every` seconds.

    All workers do it, so the task itself makes sure that doing it at the same time is harmless. `run` may
    return True to be repeated at once because there is more to do, or the seconds until the next run.
    """

    every: float
    run: Callable[[Tx], Awaitable[object]]
    on_feed_notify: bool = False
    """Run it also when a notification says that a feed has new rows."""
    on_failure: Callable[[], None] = lambda: None
    """Called when it failed, or its transaction failed to commit."""


class Worker:
    def __init__(
        self,
        db: Database,
        stages: Stages,
        *,
        only: Iterable[tuple[str, str]] | None = None,
        periodic_tasks: Sequence[PeriodicTask] = (),
        poll_only: bool = False,
        lease: dt.timedelta = LEASE,
        grace: dt.timedelta = GRACE,
    ) -> None:
        phases = stages if only is None else {phase: stages[phase] for phase in only}
        self._db = db
        self._stages = stages
        self._pools = {phase: ProcessorPool(*phase, stage) for phase, stage in phases.items()}
        self._lease = HeldLease(lease)
        # Every wait for the database ends before the lease does, also when the network drops packets.
        self._answer_limit = lease.total_seconds() * 3 / 4
        answer_limit = lease.total_seconds() / 2
        self._settler = Settler(db.direct_url, stages, self._lease, answer_limit=answer_limit)
        self._claimer = Claimer(
            db.direct_url,
            self._pools,
            self._settler,
            self._lease,
            notified=not poll_only,
            answer_limit=answer_limit,
        )
        self._run_counters = RunCounters()
        self._newest_migration = max(migrate.list_migrations())
        self._grace = grace.total_seconds()
        self._periodic_tasks: list[PeriodicTask] = [
            PeriodicTask(lease.total_seconds() / 4, leases.rescue_abandoned_items),
            PeriodicTask(5.0, store.wake_stranded_waiters),
            PeriodicTask(2.0, self._run_counters.write, on_failure=self._run_counters.restore),
            PeriodicTask(60.0, self._release_unknown_claims),
            *periodic_tasks,
        ]
        self._stop = asyncio.Event()
        self._feed_events: list[asyncio.Event] = []
        self._first_runs = asyncio.Lock()
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._committer: GroupCommitter
        self._task_db: Database
        self.runs = 0

    async def run(self) -> None:
        """Work until `stop()`."""
        async with self._running():
            await self._stop.wait()

    async def drain(self) -> int:
        """Work until nothing is due; returns how many stages ran."""
        async with self._running():
            await self._claimer.idle.wait()
        return self.runs

    def stop(self) -> None:
        """Finish running stages, release the other items, and return from `run`."""
        self._stop.set()

    @asynccontextmanager
    async def _running(self) -> AsyncGenerator[None]:
        async with self._db.transaction() as tx:
            await admission.declare_stages(tx, self._stages)
            # A worker of another version may have blocked them; if this one does not fit either, it blocks
            # them again.
            await operator_actions.unblock_items(tx, BLOCKED_ON_SCHEMA)
        async with (
            self._connect(COMMIT_CONNECTIONS, INDEX_PLANS) as commit_db,
            # Stages may use up all of their connections; rescues and schedules must go on.
            self._connect(TASK_CONNECTIONS) as self._task_db,
        ):
            self._committer = GroupCommitter(commit_db, self._lease)
            async with self._registered():
                yield

    def _connect(
        self, size: int, options: Mapping[str, str] | None = None
    ) -> AbstractAsyncContextManager[Database]:
        return connect(
            self._db.direct_url, size=size, options=options, answer_limit=self._answer_limit
        )

    @asynccontextmanager
    async def _registered(self) -> AsyncGenerator[None]:
        sent_at = time.monotonic()
        async with self._task_db.transaction() as tx:
            worker = await leases.register_worker(tx, self._name, self._lease.duration)
        self._start_lease(worker, sent_at)
        for pool in self._pools.values():
            for processor in pool.processors:
                self._start(pool, processor)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(loop) for loop in self._loops()]
                try:
                    yield
                finally:
                    await self._stop_processors()
                    await cancel_tasks(tasks)
        finally:
            await self._sign_off()

    def _loops(self) -> list[Coroutine[Any, Any, None]]:
        return [
            self._claimer.run(),
            self._settler.run(),
            *(self._committer.run() for _ in range(COMMIT_CONNECTIONS)),
            *([self._listen()] if self._claimer.notified else []),
            *(self._repeat_task(task) for task in self._periodic_tasks),
            self._keep_lease(),
            self._watch_runs(),
        ]

    async def _stop_processors(self) -> None:
        """Stop claiming, release items not started, wait for running stages, then release those too."""
        self._claimer.claiming = False
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

    async def _sign_off(self) -> None:
        try:
            await self._settler.finish()
            async with self._task_db.transaction() as tx:
                await self._run_counters.write(tx)
                await alerts.resolve_alert(tx, OUTDATED_WORKER_RULE, self._name)
        except DATABASE_ERRORS as error:
            # The lease will lapse, and another worker will rescue what this one held.
            log.warning("could not sign off", extra={"error": describe_error(error)})

    def _processors(self) -> list[Processor]:
        return [processor for pool in self._pools.values() for processor in pool.processors]

    def _start(self, pool: ProcessorPool, processor: Processor) -> None:
        processor.task = asyncio.create_task(self._process(pool, processor))

    async def _process(self, pool: ProcessorPool, processor: Processor) -> None:
        while work := await self._next(pool, processor):
            processor.start(work)
            settlement, settled = await self._run_to_outcome(pool, processor, work)
            # A cancellation that arrived as its run ended must not hit the next run.
            processor.take_cancel_reason()
            if processor.state == "error":
                return
            if not settled:
                self._settler.put(settlement)
            seconds = processor.finish()
            if settled:
                # The settler did not see this outcome, so nothing else wakes the claimer for the free processor.
                self._claimer.wake()
            pool.record_duration(seconds)
            self.runs += 1
            self._count(pool, settlement.outcome, seconds)

    async def _run_to_outcome(
        self, pool: ProcessorPool, processor: Processor, work: Work
    ) -> tuple[Settlement, bool]:
        """Run the stage; return the settlement, and whether it is already committed."""
        try:
            return await self._attempt(pool, processor, work)
        except asyncio.CancelledError:
            match processor.take_cancel_reason():
                case None:
                    raise
                case "overdue":
                    limit = pool.stage.run_limit.total_seconds()
                    outcome = outcome_of_error(work, TimeoutError(f"ran longer than {limit:g} s"))
                case "lease lost":
                    outcome = Release("its worker lost its lease")
            return self._prepare(processor, work, outcome), False

    async def _next(self, pool: ProcessorPool, processor: Processor) -> Work | None:
        while True:
            try:
                return await pool.take()
            except asyncio.CancelledError:
                # The run that was to be cancelled ended at that very moment.
                if not processor.take_cancel_reason():
                    raise

    def _count(self, pool: ProcessorPool, outcome: Outcome, seconds: float) -> None:
        self._run_counters.add(pool.kind, pool.name, type(outcome).__name__.lower(), seconds)

    async def _attempt(
        self, pool: ProcessorPool, processor: Processor, work: Work
    ) -> tuple[Settlement, bool]:
        # No transaction is open while the stage waits for sites and models.
        try:
            move = await self._run_stage(pool, work)
            settlement = self._prepare(processor, work, move)
            if needs_own_transaction(move):
                await self._committer.save(settlement, move)
                return settlement, True
            return settlement, False
        # A bad item must not stop the others, so this handles every error.
        except Exception as error:  # noqa: BLE001
            outcome = await self._handle_error(work, error)
            try:
                return self._prepare(processor, work, outcome), False
            except Invalid as refused:
                # An error that asks to wait, from an item that has waited too often.
                outcome = await self._handle_error(work, refused)
                return self._prepare(processor, work, outcome), False

    def _prepare(self, processor: Processor, work: Work, outcome: Outcome) -> Settlement:
        return prepare_settlement(work, outcome, self._stages, seconds=processor.busy_seconds())

    async def _run_stage(self, pool: ProcessorPool, work: Work) -> Move:
        try:
            move = await pool.stage.run(work)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task and task.cancelling():
                raise
            raise RuntimeError(
                "the stage raised CancelledError, but its task was not cancelled"
            ) from error
        if not isinstance(move, get_args(Move)):
            raise TypeError(f"the stage returned {move!r}, which is not a move")
        return move

    async def _handle_error(self, work: Work, error: BaseException) -> Outcome:
        expected = isinstance(error, AppError | TimeoutError)
        waits = isinstance(error, RetryLater)
        log.log(
            logging.INFO if waits else logging.WARNING,
            "stage waits" if waits else "stage failed",
            extra={
                "item": work.id,
                "phase": f"{work.kind}/{work.stage}",
                "error": describe_error(error),
            },
            exc_info=None if expected else error,
        )
        failed_before: ItemId | None = None
        if classify_error(error) == "transient":
            try:
                async with self._task_db.transaction() as tx:
                    fingerprint = fingerprint_error(error)
                    failed_before = await store.find_earlier_failure(tx, work, fingerprint)
            except DATABASE_ERRORS:
                # Without the database this cannot be checked; the retry count still limits the retries.
                log.warning("could not check for earlier failures", extra={"item": work.id})
        return outcome_of_error(work, error, failed_before=failed_before)

    def _put(self, work: Work, outcome: Outcome) -> None:
        self._settler.put(prepare_settlement(work, outcome, self._stages))

    async def _keep_lease(self) -> None:
        """Send heartbeats on a dedicated connection: stages and saves may use up all of theirs."""
        duration = self._lease.duration.total_seconds()
        # A worker that drains is usually done by then, and needs no such connection.
        await asyncio.sleep(duration / 10)
        while True:
            try:
                async with await open_connection(
                    self._db.direct_url, answer_limit=duration / 4
                ) as connection:
                    while True:
                        await self._renew_or_register(connection)
                        await asyncio.sleep(duration / 10)
            except DATABASE_ERRORS as error:
                log.warning("heartbeat failed", extra={"error": describe_error(error)})
                await asyncio.sleep(min(0.5, duration / 10))

    async def _renew_or_register(self, connection: Tx) -> None:
        sent_at = time.monotonic()
        worker = self._lease.worker
        # In a transaction, so that a connection that loses the answers to COMMIT fails here just as it
        # fails for settlements.
        if worker == NO_LEASE:
            async with connection.transaction():
                worker = await leases.register_worker(connection, self._name, self._lease.duration)
            self._start_lease(worker, sent_at)
            return
        processors = [row for pool in self._pools.values() for row in pool.snapshot()]
        async with connection.transaction():
            heartbeat = await leases.send_heartbeat(connection, worker, processors)
        if not heartbeat.alive:
            self._abandon_lease("it lapsed")
        elif worker == self._lease.worker:
            self._lease.renew(sent_at)
            await self._compare_schema(connection, heartbeat.newest_migration)

    def _start_lease(self, worker: int, sent_at: float) -> None:
        self._lease.start(worker, sent_at)
        self._claimer.resume()

    async def _compare_schema(self, tx: Tx, newest: str) -> None:
        """Stop claiming while the schema is newer than this code, which would fail item after item."""
        claimer = self._claimer
        was_outdated, claimer.outdated = claimer.outdated, newest > self._newest_migration
        if claimer.outdated == was_outdated:
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

    async def _release_unknown_claims(self, tx: Tx) -> None:
        await leases.release_unknown_claims(
            tx, self._lease.worker, self._claimer.claims(), older_than=dt.timedelta(seconds=30)
        )

    def _abandon_lease(self, reason: str) -> None:
        """Give up a lost lease: cancel its runs and drop their outcomes. The next heartbeat registers again."""
        log.warning("lease lost", extra={"worker": self._lease.worker, "reason": reason})
        self._lease.end()
        self._settler.drop_all()
        for pool in self._pools.values():
            pool.take_unstarted()
            for processor in pool.processors:
                # Another worker may run the item now, so the side effects of this run would happen twice.
                if processor.state == "busy" and not processor.cancel_reason:
                    processor.cancel("lease lost")

    async def _watch_runs(self) -> None:
        """Notice a lost lease, and cancel runs that take too long.

        A run that ignores its cancellation is failed, and another processor takes its place.
        """
        while True:
            await asyncio.sleep(min(1.0, self._shortest_limit() / 4))
            if reason := self._lease.why_lost():
                self._abandon_lease(reason)
            for pool in self._pools.values():
                for work in pool.take_stale():
                    self._put(work, Release("its worker is busy"))
                limit = pool.stage.run_limit.total_seconds()
                for processor in pool.processors:
                    if processor.busy_seconds() <= limit:
                        continue
                    if not processor.cancel_reason:
                        processor.cancel("overdue")
                    elif processor.busy_seconds() > limit + self._grace:
                        self._replace_stuck(pool, processor)

    def _shortest_limit(self) -> float:
        limits = [pool.stage.run_limit.total_seconds() for pool in self._pools.values()]
        return min([*limits, self._lease.duration.total_seconds()])

    def _replace_stuck(self, pool: ProcessorPool, processor: Processor) -> None:
        work = processor.work
        assert work
        log.error("processor stuck", extra={"item": work.id, "phase": f"{pool.kind}/{pool.name}"})
        outcome = outcome_of_error(work, TimeoutError("kept running after its run was cancelled"))
        self._put(work, outcome)
        self._count(pool, outcome, processor.busy_seconds())
        processor.state = "error"
        processor.work = None
        pool.drop_ended_processors()
        stuck = sum(processor.state == "error" for processor in pool.processors)
        if stuck <= pool.stage.processors:
            replacement = Processor(len(pool.processors) + 1)
            pool.processors.append(replacement)
            self._start(pool, replacement)

    async def _listen(self) -> None:
        while True:
            try:
                async for payload in listen(self._db.direct_url, store.CHANNEL):
                    if payload == FEED_PAYLOAD:
                        for event in self._feed_events:
                            event.set()
                    self._claimer.wake()
            except DATABASE_ERRORS as error:
                log.warning("not listening", extra={"error": describe_error(error)})
            await asyncio.sleep(1.0)

    async def _repeat_task(self, task: PeriodicTask) -> None:
        # One event per task: a notification that arrives during its scan must trigger another scan.
        notified = asyncio.Event()
        if task.on_feed_notify:
            self._feed_events.append(notified)
        # One after another: a worker that drains needs one connection for all of them.
        async with self._first_runs:
            result = await self._run_task(task)
        while True:
            if result is not True:
                seconds = result if isinstance(result, float) else task.every
                await _wait_for_event(notified, seconds)
            result = await self._run_task(task)

    async def _run_task(self, task: PeriodicTask) -> object:
        try:
            async with self._task_db.transaction() as tx:
                return await task.run(tx)
        # Also a bug in the code of a feed: the items in the queue must still be worked on.
        except Exception as error:
            task.on_failure()
            expected = isinstance(error, (AppError, *DATABASE_ERRORS))
            log.warning(
                "periodic task failed",
                extra={"error": describe_error(error)},
                exc_info=None if expected else error,
            )
            return False


async def _wait_for_event(event: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    event.clear()
