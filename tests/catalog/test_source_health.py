"""Five failures disable a source; similar failures of a vendor are one incident."""

from __future__ import annotations

import asyncio
import datetime as dt

from jobmill.catalog import history, source_health, sources
from jobmill.db import Database, Tx

from .helpers import make_source, overlap, posting, run

GREENHOUSE = "greenhouse"


async def fail(tx: Tx, source: int, hour: float, failure: str = "server", **facts: object) -> None:
    await run(tx, source, hour, outcome="failed", failure=failure, detail="it broke", **facts)


async def test_five_failures_in_a_row_disable_a_source(tx: Tx) -> None:
    source = await make_source(tx)
    for hour in range(4):
        await fail(tx, source, hour)
    assert (await sources.get(tx, source)).status == "active"
    await fail(tx, source, 5)
    stored = await sources.get(tx, source)
    assert (stored.status, stored.consecutive_failures) == ("disabled", 5)
    assert "it broke" in (stored.disabled_reason or "")
    assert stored.retry_at
    events = [
        event
        for event in await history.find_events(tx, "source", source)
        if event.what == "disabled"
    ]
    assert [event.data["cause"] for event in events] == ["transient"]


async def test_a_successful_run_resets_the_failures(tx: Tx) -> None:
    source = await make_source(tx)
    for hour in range(4):
        await fail(tx, source, hour)
    await run(tx, source, 5, [posting()])
    for hour in range(6, 10):
        await fail(tx, source, hour)
    assert (await sources.get(tx, source)).status == "active"


async def test_a_rate_limit_does_not_count_as_a_failure(tx: Tx) -> None:
    source = await make_source(tx)
    for hour in range(9):
        await fail(tx, source, hour, "rate_limited")
    stored = await sources.get(tx, source)
    assert (stored.consecutive_failures, stored.status) == (0, "active")
    assert stored.last_cause == "rate_limited"


async def test_a_successful_retry_enables_a_disabled_source(tx: Tx) -> None:
    source = await make_source(tx)
    for hour in range(5):
        await fail(tx, source, hour)
    await fail(tx, source, 6)
    assert (await sources.get(tx, source)).status == "disabled"
    await run(tx, source, 7, [posting()])
    assert (await sources.get(tx, source)).status == "active"


async def test_a_source_disabled_by_a_person_stays_disabled_after_a_success(tx: Tx) -> None:
    source = await make_source(tx)
    await sources.disable(tx, source, "too noisy")
    await run(tx, source, 0, [posting()])
    assert (await sources.get(tx, source)).disabled_reason == "too noisy"


async def test_enabling_a_source_resets_its_failures(tx: Tx) -> None:
    source = await make_source(tx)
    for hour in range(5):
        await fail(tx, source, hour)
    await sources.enable(tx, source, actor="me")
    stored = await sources.get(tx, source)
    assert (stored.status, stored.consecutive_failures, stored.retry_at) == ("active", 0, None)


async def test_similar_failures_of_a_vendor_hold_its_sources_instead_of_disabling(tx: Tx) -> None:
    ids = [await make_source(tx) for _ in range(3)]
    for hour in range(5):
        for id in ids:
            await fail(tx, id, hour, vendor=GREENHOUSE)
    stored = [await sources.get(tx, id) for id in ids]
    assert [source.status for source in stored] == ["active"] * 3
    assert [source.consecutive_failures for source in stored] == [0] * 3
    assert all(source.held_until for source in stored)
    assert [event.what for event in await history.find_events(tx, "vendor", GREENHOUSE)] == [
        "incident"
    ]


async def test_an_incident_enables_the_sources_it_had_disabled(tx: Tx) -> None:
    ids = [await make_source(tx) for _ in range(3)]
    for hour in range(5):
        await fail(tx, ids[0], hour, vendor=GREENHOUSE)
    assert (await sources.get(tx, ids[0])).status == "disabled"
    for id in ids[1:]:
        await fail(tx, id, 6, vendor=GREENHOUSE)
    given_back = await sources.get(tx, ids[0])
    assert (given_back.status, given_back.consecutive_failures) == ("active", 0)


async def test_different_causes_do_not_open_an_incident(tx: Tx) -> None:
    for failure in ("server", "unreadable", "gone"):
        await fail(tx, await make_source(tx), 0, failure, vendor=GREENHOUSE)
    assert await sources.find_incident(tx, GREENHOUSE) is None


async def test_company_sites_have_no_incidents(tx: Tx) -> None:
    ids = [await make_source(tx, source_type="html") for _ in range(4)]
    for id in ids:
        await fail(tx, id, 0)
    assert [(await sources.get(tx, id)).consecutive_failures for id in ids] == [1] * 4


async def test_one_success_closes_the_incident(tx: Tx) -> None:
    ids = [await make_source(tx) for _ in range(3)]
    for id in ids:
        await fail(tx, id, 0, vendor=GREENHOUSE)
    await run(tx, ids[0], 1, [posting()], vendor=GREENHOUSE)
    assert await sources.find_incident(tx, GREENHOUSE) is None
    assert await source_health.check_hold(tx, GREENHOUSE) is None


async def test_after_a_hold_one_source_probes_and_the_others_wait(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        for _ in range(3):
            await fail(tx, await make_source(tx), 0, vendor=GREENHOUSE)
        await tx.execute("UPDATE catalog.incident SET held_until = now() - interval '1 second'")

    async def may_run() -> bool:
        async with database.transaction() as tx:
            return await source_health.check_hold(tx, GREENHOUSE) is None

    assert sorted(await asyncio.gather(*(may_run() for _ in range(6)))) == [False] * 5 + [True]


async def test_a_hold_written_by_a_wrong_clock_is_ignored(tx: Tx) -> None:
    for _ in range(3):
        await fail(tx, await make_source(tx), 0, vendor=GREENHOUSE)
    assert await source_health.check_hold(tx, GREENHOUSE)
    await tx.execute("UPDATE catalog.incident SET held_until = now() + interval '1 year'")
    assert await source_health.check_hold(tx, GREENHOUSE) is None


async def test_each_hold_is_longer_than_the_last(tx: Tx) -> None:
    holds = [source_health.hold_duration(nth) for nth in range(1, 9)]
    assert holds[0] == dt.timedelta(minutes=30)
    assert holds == sorted(holds)
    assert holds[-1] == source_health.MAX_HOLD


async def test_concurrent_failures_of_a_vendor_open_an_incident(database: Database) -> None:
    async with database.transaction() as tx:
        ids = [await make_source(tx) for _ in range(8)]

    async def fail_once(id: int) -> None:
        async with database.transaction() as tx:
            await fail(tx, id, 0, vendor=GREENHOUSE)

    await asyncio.gather(*map(fail_once, ids))
    async with database.transaction() as tx:
        stored = [await sources.get(tx, id) for id in ids]
    assert [source.consecutive_failures for source in stored] == [0] * 8
    assert all(source.held_until for source in stored)


async def test_concurrent_failures_and_successes_of_a_vendor_do_not_deadlock(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        ids = [await make_source(tx) for _ in range(6)]

    async def one(id: int, hour: int) -> None:
        async with database.transaction() as tx:
            if (id + hour) % 3:
                await fail(tx, id, hour, vendor=GREENHOUSE)
            else:
                await run(tx, id, hour, [posting(id)], vendor=GREENHOUSE)

    await asyncio.gather(*(one(id, hour) for id in ids for hour in range(8)))


async def test_runs_started_before_an_incident_do_not_extend_it(tx: Tx) -> None:
    for _ in range(9):
        await fail(tx, await make_source(tx), 0, vendor=GREENHOUSE)
    incident = await sources.find_incident(tx, GREENHOUSE)
    assert incident
    assert incident.holds == 1


async def test_a_failed_probe_extends_the_hold(tx: Tx) -> None:
    ids = [await make_source(tx) for _ in range(3)]
    for id in ids:
        await fail(tx, id, 0, vendor=GREENHOUSE)
    first = await sources.find_incident(tx, GREENHOUSE)
    await tx.execute("UPDATE catalog.incident SET held_until = now()")
    assert await source_health.check_hold(tx, GREENHOUSE) is None
    await fail(tx, ids[0], 1, vendor=GREENHOUSE)
    second = await sources.find_incident(tx, GREENHOUSE)
    assert first
    assert second
    assert second.holds == 2
    assert second.held_until - first.held_until == source_health.hold_duration(
        2
    ) - source_health.hold_duration(1)


async def test_a_removed_board_does_not_extend_the_hold_of_its_vendor(tx: Tx) -> None:
    for _ in range(3):
        await fail(tx, await make_source(tx), 0, vendor=GREENHOUSE)
    await tx.execute("UPDATE catalog.incident SET held_until = now()")
    assert await source_health.check_hold(tx, GREENHOUSE) is None
    gone = await make_source(tx)
    await fail(tx, gone, 1, "gone", vendor=GREENHOUSE)
    incident = await sources.find_incident(tx, GREENHOUSE)
    assert incident
    assert (incident.holds, incident.cause) == (1, "transient")
    assert (await sources.get(tx, gone)).consecutive_failures == 1


async def test_a_truncated_run_counts_as_a_success(tx: Tx) -> None:
    await fail(tx, await make_source(tx), 0, vendor=GREENHOUSE)
    await fail(tx, await make_source(tx), 0, vendor=GREENHOUSE)
    await tx.execute("UPDATE catalog.run SET ended_at = now() - interval '2 minutes'")
    large = await make_source(tx)
    await run(tx, large, 0, [posting()], outcome="truncated", vendor=GREENHOUSE)
    await tx.execute(
        "UPDATE catalog.run SET ended_at = now() - interval '1 minute' WHERE source_id = %s",
        [large],
    )
    await fail(tx, await make_source(tx), 0, vendor=GREENHOUSE)
    assert await sources.find_incident(tx, GREENHOUSE) is None


async def test_an_incident_does_not_enable_sources_disabled_before_it(tx: Tx) -> None:
    ids = [await make_source(tx) for _ in range(3)]
    for hour in range(7):
        await fail(tx, ids[0], hour, "gone", vendor=GREENHOUSE)
    for id in ids:
        await fail(tx, id, 8, vendor=GREENHOUSE)
    stored = await sources.get(tx, ids[0])
    assert (stored.status, stored.consecutive_failures) == ("disabled", 7)


async def test_a_failure_does_not_change_a_source_disabled_by_a_person(tx: Tx) -> None:
    source = await make_source(tx)
    for hour in range(4):
        await fail(tx, source, hour)
    await sources.disable(tx, source, "too noisy")
    await fail(tx, source, 5)
    stored = await sources.get(tx, source)
    assert (stored.disabled_reason, stored.retry_at) == ("too noisy", None)


async def test_a_person_can_disable_a_source_that_failures_disabled(tx: Tx) -> None:
    source = await make_source(tx)
    for hour in range(5):
        await fail(tx, source, hour)
    await sources.disable(tx, source, "too noisy")
    await run(tx, source, 6, [posting()])
    assert (await sources.get(tx, source)).disabled_reason == "too noisy"


async def test_old_failures_do_not_open_an_incident(tx: Tx) -> None:
    for _ in range(2):
        await fail(tx, await make_source(tx), 0, vendor=GREENHOUSE)
    await tx.execute("UPDATE catalog.run SET ended_at = now() - interval '2 hours'")
    await fail(tx, await make_source(tx), 1, vendor=GREENHOUSE)
    assert await sources.find_incident(tx, GREENHOUSE) is None


async def test_an_unconfirmed_empty_run_is_neither_failure_nor_success(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [posting()])
    await fail(tx, source, 1)
    assert (await run(tx, source, 2)).outcome == "empty"
    assert (await sources.get(tx, source)).consecutive_failures == 1


async def test_an_expired_hold_is_not_shown(tx: Tx) -> None:
    ids = [await make_source(tx) for _ in range(3)]
    for id in ids:
        await fail(tx, id, 0, vendor=GREENHOUSE)
    await tx.execute("UPDATE catalog.incident SET held_until = now() - interval '1 second'")
    assert (await sources.get(tx, ids[0])).held_until is None


async def test_failures_of_a_vendor_are_processed_one_at_a_time(database: Database) -> None:
    async with database.transaction() as tx:
        ids = [await make_source(tx) for _ in range(3)]
        await fail(tx, ids[0], 0, vendor=GREENHOUSE)
    await overlap(
        database,
        lambda tx: fail(tx, ids[1], 0, vendor=GREENHOUSE),
        lambda tx: fail(tx, ids[2], 0, vendor=GREENHOUSE),
    )
    async with database.transaction() as tx:
        assert await sources.find_incident(tx, GREENHOUSE)


async def test_failures_and_successes_do_not_deadlock(database: Database) -> None:
    async with database.transaction() as tx:
        ids = [await make_source(tx) for _ in range(4)]
        for id in ids[:2]:
            await fail(tx, id, 0, vendor=GREENHOUSE)
    async with database.transaction() as works, database.transaction() as fails:
        for tx in (works, fails):
            await tx.execute("SET LOCAL lock_timeout = '1s'")
        await run(works, ids[0], 1, [posting()])
        # It skips the first source, which is locked by its own run, and holds the vendor.
        await fail(fails, ids[2], 1, vendor=GREENHOUSE)
        await run(works, ids[3], 1, [posting(2)], vendor=GREENHOUSE)


async def test_a_success_does_not_wait_for_a_failing_run(database: Database) -> None:
    async with database.transaction() as tx:
        ids = [await make_source(tx) for _ in range(4)]
        for id in ids[:3]:
            await fail(tx, id, 0, vendor=GREENHOUSE)
        await tx.execute("UPDATE catalog.incident SET held_until = now()")
    async with database.transaction() as fails, database.transaction() as works:
        await works.execute("SET LOCAL lock_timeout = '1s'")
        await fail(fails, ids[0], 1, vendor=GREENHOUSE)
        await run(works, ids[3], 1, [posting()], vendor=GREENHOUSE)
