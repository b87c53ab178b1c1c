"""Two connections: one claims what comes next, the other settles what was run, a batch at a time.

While a batch is under way in the database, processors finish and their outcomes pile up, so batches
form by themselves under load, and a lone item is settled at once.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

import psycopg
from psycopg import errors

from jobmill.db import Tx, open_connection
from jobmill.queue import leases, start_rate, store
from jobmill.queue.items import Claim, RefusedItem
from jobmill.queue.outages import Outages
from jobmill.queue.processor_pool import ProcessorPool
from jobmill.queue.retry import describe_error
from jobmill.queue.settlement import (
    TERMINAL_STATUS,
    Settlement,
    SettlementResult,
    prepare_settlement,
    settle_batch,
)
from jobmill.queue.stages import Fail, Stages
from jobmill.queue.store import ClaimPosition, ClaimRequest

log = logging.getLogger(__name__)

POLL_INTERVAL = 1.0
"""Seconds after which an idle pump looks by itself, whether or not it was notified."""

FIRST_NAPS = (0.02, 0.1, 0.5)
"""First naps after we asked to be notified: who did not see that yet has committed by then."""

RESTART_SCAN_EVERY = 0.5
"""Seconds for which a busy claim may skip what it passed; then late committers are looked for."""

CHECK_PARKED_EVERY = 0.25
"""Seconds between looks at what waits for its time while there is no rest; a resting pump knows when."""

INDEX_PLANS: Mapping[str, str] = {
    "enable_seqscan": "off",
    "plan_cache_mode": "force_generic_plan",
}
"""Every statement of a worker finds a few hundred rows by index, so it is planned once, and for that,
even if it is planned while the tables are still small enough to be read whole."""

MAX_MOVES_PER_BATCH = 300
MAX_BYTES_PER_BATCH = 64 * 1024 * 1024
"""Outcomes in one statement that move an item on (it is planned for few), and bytes of outcomes."""

MAX_UNSETTLED = 1_500
"""Outcomes that may wait to be settled before nothing more is claimed."""

MAX_FINAL_BATCHES = 20
"""Batches that a stopping worker settles; what is left then is given back."""

UNSTORABLE_ERRORS = (
    psycopg.DataError,
    psycopg.IntegrityError,
    errors.RaiseException,
    errors.ProgramLimitExceeded,
    errors.StatementTooComplex,
)
"""What the server says of values that it cannot keep."""

RACE_ERRORS = (errors.DeadlockDetected, errors.SerializationFailure)
"""Two transactions got in each other's way: nothing is wrong, it is done again."""

SETTLE_RACE_ERRORS = (*RACE_ERRORS, errors.UniqueViolation)
"""The queue's own unique keys are a race, too; those of a `save` may be a fault of the stage."""

TIMEOUT_ERRORS = (errors.LockNotAvailable, errors.QueryCanceled)
"""A statement took too long, most often for a lock that another transaction holds."""


NO_LEASE = 0
"""The worker id while there is none: no row of `queue.worker` has it, so no statement passes the fence."""


class Pump:
    def __init__(
        self,
        url: str,
        stages: Stages,
        pools: Mapping[tuple[str, str], ProcessorPool],
        *,
        notified: bool,
        answer_limit: float,
    ) -> None:
        self.worker = NO_LEASE
        self.claiming = True
        self.outdated = False
        """The schema is newer than this code: what runs is settled, nothing more is claimed."""
        self.outages = Outages()
        self.quiet = asyncio.Event()
        self._url = url
        self._stages = stages
        self._pools = pools
        self._rated = {phase: rate for phase, pool in pools.items() if (rate := pool.stage.rate)}
        self.notified = notified
        self._outbox: list[Settlement] = []
        self._settling: list[Settlement] = []
        self._in_doubt: set[Claim] = set()
        self._answer_limit = answer_limit
        self._unsettled = asyncio.Event()
        self._awake = asyncio.Event()
        self._hungry = True
        self._flagged = False
        self._streak = 0
        self._naps = list(FIRST_NAPS)
        self._look_again = 0.0
        self._window_at = math.inf
        self._started_over = 0.0

    def put(self, settlement: Settlement) -> None:
        """Settle it soon, unless it was claimed under a lease that is lost: then the claim is void."""
        if settlement.work.worker != self.worker:
            log.warning("outcome dropped, lease lost", extra={"item": settlement.work.id})
            return
        self._outbox.append(settlement)
        self._unsettled.set()

    def wake(self) -> None:
        """There may be something to claim."""
        self._hungry = True
        self._awake.set()

    def enlist(self, worker: int) -> None:
        """Work under this id from now on."""
        self.worker = worker
        self._flagged = False
        self.wake()

    def abandon(self) -> None:
        """The lease is lost: drop every outcome of it, and claim nothing until there is a new one."""
        self.worker = NO_LEASE
        self._outbox.clear()
        self._in_doubt.clear()
        self.outages.clear()

    async def claim(self) -> None:
        """Claim until cancelled; a database that goes away is waited for."""

        async def begin(connection: Tx) -> None:
            # The last connection may have died between a claim's commit and its answer.
            await leases.release_unknown_claims(connection, self.worker, self.held())
            self._flagged = False

        await self._connected(begin, self.claim_or_sleep)

    async def settle(self) -> None:
        """Settle until cancelled; while the database is away, outcomes wait and none is dropped."""

        async def begin(connection: Tx) -> None:
            if self._outbox:
                self._unsettled.set()

        async def step(connection: Tx) -> None:
            await self._unsettled.wait()
            await self._settle(connection)

        # A transaction that locks a row of one item must not keep all the others waiting.
        await self._connected(begin, step, lock_timeout="500ms")

    async def leave(self) -> None:
        """Settle what is left and hold nothing any more, for a worker that stops."""
        if self.worker == NO_LEASE:
            return
        async with await self._connect() as connection:
            for _ in range(MAX_FINAL_BATCHES):
                if not self._outbox:
                    break
                await self._settle(connection)
            await leases.release_unknown_claims(connection, self.worker)
            await leases.sign_off(connection, self.worker)

    async def _connected(
        self,
        begin: Callable[[Tx], Awaitable[None]],
        step: Callable[[Tx], Awaitable[None]],
        **options: str,
    ) -> None:
        patience = 0.1
        while True:
            try:
                async with await self._connect(**options) as connection:
                    await begin(connection)
                    patience = 0.1
                    while True:
                        await step(connection)
            except psycopg.Error as error:
                log.warning("database went away", extra={"error": describe_error(error)})
                await asyncio.sleep(patience)
                patience = min(patience * 2, 2.0)

    async def _connect(self, **options: str) -> Tx:
        """A connection on which neither the server nor a silent network can keep us past our lease."""
        return await open_connection(
            self._url, options={**INDEX_PLANS, **options}, answer_limit=self._answer_limit
        )

    def held(self) -> list[Claim]:
        """The claims in this process: waiting, running, or run and not yet settled."""
        unsettled = [settlement.work.claim for settlement in [*self._outbox, *self._settling]]
        return unsettled + [claim for pool in self._pools.values() for claim in pool.held()]

    async def _settle(self, connection: Tx) -> None:
        self._unsettled.clear()
        self._settling = self._take()
        try:
            with self.outages.watch():
                answers = await self._settle_batch(connection, self.worker, self._settling)
        except SETTLE_RACE_ERRORS:
            self._put_back(self._settling)
        except (*UNSTORABLE_ERRORS, *TIMEOUT_ERRORS) as error:
            log.warning("a batch is settled apart", extra={"error": describe_error(error)})
            await self._settle_apart(connection, self.worker, self._settling)
        except BaseException:
            # The worker stops, or the server is away: no item's fault. It may have committed or not:
            # settling it again finds out, by the fence.
            self._doubt(self._settling)
            raise
        else:
            self._report(answers)
        finally:
            self._settling = []
        # What was advanced, spawned or waited for may be due.
        self.wake()

    async def _settle_batch(
        self, connection: Tx, worker: int, batch: Sequence[Settlement]
    ) -> list[SettlementResult]:
        async with connection.transaction():
            answers = await settle_batch(connection, worker, batch)
            if any(type(settlement.outcome) not in TERMINAL_STATUS for settlement in batch):
                await leases.notify_idle_workers(connection, worker)
        return answers

    def _take(self) -> list[Settlement]:
        """What is settled next: everything, unless that would be too much for one statement."""
        size = moves = taken = 0
        for one in self._outbox:
            size += len(one.row)
            moves += type(one.outcome) not in TERMINAL_STATUS
            if taken and (size > MAX_BYTES_PER_BATCH or moves > MAX_MOVES_PER_BATCH):
                break
            taken += 1
        batch, self._outbox = self._outbox[:taken], self._outbox[taken:]
        if self._outbox:
            self._unsettled.set()
        return batch

    def _put_back(self, batch: Sequence[Settlement]) -> None:
        held = [settlement for settlement in batch if settlement.work.worker == self.worker]
        self._outbox = [*held, *self._outbox]
        self._unsettled.set()

    def _doubt(self, batch: Sequence[Settlement]) -> None:
        """Settle it again: the answer was lost on the way, so its result is unknown."""
        self._in_doubt.update(settlement.work.claim for settlement in batch)
        self._put_back(batch)

    def _report(self, answers: Sequence[SettlementResult]) -> None:
        log_results(answers, in_doubt=self._in_doubt)
        self._in_doubt.difference_update(answer.work.claim for answer in answers)

    async def _settle_apart(self, connection: Tx, worker: int, batch: Sequence[Settlement]) -> None:
        """Find the one outcome that PostgreSQL refuses, and fail that item alone."""
        for n, settlement in enumerate(batch):
            try:
                with self.outages.watch():
                    answers = await self._settle_batch(connection, worker, [settlement])
            except (*SETTLE_RACE_ERRORS, *TIMEOUT_ERRORS):
                self._put_back([settlement])
            except UNSTORABLE_ERRORS as error:
                text = describe_error(error)
                what = f"What the stage answered cannot be kept: {text}"
                fail = Fail(what, "permanent", text, "")
                self._put_back([prepare_settlement(settlement.work, fail, self._stages)])
            except BaseException:
                self._doubt(batch[n:])
                raise
            else:
                self._report(answers)

    async def claim_or_sleep(self, connection: Tx) -> None:
        """One turn: claim what the pools have room for, or sleep until there may be something."""
        await self._look_at_parked(connection)
        wants = self._wants()
        if not wants or not self._hungry:
            await self._sleep(connection, wants)
            return
        self.quiet.clear()
        # From here on whoever calls `wake` is heard.
        self._hungry = False
        worker = self.worker
        # The processors run while this waits for the database.
        claimed = await self._claim(connection, wants)
        if worker != self.worker:
            # The lease was lost meanwhile: these are given back with everything else it held.
            return
        self._deliver(claimed, wants)
        await self._unflag_when_busy(connection, bool(claimed))

    def _wants(self) -> list[ClaimRequest]:
        if not self._may_claim() or len(self._outbox) > MAX_UNSETTLED:
            return []
        now = time.monotonic()
        if now - self._started_over > RESTART_SCAN_EVERY:
            self._started_over = now
            self._start_over()
        return [want for pool in self._pools.values() if (want := pool.want())]

    def _may_claim(self) -> bool:
        return self.claiming and not self.outdated and self.worker != NO_LEASE

    def _start_over(self) -> None:
        for pool in self._pools.values():
            pool.mark = ClaimPosition()

    async def _claim(
        self, connection: Tx, wants: Sequence[ClaimRequest]
    ) -> list[store.ClaimedItem]:
        if not self._rated:
            # One statement is a transaction of its own, and a lone item starts that much sooner.
            return await store.claim_items(connection, self.worker, wants)
        async with connection.transaction():
            allowed = [await self._allowed(connection, want) for want in wants]
            claimed = await store.claim_items(
                connection, self.worker, [want for want in allowed if want.limit]
            )
            started = Counter((one.work.kind, one.work.stage) for one in claimed)
            counted = {phase: n for phase, n in started.items() if phase in self._rated}
            await start_rate.record_starts(connection, counted)
        return claimed

    async def _allowed(self, connection: Tx, want: ClaimRequest) -> ClaimRequest:
        """As much of it as the phase's start rate leaves."""
        rate = self._rated.get((want.kind, want.stage))
        if rate is None:
            return want
        allowance = await start_rate.lock_allowance(connection, (want.kind, want.stage), rate)
        if allowance.starts < want.limit:
            self._window_at = min(self._window_at, time.monotonic() + allowance.opens_in)
        return want._replace(limit=min(want.limit, allowance.starts))

    def _deliver(self, claimed: Sequence[store.ClaimedItem], wants: Sequence[ClaimRequest]) -> None:
        found: dict[tuple[str, str], list[store.ClaimedItem]] = {}
        for one in claimed:
            found.setdefault((one.work.kind, one.work.stage), []).append(one)
        hungry = False
        for want in wants:
            got = found.get((want.kind, want.stage), [])
            pool = self._pools[want.kind, want.stage]
            # A claim that comes back short starts from the beginning next time; if it had skipped
            # anything, next time is now.
            full = len(got) >= want.limit
            hungry = hungry or full or want.after != ClaimPosition()
            pool.mark = got[-1].mark if full else ClaimPosition()
            if got:
                pool.give([one.work for one in got])
        self._hungry = self._hungry or hungry

    async def _look_at_parked(self, connection: Tx) -> None:
        now = time.monotonic()
        if now >= self._window_at:
            self._window_at = math.inf
            self._hungry = True
        if now < self._look_again:
            return
        self._look_again = now + CHECK_PARKED_EVERY
        if self.claiming and await store.unpark_due_items(connection):
            self._start_over()
            self._hungry = True

    async def _sleep(self, connection: Tx, wants: Sequence[ClaimRequest]) -> None:
        if wants and self.notified and not self._flagged:
            # Ask to be notified, then look once more: what came in between told nobody.
            await leases.set_idle(connection, self.worker, True)
            self._flagged = self._hungry = True
            self._naps = list(FIRST_NAPS)
            return
        due = await store.seconds_until_next_due(connection)
        self._look_again = time.monotonic() + (
            POLL_INTERVAL if due is None else min(max(due, 0.0), POLL_INTERVAL)
        )
        settled = not self._outbox and not self._settling
        resting = settled and not self._awake.is_set() and not (wants and self._hungry)
        resting = resting and self.worker != NO_LEASE
        if resting and not any(pool.busy() for pool in self._pools.values()):
            self.quiet.set()
        nap = self._naps.pop(0) if self._naps else POLL_INTERVAL
        soon = min(self._look_again, self._window_at) - time.monotonic()
        try:
            # A worker that stops has nothing to look for.
            async with asyncio.timeout(
                min(nap, max(soon, 0.0)) if self.claiming else POLL_INTERVAL
            ):
                await self._awake.wait()
        except TimeoutError:
            self._hungry = True
        self._awake.clear()

    async def _unflag_when_busy(self, connection: Tx, claimed: bool) -> None:
        """Under load nobody needs to notify us, and those who put work in are spared the lock."""
        self._streak = self._streak + 1 if claimed else 0
        if self._flagged and self._streak > 10:
            self._flagged = False
            await leases.set_idle(connection, self.worker, False)


def log_results(answers: Sequence[SettlementResult], *, in_doubt: Collection[Claim] = ()) -> None:
    """Log lost leases and refused children.

    `in_doubt`: claims that may have been settled before, by a commit whose answer was lost.
    """
    for answer in answers:
        if answer.lost and answer.work.claim in in_doubt:
            log.info("settled before, or lease lost", extra={"item": answer.work.id})
        elif answer.lost:
            log.warning("lease lost, nothing written", extra={"item": answer.work.id})
        for child in answer.children:
            if isinstance(child, RefusedItem):
                log.warning(
                    "spawn refused",
                    extra={
                        "item": answer.work.id,
                        "tracking_id": answer.work.tracking_id,
                        "reason": child.message,
                    },
                )
