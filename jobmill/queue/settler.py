"""Settles items that ran: writes their outcomes to the database in batches, on one connection.

While one batch is being written, processors finish and more outcomes arrive. So batches grow under load,
and a single outcome is settled at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from functools import partial

import psycopg
from psycopg import errors

from jobmill.db import Tx
from jobmill.queue import item_log, leases
from jobmill.queue.held_lease import NO_LEASE, HeldLease
from jobmill.queue.items import Claim
from jobmill.queue.refusals import log_refused_spawns
from jobmill.queue.retry import describe_error
from jobmill.queue.settlement import (
    TERMINAL_STATUS,
    Settlement,
    SettlementResult,
    prepare_settlement,
    settle_batch,
)
from jobmill.queue.stages import Fail, Stages
from jobmill.queue.worker_connections import connect_worker, repeat_connected

log = logging.getLogger(__name__)

MAX_MOVES_PER_BATCH = 300
"""Outcomes in one statement that requeue an item: that statement is planned for few rows."""

MAX_BYTES_PER_BATCH = 64 * 1024 * 1024

MAX_FINAL_BATCHES = 20
"""Batches that a stopping worker settles before it releases the remaining claims."""

UNSTORABLE_ERRORS = (
    psycopg.DataError,
    psycopg.IntegrityError,
    errors.RaiseException,
    errors.ProgramLimitExceeded,
    errors.StatementTooComplex,
)
"""Errors for values that the server cannot store."""

RACE_ERRORS = (errors.DeadlockDetected, errors.SerializationFailure)
"""Two transactions conflicted: neither is wrong, and repeating it helps."""

SETTLE_RACE_ERRORS = (*RACE_ERRORS, errors.UniqueViolation)
"""Unique keys of the queue are violated only by a race; those of a `save` may be a bug in the stage."""

TIMEOUT_ERRORS = (errors.LockNotAvailable, errors.QueryCanceled)
"""A statement took too long, usually because another transaction holds a lock."""


class Settler:
    def __init__(self, url: str, stages: Stages, lease: HeldLease, *, answer_limit: float) -> None:
        self.on_settled: Callable[[], None] = lambda: None
        """Called after each batch: items that it advanced, spawned or woke may be due."""
        self._stages = stages
        self._lease = lease
        self._connect = partial(connect_worker, url, answer_limit)
        self._unsettled: list[Settlement] = []
        self._in_flight: list[Settlement] = []
        self._in_doubt: set[Claim] = set()
        self._has_unsettled = asyncio.Event()

    def put(self, settlement: Settlement) -> None:
        """Settle it soon, or drop it if it was claimed under a lease that is lost."""
        if settlement.work.worker != self._lease.worker:
            log.warning("outcome dropped, lease lost", extra={"item": settlement.work.id})
            return
        self._unsettled.append(settlement)
        self._has_unsettled.set()

    def drop_all(self) -> None:
        """Forget every outcome, because the lease is lost."""
        self._unsettled.clear()
        self._in_doubt.clear()

    def count_unsettled(self) -> int:
        return len(self._unsettled)

    def claims(self) -> list[Claim]:
        """The claims of items that ran and are not settled yet."""
        return [settlement.work.claim for settlement in [*self._unsettled, *self._in_flight]]

    async def run(self) -> None:
        """Settle until cancelled; while the database is unreachable, outcomes wait and none is dropped."""

        async def begin(connection: Tx) -> None:
            if self._unsettled:
                self._has_unsettled.set()

        async def step(connection: Tx) -> None:
            await self._has_unsettled.wait()
            await self._settle(connection)

        # A transaction that locks one item must not delay the settlement of all the others.
        await repeat_connected(partial(self._connect, lock_timeout="500ms"), begin, step)

    async def finish(self) -> None:
        """Settle what is left, release every other claim, and sign off: the worker stops."""
        if self._lease.worker == NO_LEASE:
            return
        async with await self._connect() as connection:
            for _ in range(MAX_FINAL_BATCHES):
                if not self._unsettled:
                    break
                await self._settle(connection)
            await leases.release_unknown_claims(connection, self._lease.worker)
            await leases.sign_off(connection, self._lease.worker)

    async def _settle(self, connection: Tx) -> None:
        self._has_unsettled.clear()
        self._in_flight = self._take_batch()
        try:
            with self._lease.outages.watch():
                results = await self._write(connection, self._lease.worker, self._in_flight)
        except SETTLE_RACE_ERRORS:
            self._put_back(self._in_flight)
        except (*UNSTORABLE_ERRORS, *TIMEOUT_ERRORS) as error:
            log.warning("settling a batch one by one", extra={"error": describe_error(error)})
            await self._settle_one_by_one(connection, self._lease.worker, self._in_flight)
        except BaseException:
            # The worker stops or the server is unreachable, so no item is at fault. The batch may have been
            # committed: settling it again finds out, because the fence refuses a second settlement.
            self._put_back_in_doubt(self._in_flight)
            raise
        else:
            self._log(results)
        finally:
            self._in_flight = []
        self.on_settled()

    async def _write(
        self, connection: Tx, worker: int, batch: Sequence[Settlement]
    ) -> list[SettlementResult]:
        async with connection.transaction():
            results = await settle_batch(connection, worker, batch)
            if any(type(settlement.outcome) not in TERMINAL_STATUS for settlement in batch):
                await leases.notify_idle_workers(connection, worker)
        return results

    def _take_batch(self) -> list[Settlement]:
        """Take every outcome, or as many as one statement should carry."""
        size = moves = count = 0
        for settlement in self._unsettled:
            size += len(settlement.row)
            moves += type(settlement.outcome) not in TERMINAL_STATUS
            if count and (size > MAX_BYTES_PER_BATCH or moves > MAX_MOVES_PER_BATCH):
                break
            count += 1
        batch, self._unsettled = self._unsettled[:count], self._unsettled[count:]
        if self._unsettled:
            self._has_unsettled.set()
        return batch

    def _put_back(self, batch: Sequence[Settlement]) -> None:
        current = [
            settlement for settlement in batch if settlement.work.worker == self._lease.worker
        ]
        self._unsettled = [*current, *self._unsettled]
        self._has_unsettled.set()

    def _put_back_in_doubt(self, batch: Sequence[Settlement]) -> None:
        """Settle it again: the answer was lost, so the result of the commit is unknown."""
        self._in_doubt.update(settlement.work.claim for settlement in batch)
        self._put_back(batch)

    def _log(self, results: Sequence[SettlementResult]) -> None:
        log_results(results, in_doubt=self._in_doubt)
        self._in_doubt.difference_update(result.work.claim for result in results)

    async def _settle_one_by_one(
        self, connection: Tx, worker: int, batch: Sequence[Settlement]
    ) -> None:
        """Find the outcome that PostgreSQL refuses, and fail only its item."""
        for index, settlement in enumerate(batch):
            try:
                with self._lease.outages.watch():
                    results = await self._write(connection, worker, [settlement])
            except (*SETTLE_RACE_ERRORS, *TIMEOUT_ERRORS):
                self._put_back([settlement])
            except UNSTORABLE_ERRORS as error:
                text = describe_error(error)
                message = f"PostgreSQL cannot store what the stage returned: {text}"
                fail = Fail(message, "permanent", text, "")
                self._put_back([prepare_settlement(settlement.work, fail, self._stages)])
            except BaseException:
                self._put_back_in_doubt(batch[index:])
                raise
            else:
                self._log(results)


def log_results(results: Sequence[SettlementResult], *, in_doubt: Collection[Claim] = ()) -> None:
    """Log lost leases, refused children, and what became of the items.

    `in_doubt`: claims that may have been settled before, by a commit that was never answered.
    """
    for result in results:
        if result.lost and result.work.claim in in_doubt:
            log.info("already settled, or lease lost", extra={"item": result.work.id})
        elif result.lost:
            log.warning("lease lost, nothing written", extra={"item": result.work.id})
        if result.children:
            log_refused_spawns(result.children)
    item_log.log_settled(results)
