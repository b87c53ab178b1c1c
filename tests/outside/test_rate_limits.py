"""Rate limits shared by tasks, connections and processes."""

from __future__ import annotations

import asyncio
import datetime as dt
from itertools import chain, pairwise
from typing import Any, LiteralString

import pytest

from jobmill.db import Database, Tx, connect
from jobmill.db.cancellation import cancel_tasks
from jobmill.outside.fetch import open_fetch
from jobmill.outside.rate_limits import (
    RESERVATION_LEASE,
    HostRateLimit,
    HostRateLimited,
    RateLimiter,
    RequestOutcome,
    RequestSlot,
    is_held,
    release,
    reserve,
)
from jobmill.outside.request import FetchFailure, Ok, Request
from jobmill.settings import Settings
from tests.cli.forked import ForkedProgram

from . import fetching_process
from .site import Handler, LoopbackSite, ReceivedRequest, ResponseWriter, in_turn, open_site, reply

SECOND = dt.timedelta(seconds=1)
HOUR = dt.timedelta(hours=1)
POLITE = HostRateLimit(SECOND, max_concurrent=100)


async def ask(tx: Tx, sql: LiteralString) -> Any:
    return await (await tx.execute(sql)).fetchall()


async def test_requests_start_one_interval_apart(tx: Tx) -> None:
    reservations = [await reserve(tx, "a.com", POLITE, HOUR) for _ in range(5)]
    moments = [reservation.until for reservation in reservations if reservation]
    assert len(moments) == 5
    assert [b - a for a, b in pairwise(moments)] == [SECOND] * 4
    other = await reserve(tx, "b.com", POLITE, HOUR)
    assert other
    assert other.wait <= dt.timedelta()


async def test_concurrent_connections_get_different_start_times(
    database: Database, url: str
) -> None:
    async def ask_often(db: Database) -> list[dt.datetime]:
        starts: list[dt.datetime] = []
        for _ in range(20):
            async with db.transaction() as tx:
                flight = await reserve(tx, "a.com", POLITE, HOUR)
                assert flight
                starts.append(flight.until)
        return starts

    async with connect(url) as other:
        both = await asyncio.gather(*(ask_often(db) for db in (database, other) * 2))
    moments = sorted(chain(*both))
    gaps = {b - a for a, b in pairwise(moments)}
    assert (len(moments), gaps) == (80, {SECOND})


async def test_concurrent_requests_to_a_host_are_limited(tx: Tx) -> None:
    rate_limit = HostRateLimit(dt.timedelta(), max_concurrent=2)
    first = await reserve(tx, "a.com", rate_limit, HOUR)
    second = await reserve(tx, "a.com", rate_limit, HOUR)
    assert first
    assert second
    assert await reserve(tx, "a.com", rate_limit, HOUR) is None
    await release(tx, "a.com", first.until, RequestSlot("answered"))
    assert await reserve(tx, "a.com", rate_limit, HOUR)
    assert await reserve(tx, "a.com", rate_limit, HOUR) is None


async def test_the_reservation_of_a_dead_worker_expires(tx: Tx) -> None:
    rate_limit = HostRateLimit(dt.timedelta(), max_concurrent=1)
    assert await reserve(tx, "a.com", rate_limit, HOUR)
    assert await reserve(tx, "a.com", rate_limit, HOUR) is None
    await tx.execute(
        "UPDATE outside.host SET last_start_at = last_start_at - %(l)s, reservations = ARRAY[reservations[1] - %(l)s]",
        {"l": RESERVATION_LEASE},
    )
    assert await reserve(tx, "a.com", rate_limit, HOUR)
    assert await ask(tx, "SELECT cardinality(reservations) FROM outside.host") == [(1,)]


async def test_releasing_a_reservation_twice_releases_no_other(tx: Tx) -> None:
    rate_limit = HostRateLimit(dt.timedelta(), max_concurrent=2)
    first, second = [await reserve(tx, "a.com", rate_limit, HOUR) for _ in range(2)]
    assert first
    assert second
    for _ in range(2):
        await release(tx, "a.com", second.until, RequestSlot("answered"))
    await release(tx, "a.com", first.until - RESERVATION_LEASE, RequestSlot("answered"))
    assert await ask(tx, "SELECT reservations FROM outside.host") == [([first.until],)]


async def test_reservations_for_the_same_time_are_distinct(tx: Tx) -> None:
    rate_limit = HostRateLimit(dt.timedelta(), max_concurrent=9)
    assert await reserve(tx, "a.com", rate_limit, HOUR)
    await tx.execute("UPDATE outside.host SET held_until = clock_timestamp() + interval '1 minute'")
    reservations = [await reserve(tx, "a.com", rate_limit, HOUR) for _ in range(3)]
    assert len({reservation.until for reservation in reservations if reservation}) == 3


async def test_a_start_too_far_ahead_is_not_reserved(tx: Tx) -> None:
    for _ in range(3):
        await reserve(tx, "a.com", POLITE, HOUR)
    before = await ask(tx, "SELECT last_start_at, reservations FROM outside.host")
    assert await reserve(tx, "a.com", POLITE, SECOND) is None
    assert await ask(tx, "SELECT last_start_at, reservations FROM outside.host") == before


async def test_a_longer_crawl_delay_replaces_the_interval(tx: Tx) -> None:
    first = await reserve(tx, "a.com", POLITE, HOUR)
    await tx.execute("UPDATE outside.host SET crawl_delay = '10 s'")
    second = await reserve(tx, "a.com", POLITE, HOUR)
    assert first
    assert second
    assert second.until - first.until == 10 * SECOND


async def held_for(tx: Tx) -> float:
    seconds = await ask(
        tx, "SELECT extract(epoch FROM held_until - clock_timestamp())::float FROM outside.host"
    )
    return float(seconds[0][0] or 0)


async def fail(tx: Tx, outcome: RequestOutcome, hold: dt.timedelta | None = None) -> float:
    await tx.execute("UPDATE outside.host SET held_until = NULL")
    flight = await reserve(tx, "a.com", POLITE, HOUR)
    assert flight
    await release(tx, "a.com", flight.until, RequestSlot(outcome, hold))
    return await held_for(tx)


async def test_a_hold_lasts_as_long_as_the_host_says(tx: Tx) -> None:
    assert 3_500 < await fail(tx, "limited", HOUR) <= 3_600
    assert await is_held(tx, "a.com")
    assert await reserve(tx, "a.com", POLITE, HOUR / 2) is None
    later = await reserve(tx, "a.com", POLITE, 2 * HOUR)
    assert later
    assert later.wait > HOUR / 2


async def test_holds_without_retry_after_double(tx: Tx) -> None:
    holds = [await fail(tx, "limited") for _ in range(9)]
    for n, seconds in enumerate(holds):
        most = min(60 * 2**n, 3600)
        assert most / 2 - 5 < seconds <= most


async def test_repeated_failures_hold_the_host_but_one_does_not(tx: Tx) -> None:
    holds = [await fail(tx, "failed") for _ in range(12)]
    assert holds[0] == 0
    assert all(0 < seconds <= 300 for seconds in holds[2:])
    assert holds[11] > 100
    assert await fail(tx, "dropped") == 0
    assert await ask(tx, "SELECT failures FROM outside.host") == [(12,)]
    assert await fail(tx, "answered") == 0
    assert await ask(tx, "SELECT failures FROM outside.host") == [(0,)]
    assert await fail(tx, "failed") == 0


async def test_a_hold_is_never_shortened(tx: Tx) -> None:
    first, second = [await reserve(tx, "a.com", POLITE, HOUR) for _ in range(2)]
    assert first
    assert second
    await release(tx, "a.com", first.until, RequestSlot("limited", HOUR))
    await release(tx, "a.com", second.until, RequestSlot("limited", SECOND))
    assert await held_for(tx) > 3_500


# Waiting in the queue


async def test_a_caller_that_would_wait_too_long_gets_retry_after(database: Database) -> None:
    turns = RateLimiter(database, HostRateLimit(10 * SECOND, max_wait=SECOND))
    async with turns.slot("a.com"):
        pass
    with pytest.raises(HostRateLimited) as caught:
        async with turns.slot("a.com"):
            pass
    assert 8 * SECOND < caught.value.retry_after <= 10 * SECOND


async def test_a_full_queue_refuses_more_callers(database: Database) -> None:
    turns = RateLimiter(
        database, HostRateLimit(SECOND * 30, max_concurrent=9, max_wait=SECOND * 60)
    )

    async def stand() -> None:
        async with turns.slot("a.com"):
            await asyncio.sleep(60)

    tasks = [asyncio.create_task(stand()) for _ in range(5)]
    while not (done := [task for task in tasks if task.done()]):
        await asyncio.sleep(0.01)
    assert [type(task.exception()) for task in done] == [HostRateLimited]
    await cancel_tasks(tasks)


async def test_a_cancelled_caller_releases_its_reservation(database: Database) -> None:
    turns = RateLimiter(database, HostRateLimit(SECOND * 30))

    async def stand() -> None:
        async with turns.slot("a.com"):
            pass

    await stand()
    waiting = asyncio.create_task(stand())
    await until(database, "SELECT 1 FROM outside.host WHERE cardinality(reservations) = 1")
    await cancel_tasks([waiting])
    async with database.transaction() as tx:
        assert await ask(tx, "SELECT reservations, failures FROM outside.host") == [([], 0)]


async def until(database: Database, sql: LiteralString) -> None:
    """Wait until the query returns a row, and give waiting tasks a moment."""
    while True:
        async with database.transaction() as tx:
            rows = await ask(tx, sql)
        await asyncio.sleep(0.05)
        if rows:
            return


async def test_a_caller_waits_for_a_free_slot(
    database: Database,
) -> None:
    turns = RateLimiter(database, HostRateLimit(dt.timedelta(milliseconds=1), max_concurrent=2))
    now = most = 0

    async def fly() -> None:
        nonlocal now, most
        async with turns.slot("a.com"):
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.02)
            now -= 1

    await asyncio.gather(*(fly() for _ in range(10)))
    assert most == 2


async def test_the_wait_for_a_free_slot_is_limited(database: Database) -> None:
    quick = HostRateLimit(dt.timedelta(milliseconds=1), max_concurrent=1, max_wait=SECOND / 2)
    async with RateLimiter(database, quick).slot("a.com"):
        with pytest.raises(HostRateLimited):
            async with RateLimiter(database, quick).slot("a.com"):
                pass


async def test_a_hold_applies_to_callers_already_waiting(database: Database) -> None:
    turns, others = (
        RateLimiter(database, HostRateLimit(SECOND, max_wait=2 * SECOND)) for _ in range(2)
    )
    began = asyncio.Event()

    async def wait() -> None:
        async with others.slot("a.com"):
            began.set()

    async with turns.slot("a.com") as turn:
        waiting = asyncio.create_task(wait())
        await until(database, "SELECT 1 FROM outside.host WHERE cardinality(reservations) = 2")
        turn.outcome, turn.hold = "limited", HOUR
    with pytest.raises(HostRateLimited) as caught:
        await waiting
    assert not began.is_set()
    assert caught.value.retry_after > HOUR / 2


# Through `Fetch`


async def test_a_429_holds_the_host_for_all_workers(
    database: Database, url: str, site: LoopbackSite
) -> None:
    site.on("/", in_turn(reply(status=429, retry_after="600"), reply(b"ok")))
    settings = Settings(private_hosts=site.place)
    async with (
        connect(url) as other,
        open_fetch(database, settings) as fetch,
        open_fetch(other, settings) as other_fetch,
    ):
        first = await fetch(Request(site.url()))
        second = await other_fetch(Request(site.url()))
    assert isinstance(first, FetchFailure)
    assert isinstance(second, FetchFailure)
    assert (first.status, second.status, second.cause) == (429, None, "rate_limited")
    assert second.retry_after
    assert second.retry_after > dt.timedelta(seconds=500)
    assert len(site.requests) == 1


async def reset(request: ReceivedRequest, out: ResponseWriter) -> None:
    out.reset()


@pytest.mark.parametrize(
    ("handler", "failures"),
    [(reset, 1), (reply(status=500), 1), (reply(status=404), 0), (reply(status=403), 0)],
)
async def test_failures_of_a_host_are_counted(
    database: Database, site: LoopbackSite, handler: Handler, failures: int
) -> None:
    site.on("/", handler)
    async with open_fetch(database, Settings(private_hosts=site.place)) as fetch:
        await fetch(Request(site.url()))
    async with database.transaction() as tx:
        rows = await ask(tx, "SELECT failures, reservations FROM outside.host")
    assert rows == [(failures, [])]


async def test_every_redirect_waits_for_its_own_slot(
    database: Database, site: LoopbackSite
) -> None:
    async with open_site() as other:
        site.on("/", reply(status=302, location=other.url("/")))
        other.on("/", reply(b"ok"))
        settings = Settings(private_hosts=f"{site.place},{other.place}")
        async with open_fetch(database, settings) as fetch:
            assert isinstance(await fetch(Request(site.url())), Ok)
    async with database.transaction() as tx:
        rows = await ask(tx, "SELECT name, reservations, failures FROM outside.host")
    assert sorted(rows) == sorted([(site.place, [], 0), (other.place, [], 0)])


async def test_processes_share_the_rate_limit(
    url: str, site: LoopbackSite, database: Database
) -> None:
    async def handle(request: ReceivedRequest, out: ResponseWriter) -> None:
        await asyncio.sleep(0.15)
        await reply(b"ok")(request, out)

    site.on("/", handle)
    callers = [ForkedProgram(fetching_process.run, url, site.place) for _ in range(2)]
    outputs = [await asyncio.to_thread(caller.communicate) for caller in callers]
    assert outputs == ["15\n", "15\n"]
    assert len(site.requests) == 30
    # As counted by the server: both processes together never exceed the limit.
    assert site.max_concurrent == 3
    async with database.transaction() as tx:
        assert await ask(tx, "SELECT reservations, failures FROM outside.host") == [([], 0)]
