"""Runs leased work: one stage, one move, one transaction; stops cleanly, survives anything else."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, get_args

import psycopg

from jobmill.db import GONE, Database, Tx, connect, open_connection
from jobmill.errors import AppError
from jobmill.queue import admission, crew, store
from jobmill.queue.feed import FEED
from jobmill.queue.pool import Pool, Processor
from jobmill.queue.pump import FEW_ROWS, Pump
from jobmill.queue.retry import classify, describe, fingerprint, judge
from jobmill.queue.saver import Saver
from jobmill.queue.settle import Settlement, needs_own_transaction, prepare
from jobmill.queue.tally import Tally
from jobmill.queue.work import Move, Outcome, Release, Stages, Work

log = logging.getLogger(__name__)

LEASE = dt.timedelta(seconds=20)
"""How long a worker that does not beat keeps what it holds."""

TROUBLE = (psycopg.Error, *GONE)
"""Whatever the database says no to, from being away to being read-only: it passes."""

SAVERS = 4
"""Connections on which moves with a `save` commit, apart from those of heartbeats and stages."""

GRACE = dt.timedelta(seconds=10)
"""What a stopping worker gives to what runs, and an overdue stage to end after its cancellation."""


@dataclass(frozen=True, slots=True)
class Chore:
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
        chores: Sequence[Chore] = (),
        poll_only: bool = False,
        lease: dt.timedelta = LEASE,
        grace: dt.timedelta = GRACE,
    ) -> None:
        phases = stages if only is None else {phase: stages[phase] for phase in only}
        self._db = db
        self._stages = stages
        self._pools = {phase: Pool(*phase, stage) for phase, stage in phases.items()}
        self._pump = Pump(db.url, stages, self._pools, notified=not poll_only)
        self._tally = Tally()
        self._lease = lease
        self._grace = grace.total_seconds()
        self._chores: list[Chore] = [
            Chore(lease.total_seconds() / 4, crew.rescue),
            Chore(5.0, store.wake_orphans),
            Chore(2.0, self._tally.write),
            Chore(60.0, self._give_back_unknown),
            *chores,
        ]
        self._stop = asyncio.Event()
        self._told: list[asyncio.Event] = []
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._saver: Saver
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
            await admission.declare(tx, self._stages)
        async with connect(self._db.url, size=SAVERS, options=FEW_ROWS) as apart:
            self._saver = Saver(apart, self._pump)
            async with self._employed():
                yield

    @asynccontextmanager
    async def _employed(self) -> AsyncGenerator[None]:
        await self._join()
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
        savers = [self._saver.run() for _ in range(SAVERS)]
        pump = [self._pump.claim(), self._pump.settle()]
        return [*pump, *savers, *listening, *chores, self._beat(), self._mind_time()]

    async def _join(self) -> None:
        async with self._db.transaction() as tx:
            self._pump.enlist(await crew.join(tx, self._name, self._lease))

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
            async with self._db.transaction() as tx:
                await self._tally.write(tx)
        except TROUBLE as error:
            # Then our lease runs out and another worker gives back what we held.
            log.warning("could not sign off", extra={"error": describe(error)})

    def _processors(self) -> list[Processor]:
        return [processor for pool in self._pools.values() for processor in pool.processors]

    def _start(self, pool: Pool, processor: Processor) -> None:
        processor.task = asyncio.create_task(self._process(pool, processor))

    async def _process(self, pool: Pool, processor: Processor) -> None:
        while work := await self._next(pool, processor):
            processor.begin(work)
            try:
                one, settled = await self._attempt(pool, work)
            except asyncio.CancelledError:
                if not self._was_overdue(processor):
                    raise
                limit = pool.stage.run_limit.total_seconds()
                late = judge(work, TimeoutError(f"ran longer than {limit:g} s"))
                one, settled = prepare(work, late, self._stages), False
            # Where it ended by itself in the moment of its cancellation, the next one is not to blame.
            self._was_overdue(processor)
            if processor.state == "error":
                return
            if not settled:
                self._pump.put(one)
            took = processor.rest()
            if settled:
                # Nothing is put in the pump's way that would tell it of the free hand.
                self._pump.wake()
            pool.took(took)
            self.ran += 1
            self._count(pool, one.outcome, took)

    async def _next(self, pool: Pool, processor: Processor) -> Work | None:
        while True:
            try:
                return await pool.take()
            except asyncio.CancelledError:
                # The run that was to be cancelled ended in that very moment.
                if not self._was_overdue(processor):
                    raise

    def _was_overdue(self, processor: Processor) -> bool:
        """Whether we were cancelled for running too long, and not to stop."""
        if not processor.cancelled:
            return False
        processor.cancelled = False
        assert processor.task
        processor.task.uncancel()
        return True

    def _count(self, pool: Pool, outcome: Outcome, seconds: float) -> None:
        self._tally.add(pool.kind, pool.name, type(outcome).__name__.lower(), seconds)

    async def _attempt(self, pool: Pool, work: Work) -> tuple[Settlement, bool]:
        """What to settle, and whether it is settled already."""
        # The stage waits on sites and models, so no transaction is open.
        try:
            move = await self._move(pool, work)
            one = prepare(work, move, self._stages)
            if needs_own_transaction(move):
                await self._saver.save(one, move)
                return one, True
            return one, False
        # The one place that outlives any error: a bad item must not stop the others.
        except Exception as error:  # noqa: BLE001
            return prepare(work, await self._judge(work, error), self._stages), False

    async def _move(self, pool: Pool, work: Work) -> Move:
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
            extra={"item": work.id, "phase": f"{work.kind}/{work.stage}", "error": describe(error)},
            exc_info=None if ours else error,
        )
        seen = False
        if classify(error) == "transient":
            try:
                async with self._db.transaction() as tx:
                    seen = await store.failed_alike(tx, work, fingerprint(error))
            except TROUBLE:
                # Without the database nobody can look; the retry count still bounds it.
                log.warning("could not look for the same error", extra={"item": work.id})
        return judge(work, error, seen_before=seen)

    def _put(self, work: Work, outcome: Outcome) -> None:
        self._pump.put(prepare(work, outcome, self._stages))

    async def _beat(self) -> None:
        """On a connection of its own: stages and saves may hold all of theirs, and must not cost us our lease."""
        while True:
            try:
                async with await open_connection(self._db.url) as connection:
                    while True:
                        await asyncio.sleep(self._lease.total_seconds() / 10)
                        processors = [
                            row for pool in self._pools.values() for row in pool.snapshot()
                        ]
                        if not await crew.beat(connection, self._pump.worker, processors):
                            await self._start_anew()
            except TROUBLE as error:
                log.warning("no heartbeat", extra={"error": describe(error)})
                await asyncio.sleep(0.5)

    async def _give_back_unknown(self, tx: Tx) -> None:
        await crew.disown(
            tx, self._pump.worker, self._pump.held(), older_than=dt.timedelta(seconds=30)
        )

    async def _start_anew(self) -> None:
        """We were paused or cut off past our lease: what we hold is no longer ours."""
        log.warning("lease ran out, starting anew", extra={"worker": self._pump.worker})
        for pool in self._pools.values():
            pool.empty()
        await self._join()

    async def _mind_time(self) -> None:
        """Cancel what runs too long; who ignores that is written off and replaced."""
        while True:
            await asyncio.sleep(min(1.0, self._shortest_limit() / 4))
            for pool in self._pools.values():
                for work in pool.stale():
                    self._put(work, Release("its worker is busy"))
                limit = pool.stage.run_limit.total_seconds()
                for processor in pool.processors:
                    if processor.busy_for() <= limit:
                        continue
                    if not processor.cancelled:
                        processor.cancelled = True
                        assert processor.task
                        processor.task.cancel()
                    elif processor.busy_for() > limit + self._grace:
                        self._write_off(pool, processor)

    def _shortest_limit(self) -> float:
        limits = [pool.stage.run_limit.total_seconds() for pool in self._pools.values()]
        return min(limits, default=1.0)

    def _write_off(self, pool: Pool, processor: Processor) -> None:
        work = processor.work
        assert work
        log.error("processor stuck", extra={"item": work.id, "phase": f"{pool.kind}/{pool.name}"})
        outcome = judge(work, TimeoutError("ran on after its run was cancelled"))
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
                async with await open_connection(self._db.url) as connection:
                    await connection.execute(f"LISTEN {store.CHANNEL}")
                    self._pump.wake()
                    async for notice in connection.notifies():
                        if notice.payload == FEED:
                            for told in self._told:
                                told.set()
                        self._pump.wake()
            except TROUBLE as error:
                log.warning("not listening", extra={"error": describe(error)})
            await asyncio.sleep(1.0)

    async def _do_chore(self, chore: Chore) -> None:
        # One each: whoever is amid a scan must hear what is said meanwhile.
        told = asyncio.Event()
        if chore.when_told:
            self._told.append(told)
        while True:
            again: object = False
            try:
                async with self._db.transaction() as tx:
                    again = await chore.do(tx)
            # Also a fault in a feed's own code: the work that is in the queue must go on.
            except Exception as error:
                known = isinstance(error, (AppError, *TROUBLE))
                log.warning(
                    "chore put off",
                    extra={"error": describe(error)},
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
