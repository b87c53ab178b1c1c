"""Rate limits per host, shared by all workers and processes."""

from __future__ import annotations

import asyncio
import datetime as dt
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from weakref import WeakValueDictionary

from jobmill.db import Database, Tx, fetch_one, fetch_value
from jobmill.errors import OutsideError

RequestOutcome: TypeAlias = Literal["answered", "failed", "limited", "dropped"]

RESERVATION_LEASE = dt.timedelta(minutes=3)
"""The reservation of a worker that died expires after this time; no request takes as long."""


@dataclass(frozen=True, slots=True)
class HostRateLimit:
    """The rate limit of one host."""

    interval: dt.timedelta = dt.timedelta(seconds=1)
    """Between the starts of two requests."""
    max_concurrent: int = 3
    """Requests that may run at the same time."""
    max_wait: dt.timedelta = dt.timedelta(seconds=60)
    """How long a caller waits before it fails with HostRateLimited."""


class HostRateLimited(OutsideError):
    """The wait for the host would be too long."""

    def __init__(self, host: str, retry_after: dt.timedelta) -> None:
        super().__init__(
            f"the rate limit of {host} allows the next request in about {retry_after.total_seconds():.0f} s"
        )
        self.retry_after = retry_after


@dataclass(slots=True)
class RequestSlot:
    """Permission for one request; its holder sets the outcome."""

    outcome: RequestOutcome = "dropped"
    hold: dt.timedelta | None = None
    """How long the host asked us to wait."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """A request slot in the database."""

    until: dt.datetime
    wait: dt.timedelta
    """From now until the request may start."""


@dataclass(slots=True, weakref_slot=True)
class _HostQueue:
    """Callers of this process that wait for one host; only the first of them queries the database."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


class RateLimiter:
    def __init__(self, db: Database, rate_limit: HostRateLimit) -> None:
        self._db = db
        self._rate_limit = rate_limit
        self._queues: WeakValueDictionary[str, _HostQueue] = WeakValueDictionary()

    @asynccontextmanager
    async def slot(self, host: str) -> AsyncGenerator[RequestSlot]:
        """Wait until a request to `host` may start; raises HostRateLimited if that takes too long. No
        transaction is open while waiting or during the request."""
        reservation = await self._wait_in_queue(host)
        slot = RequestSlot()
        try:
            yield slot
        finally:
            await self._release(host, reservation, slot)

    async def _wait_in_queue(self, host: str) -> Reservation:
        rate_limit, queue = self._rate_limit, self._queues.setdefault(host, _HostQueue())
        expected = rate_limit.interval * queue.waiting
        if expected > rate_limit.max_wait:
            raise HostRateLimited(host, expected)
        deadline = asyncio.get_running_loop().time() + rate_limit.max_wait.total_seconds()
        queue.waiting += 1
        try:
            async with asyncio.timeout_at(deadline):
                await queue.lock.acquire()
        except TimeoutError:
            raise HostRateLimited(host, max(expected, dt.timedelta(seconds=1))) from None
        finally:
            queue.waiting -= 1
        try:
            return await self._reserve(host, deadline)
        finally:
            queue.lock.release()

    async def _reserve(self, host: str, deadline: float) -> Reservation:
        loop, rate_limit = asyncio.get_running_loop(), self._rate_limit
        interval = rate_limit.interval.total_seconds()
        while True:
            left = max(deadline - loop.time(), 0)
            async with self._db.transaction() as tx:
                reservation = await reserve(tx, host, rate_limit, dt.timedelta(seconds=left))
                opens_in = None if reservation else await read_wait_seconds(tx, host, rate_limit)
            if reservation and await self._sleep(host, reservation):
                return reservation
            if opens_in is not None:
                if left == 0 or opens_in >= left:
                    raise HostRateLimited(host, dt.timedelta(seconds=max(opens_in, interval, 1)))
                # All slots are in use, some perhaps by other processes: check again soon.
                await asyncio.sleep(min(max(interval, 0.05), 1) * random.uniform(0.5, 1))

    async def _sleep(self, host: str, reservation: Reservation) -> bool:
        """Wait for the start; False if the host has been put on hold in the meantime."""
        if reservation.wait <= dt.timedelta():
            return True
        try:
            await asyncio.sleep(reservation.wait.total_seconds())
        except asyncio.CancelledError:
            await self._release(host, reservation, RequestSlot())
            raise
        async with self._db.transaction() as tx:
            on_hold = await is_held(tx, host)
            if on_hold:
                await release(tx, host, reservation.until, RequestSlot())
        return not on_hold

    async def _release(self, host: str, reservation: Reservation, slot: RequestSlot) -> None:
        async with self._db.transaction() as tx:
            await release(tx, host, reservation.until, slot)


async def reserve(
    tx: Tx, host: str, rate_limit: HostRateLimit, max_wait: dt.timedelta
) -> Reservation | None:
    """Reserve the next free start at a host; None if all slots are in use or the start is too far
    away."""
    return await fetch_one(
        tx,
        Reservation,
        # `excluded.last_start_at` is the current time, read once; the row is read under its lock.
        """
        INSERT INTO outside.host AS host (name, last_start_at, reservations)
        SELECT %(host)s, at, ARRAY[at + %(lease)s] FROM (SELECT clock_timestamp() AS at) AS now
        ON CONFLICT (name) DO UPDATE
           SET (last_start_at, reservations) = (
               SELECT at, array_append(
                          ARRAY(SELECT until FROM unnest(host.reservations) AS until
                                 WHERE until > excluded.last_start_at),
                          at + %(lease)s)
                 FROM (SELECT greatest(host.last_start_at + greatest(host.crawl_delay, %(interval)s),
                                       host.held_until, excluded.last_start_at) AS at) AS next)
         WHERE (SELECT count(*) FROM unnest(host.reservations) AS until
                 WHERE until > excluded.last_start_at) < %(max_concurrent)s
           AND greatest(host.last_start_at + greatest(host.crawl_delay, %(interval)s), host.held_until)
               <= excluded.last_start_at + %(max_wait)s
        RETURNING reservations[cardinality(reservations)] AS until, last_start_at - clock_timestamp() AS wait
        """,
        {
            "host": host,
            "lease": RESERVATION_LEASE,
            # Never zero: reservations are identified by their times.
            "interval": max(rate_limit.interval, dt.timedelta(microseconds=1)),
            "max_concurrent": rate_limit.max_concurrent,
            "max_wait": max_wait,
        },
    )


async def read_wait_seconds(tx: Tx, host: str, rate_limit: HostRateLimit) -> float | None:
    """Seconds until the next request may start, ignoring slots in use."""
    return await fetch_value(
        tx,
        float,
        """
        SELECT extract(epoch FROM
                   greatest(last_start_at + greatest(crawl_delay, %s), held_until) - clock_timestamp())
          FROM outside.host WHERE name = %s
        """,
        [rate_limit.interval, host],
    )


async def is_held(tx: Tx, host: str) -> bool:
    """Whether the host is on hold."""
    return bool(
        await fetch_value(
            tx,
            bool,
            "SELECT held_until > clock_timestamp() FROM outside.host WHERE name = %s",
            [host],
        )
    )


async def release(tx: Tx, host: str, reservation: dt.datetime, slot: RequestSlot) -> None:
    """Release a reservation. A host that limits us or fails repeatedly is put on hold for all
    workers, for a time that doubles each time, with jitter."""
    await tx.execute(
        """
        UPDATE outside.host
           SET reservations = array_remove(reservations, %(reservation)s),
               failures = CASE %(outcome)s WHEN 'answered' THEN 0
                                           WHEN 'dropped' THEN failures
                                           ELSE least(failures + 1, 20) END,
               held_until = greatest(held_until, clock_timestamp() + CASE %(outcome)s
                   WHEN 'limited' THEN coalesce(%(hold)s::interval,
                       least(60 * 2 ^ failures, 3600) * (1 + random()) / 2 * interval '1 s')
                   -- A single failure may concern one page only.
                   WHEN 'failed' THEN CASE WHEN failures > 0 THEN
                       least(2 ^ failures, 300) * (1 + random()) / 2 * interval '1 s' END
                   END)
         WHERE name = %(host)s
        """,
        {"host": host, "reservation": reservation, "outcome": slot.outcome, "hold": slot.hold},
    )
