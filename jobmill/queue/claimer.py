"""Claims due items for the processor pools of a worker, on one connection."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from jobmill.db import Tx
from jobmill.queue import item_log, leases, start_rate, store
from jobmill.queue.held_lease import NO_LEASE, HeldLease
from jobmill.queue.items import Claim
from jobmill.queue.processor_pool import ProcessorPool
from jobmill.queue.settler import Settler
from jobmill.queue.store import ClaimedItem, ClaimPosition, ClaimRequest
from jobmill.queue.worker_connections import connect_worker, repeat_connected

POLL_INTERVAL = 1.0
"""Seconds after which an idle claimer looks for items even if it was not notified."""

FIRST_WAITS = (0.02, 0.1, 0.5)
"""Seconds of the first waits after the claimer asked for notifications. A transaction that was submitting
an item at that moment did not see the request, and has committed by then."""

RESTART_SCAN_EVERY = 0.5
"""Seconds for which a busy claimer may skip the items it has passed. Then it scans from the start, to
find items that were committed late."""

CHECK_PARKED_EVERY = 0.25
"""Seconds between checks for parked items while the claimer is busy; an idle one knows when they are due."""

MAX_UNSETTLED = 1_500
"""Outcomes that may wait to be settled before the claimer stops claiming."""

BUSY_AFTER = 10
"""Successful claims in a row after which the worker needs no notifications."""


class Claimer:
    def __init__(
        self,
        url: str,
        pools: Mapping[tuple[str, str], ProcessorPool],
        settler: Settler,
        lease: HeldLease,
        *,
        notified: bool,
        answer_limit: float,
    ) -> None:
        self.claiming = True
        self.outdated = False
        """The schema is newer than this code: settle what runs, claim nothing more."""
        self.idle = asyncio.Event()
        """Set while nothing is due, running or unsettled."""
        self.notified = notified
        self._connect = partial(connect_worker, url, answer_limit)
        self._pools = pools
        self._settler = settler
        self._lease = lease
        self._start_rates = {
            phase: rate for phase, pool in pools.items() if (rate := pool.stage.rate)
        }
        self._wake_up = asyncio.Event()
        self._may_have_work = True
        self._asked_for_notify = False
        self._claims_in_a_row = 0
        self._first_waits = list(FIRST_WAITS)
        self._check_parked_at = 0.0
        self._rate_window_opens_at = math.inf
        self._scan_restarted_at = 0.0
        settler.on_settled = self.wake

    def wake(self) -> None:
        """Look for items soon: something may be due."""
        self._may_have_work = True
        self._wake_up.set()

    def resume(self) -> None:
        """Claim under the new lease."""
        self._asked_for_notify = False
        self.wake()

    def claims(self) -> list[Claim]:
        """Every claim in this process: waiting, running, or not yet settled."""
        in_pools = [claim for pool in self._pools.values() for claim in pool.claims()]
        return self._settler.claims() + in_pools

    async def run(self) -> None:
        """Claim until cancelled; wait for a database that is unreachable."""

        async def begin(connection: Tx) -> None:
            # The last connection may have died between the commit of a claim and its answer.
            await leases.release_unknown_claims(connection, self._lease.worker, self.claims())
            self._asked_for_notify = False

        await repeat_connected(self._connect, begin, self.claim_or_wait)

    async def claim_or_wait(self, connection: Tx) -> None:
        """Claim what the pools have room for, or wait until something may be due."""
        await self._check_parked(connection)
        requests = self._requests()
        if not requests or not self._may_have_work:
            await self._wait(connection, requests)
            return
        self.idle.clear()
        # Reset before the claim, so that a call of `wake` during the claim is not lost.
        self._may_have_work = False
        worker = self._lease.worker
        # The processors run while this waits for the database.
        claimed = await self._claim(connection, requests)
        if worker != self._lease.worker:
            # The lease was lost meanwhile: these items are rescued with everything else it held.
            return
        item_log.log_started(item.work for item in claimed)
        self._fill_pools(claimed, requests)
        await self._decline_notify_when_busy(connection, bool(claimed))

    def _requests(self) -> list[ClaimRequest]:
        if not self._may_claim() or self._settler.count_unsettled() > MAX_UNSETTLED:
            return []
        now = time.monotonic()
        if now - self._scan_restarted_at > RESTART_SCAN_EVERY:
            self._scan_restarted_at = now
            self._restart_scan()
        return [request for pool in self._pools.values() if (request := pool.claim_request())]

    def _may_claim(self) -> bool:
        return self.claiming and not self.outdated and self._lease.worker != NO_LEASE

    def _restart_scan(self) -> None:
        for pool in self._pools.values():
            pool.position = ClaimPosition()

    async def _claim(self, connection: Tx, requests: Sequence[ClaimRequest]) -> list[ClaimedItem]:
        if not self._start_rates:
            # A single statement needs no explicit transaction, so a lone item starts that much sooner.
            return await store.claim_items(connection, self._lease.worker, requests)
        async with connection.transaction():
            allowed = [await self._limit_to_rate(connection, request) for request in requests]
            claimed = await store.claim_items(
                connection, self._lease.worker, [request for request in allowed if request.limit]
            )
            started = Counter((item.work.kind, item.work.stage) for item in claimed)
            limited = {phase: n for phase, n in started.items() if phase in self._start_rates}
            await start_rate.record_starts(connection, limited)
        return claimed

    async def _limit_to_rate(self, connection: Tx, request: ClaimRequest) -> ClaimRequest:
        """Reduce a request to what the start rate of its phase still allows."""
        phase = (request.kind, request.stage)
        rate = self._start_rates.get(phase)
        if rate is None:
            return request
        allowance = await start_rate.lock_allowance(connection, phase, rate)
        if allowance.starts < request.limit:
            opens_at = time.monotonic() + allowance.opens_in
            self._rate_window_opens_at = min(self._rate_window_opens_at, opens_at)
        return request._replace(limit=min(request.limit, allowance.starts))

    def _fill_pools(self, claimed: Sequence[ClaimedItem], requests: Sequence[ClaimRequest]) -> None:
        by_phase: dict[tuple[str, str], list[ClaimedItem]] = {}
        for item in claimed:
            by_phase.setdefault((item.work.kind, item.work.stage), []).append(item)
        for request in requests:
            items = by_phase.get((request.kind, request.stage), [])
            pool = self._pools[request.kind, request.stage]
            # A claim that returns fewer items than requested restarts at the beginning. If it had skipped
            # any, it restarts right away.
            full = len(items) >= request.limit
            if full or request.after != ClaimPosition():
                self._may_have_work = True
            pool.position = items[-1].position if full else ClaimPosition()
            if items:
                pool.add([item.work for item in items])

    async def _check_parked(self, connection: Tx) -> None:
        now = time.monotonic()
        if now >= self._rate_window_opens_at:
            self._rate_window_opens_at = math.inf
            self._may_have_work = True
        if now < self._check_parked_at:
            return
        self._check_parked_at = now + CHECK_PARKED_EVERY
        if self.claiming and await store.unpark_due_items(connection):
            self._restart_scan()
            self._may_have_work = True

    async def _wait(self, connection: Tx, requests: Sequence[ClaimRequest]) -> None:
        if requests and self.notified and not self._asked_for_notify:
            # Ask for notifications, then look once more: items submitted in between notified no worker.
            await leases.set_idle(connection, self._lease.worker, True)
            self._asked_for_notify = self._may_have_work = True
            self._first_waits = list(FIRST_WAITS)
            return
        due = await store.seconds_until_next_due(connection)
        until_due = POLL_INTERVAL if due is None else min(max(due, 0.0), POLL_INTERVAL)
        self._check_parked_at = time.monotonic() + until_due
        if self._is_idle(requests):
            self.idle.set()
        seconds = self._first_waits.pop(0) if self._first_waits else POLL_INTERVAL
        until_check = min(self._check_parked_at, self._rate_window_opens_at) - time.monotonic()
        # A stopping worker has nothing to look for.
        seconds = min(seconds, max(until_check, 0.0)) if self.claiming else POLL_INTERVAL
        try:
            async with asyncio.timeout(seconds):
                await self._wake_up.wait()
        except TimeoutError:
            self._may_have_work = True
        self._wake_up.clear()

    def _is_idle(self, requests: Sequence[ClaimRequest]) -> bool:
        may_be_due = self._wake_up.is_set() or (requests and self._may_have_work)
        if may_be_due or self._settler.claims() or self._lease.worker == NO_LEASE:
            return False
        return not any(pool.count_busy() for pool in self._pools.values())

    async def _decline_notify_when_busy(self, connection: Tx, claimed: bool) -> None:
        """Spare producers the NOTIFY, and its lock, while this worker finds items without it."""
        self._claims_in_a_row = self._claims_in_a_row + 1 if claimed else 0
        if self._asked_for_notify and self._claims_in_a_row > BUSY_AFTER:
            self._asked_for_notify = False
            await leases.set_idle(connection, self._lease.worker, False)
