"""Workers: failing stages and saves, rescues, heartbeats, lost connections and counters."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

import psycopg
from psycopg import sql

from jobmill import queue
from jobmill.db import Database, Tx, connect, open_connection
from jobmill.queue import Finish, Move, Stage, WaitUntil, Work, inspect, leases
from jobmill.queue.admission import remaining_capacity
from jobmill.queue.feed import QueueFeed, feed_task, notify_feeds
from jobmill.queue.worker import PeriodicTask

from .helpers import (
    SOON,
    drain,
    fetch,
    happened,
    item,
    make_due,
    new,
    put,
    running,
    stages,
    statuses,
)

MOMENT = dt.timedelta(seconds=0.2)


async def nothing(work: Work) -> Move:
    return Finish()


async def until(database: Database, query: Any, expected: list[Any]) -> None:
    """Wait until a query returns these rows, also while the database is unreachable."""
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(psycopg.Error):
                if await fetch(database, query) == expected:
                    return
            await asyncio.sleep(0.02)


async def test_an_outcome_that_the_database_refuses_fails_only_its_item(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        await tx.execute(
            """
            CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF new.note = 'poison' THEN RAISE 'the cup is chipped'; END IF;
                RETURN new;
            END $$
            """
        )
        await tx.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON queue.event FOR EACH ROW EXECUTE FUNCTION public.refuse()"
        )

    async def run(work: Work) -> Move:
        return Finish("poison" if work.key == "7" else "tea")

    table = stages(tea=run)
    ids = await put(database, table, *(new("tea", str(n)) for n in range(20)))
    await drain(database, table)
    assert await statuses(database) == {"SUCCESS": 19, "FAILED": 1}
    failed = await item(database, ids[7])
    assert "the cup is chipped" in (failed.message or "")


async def test_a_locked_item_does_not_delay_the_settlement_of_others(database: Database) -> None:
    gate = asyncio.Event()

    async def run(work: Work) -> Move:
        await gate.wait()
        return Finish()

    table = stages({"tea": Stage(run, processors=5)})
    ids = await put(database, table, *(new("tea", str(n)) for n in range(5)))
    # The lease of a real worker: a short one would end the wait.
    async with running(database, table, lease=dt.timedelta(seconds=60)):
        await until(database, "SELECT count(*) FROM queue.live WHERE status = 'PROCESSING'", [5])
        async with database.transaction() as tx:
            await tx.execute("SELECT FROM queue.live WHERE id = %s FOR UPDATE", [ids[2]])
            gate.set()
            await until(database, "SELECT count(*) FROM queue.ending", [4])
        await until(database, "SELECT count(*) FROM queue.ending", [5])


async def test_a_failing_save_does_not_affect_the_others_of_its_group(database: Database) -> None:
    together = asyncio.Event()

    async def run(work: Work) -> Move:
        await together.wait()

        async def save(tx: Tx) -> None:
            await tx.execute("INSERT INTO public.cup VALUES (%s)", [work.key])
            if work.key == "7":
                await tx.execute("SELECT 1 / 0")

        return Finish(save=save)

    async with database.transaction() as tx:
        await tx.execute("CREATE TABLE public.cup (name text)")
    table = stages({"tea": Stage(run, processors=20)})
    ids = await put(database, table, *(new("tea", str(n)) for n in range(20)))
    asyncio.get_running_loop().call_later(0.2, together.set)
    await drain(database, table)
    assert await statuses(database) == {"SUCCESS": 19, "PENDING": 1}
    assert await fetch(database, "SELECT count(*), count(DISTINCT name) FROM public.cup") == [
        (19, 19)
    ]
    assert (await item(database, ids[7])).error_text == "DivisionByZero: division by zero"


async def test_a_processor_whose_run_ignores_its_cancellation_is_replaced(
    database: Database,
) -> None:
    over = False

    async def run(work: Work) -> Move:
        while work.retry_count == 0 and not over:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
        return Finish()

    table = stages({"tea": Stage(run, processors=1, run_limit=MOMENT)})
    [id] = await put(database, table, new("tea"))
    try:
        async with running(database, table, grace=MOMENT) as worker:
            await until(database, "SELECT type FROM queue.event WHERE type = 'retry'", ["retry"])
            await make_due(database)
            worker._claimer.wake()  # pyright: ignore[reportPrivateUsage]
            await until(database, "SELECT status::text FROM queue.ending", ["SUCCESS"])
            await until(
                database, "SELECT state FROM queue.processor ORDER BY number", ["error", "idle"]
            )
    finally:
        # A run that ignores every cancellation would keep the event loop from closing.
        over = True
    assert (
        await item(database, id)
    ).error_text == "TimeoutError: kept running after its run was cancelled"


async def test_processors_are_visible_while_they_work(database: Database) -> None:
    gate = asyncio.Event()

    async def run(work: Work) -> Move:
        await gate.wait()
        return Finish()

    table = stages({"tea": Stage(run, processors=2)})
    [id] = await put(database, table, new("tea"))
    async with running(database, table):
        await until(
            database,
            "SELECT state, item FROM queue.processor ORDER BY number",
            [("busy", id), ("idle", None)],
        )
        claimed = await item(database, id)
        assert claimed.leased_until
        assert claimed.leased_until > dt.datetime.now(dt.UTC)
        gate.set()
        await until(database, "SELECT DISTINCT state FROM queue.processor", ["idle"])
    assert await fetch(database, "SELECT count(*) FROM queue.processor") == [0]


async def test_an_item_that_kills_its_workers_fails_in_the_end(database: Database) -> None:
    [id] = await put(database, stages(tea=nothing), new("tea"))
    for _ in range(4):
        async with database.transaction() as tx:
            dead = await leases.register_worker(tx, "dead", dt.timedelta())
            await tx.execute(
                "UPDATE queue.live SET status = 'PROCESSING', worker = %s, attempt = attempt + 1",
                [dead],
            )
        async with database.transaction() as tx:
            await leases.rescue_abandoned_items(tx)
    given_up = await item(database, id)
    assert given_up.status == "FAILED"
    assert given_up.message == (
        "Failed after 3 retries: its worker was lost, and the item may be the cause"
    )
    assert (await happened(database, id)).count("rescued") == 3


async def test_a_claim_that_commits_after_its_worker_is_marked_gone_is_rescued(
    database: Database,
) -> None:
    [id] = await put(database, stages(tea=nothing), new("tea"))
    async with database.transaction() as tx:
        dead = await leases.register_worker(tx, "dead", dt.timedelta())
        assert (await leases.rescue_abandoned_items(tx)).expired_workers == 1
        await tx.execute("UPDATE queue.live SET status = 'PROCESSING', worker = %s", [dead])
    async with database.transaction() as tx:
        assert (await leases.rescue_abandoned_items(tx)).released == 1
    assert (await item(database, id)).status == "PENDING"


async def test_a_rescue_waits_for_no_row_that_another_transaction_holds(
    database: Database,
) -> None:
    table = stages(tea=nothing)
    beating, settling, free = await put(database, table, *(new("tea", str(n)) for n in range(3)))
    async with database.transaction() as tx:
        dead = {
            id: await leases.register_worker(tx, "dead", dt.timedelta())
            for id in (beating, settling, free)
        }
        for id, worker in dead.items():
            await tx.execute(
                "UPDATE queue.live SET status = 'PROCESSING', worker = %s WHERE id = %s",
                [worker, id],
            )
    async with database.transaction() as other:
        await other.execute("SELECT FROM queue.worker WHERE id = %s FOR UPDATE", [dead[beating]])
        await other.execute("SELECT FROM queue.live WHERE id = %s FOR UPDATE", [settling])
        async with asyncio.timeout(10), database.transaction() as tx:
            assert await leases.rescue_abandoned_items(tx) == leases.RescueCounts(
                expired_workers=2, released=1, failed=0
            )
    assert (await item(database, free)).status == "PENDING"
    async with database.transaction() as tx:
        assert await leases.rescue_abandoned_items(tx) == leases.RescueCounts(
            expired_workers=1, released=2, failed=0
        )


async def test_a_live_worker_keeps_its_items_however_long_they_run(database: Database) -> None:
    async def run(work: Work) -> Move:
        await asyncio.sleep(SOON.total_seconds() * 2)
        return Finish()

    table = stages(tea=run)
    [id] = await put(database, table, new("tea"))
    async with running(database, table), running(database, table):
        await until(database, "SELECT count(*) FROM queue.live", [0])
    assert await happened(database, id) == ["submitted", "started", "success"]


async def test_a_rescue_of_a_silent_workers_items_leaves_those_of_a_live_one(
    database: Database,
) -> None:
    finish = asyncio.Event()

    async def run(work: Work) -> Move:
        await finish.wait()
        return Finish()

    table = stages(tea=run)
    [id] = await put(database, table, new("tea"))
    async with running(database, table, lease=dt.timedelta(minutes=5)):
        await until(database, "SELECT status FROM queue.live", ["PROCESSING"])
        async with database.transaction() as tx:
            # The running worker rescues too, one at a time.
            await tx.execute("SELECT pg_advisory_xact_lock(hashtext('jobmill.rescue'))")
            await leases.register_worker(tx, "silent", dt.timedelta())
            assert await leases.rescue_abandoned_items(tx) == (1, 0, 0)
        finish.set()
        await until(database, "SELECT count(*) FROM queue.live", [0])
    assert await happened(database, id) == ["submitted", "started", "success"]


async def test_runs_are_counted_for_the_metrics(database: Database) -> None:
    async def run(work: Work) -> Move:
        if work.key == "bad":
            raise RuntimeError
        return Finish()

    table = stages(tea=run)
    await put(database, table, new("tea", "good"), new("tea", "better"), new("tea", "bad"))
    await drain(database, table)
    await put(database, table, new("tea", "late"))
    await drain(database, table)
    async with database.transaction() as tx:
        counters = await inspect.list_run_counters(tx)
    assert [(counter.outcome, counter.runs, sum(counter.buckets)) for counter in counters] == [
        ("finish", 3, 3),
        ("retry", 1, 1),
    ]


async def test_a_worker_for_some_phases_ignores_the_others(database: Database) -> None:
    table = stages(tea=nothing, coffee=nothing)
    await put(database, table, new("tea"), new("coffee"))
    assert await drain(database, table, only=[("tea", "run")]) == 1
    assert await fetch(database, "SELECT kind FROM queue.live") == ["coffee"]


async def test_a_lost_connection_is_replaced_and_work_continues(database: Database) -> None:
    table = stages(tea=nothing)
    await put(database, table)
    async with running(database, table) as worker:
        await until(database, "SELECT count(*) FROM queue.worker WHERE idle", [1])
        async with database.transaction() as tx:
            await tx.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid()
                   AND backend_type = 'client backend'
                """
            )
        await put(database, table, new("tea"))
        async with asyncio.timeout(20):
            while not worker.runs:
                await asyncio.sleep(0.02)


async def test_a_claim_whose_answer_was_lost_is_released(database: Database) -> None:
    """The connection died after the commit of the claim, so the worker does not know that it holds the item."""
    table = stages(tea=nothing)
    await put(database, table)
    async with running(database, table) as worker:
        await until(database, "SELECT count(*) FROM queue.worker WHERE idle", [1])
        async with database.transaction() as tx:
            id = await queue.submit(tx, new("tea"))
            await tx.execute(
                "UPDATE queue.live SET status = 'PROCESSING', attempt = 1, worker = (SELECT id FROM queue.worker)"
            )
        async with database.transaction() as tx:
            await tx.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid()
                   AND backend_type = 'client backend'
                """
            )
        async with asyncio.timeout(20):
            while not worker.runs:
                await asyncio.sleep(0.02)
    assert await happened(database, id) == ["submitted", "released", "started", "success"]


async def test_a_stopping_worker_releases_even_claims_it_does_not_know(
    database: Database,
) -> None:
    table = stages(tea=nothing)
    [id] = await put(database, table, new("tea", delay=dt.timedelta(hours=1)))
    async with running(database, table):
        await until(database, "SELECT count(*) FROM queue.worker WHERE idle", [1])
        async with database.transaction() as tx:
            await tx.execute(
                """
                UPDATE queue.live
                   SET status = 'PROCESSING', parked = false, worker = (SELECT id FROM queue.worker)
                """
            )
    assert (await item(database, id)).status == "PENDING"


async def test_a_feed_is_scanned_on_notification_until_it_is_empty(database: Database) -> None:
    async def take(tx: Tx, most: int) -> list[queue.NewItem]:
        rows = await fetch(
            tx,
            "DELETE FROM public.leaf WHERE n IN (SELECT n FROM public.leaf LIMIT %s) RETURNING n",
            [most],
        )
        return [new("tea", f"leaf {n}") for n in rows]

    async def release(tx: Tx, refused: Sequence[queue.RefusedItem]) -> None:
        raise AssertionError("the queue has room for what it asked for")

    # There is room for less than a batch: the feed continues when there is room again.
    table = stages({"tea": Stage(nothing, capacity=4)})
    await put(database, table)
    async with database.transaction() as tx:
        await tx.execute("CREATE TABLE public.leaf (n int)")
    chore = PeriodicTask(
        3600, feed_task(QueueFeed("tea", "run", take, release)), on_feed_notify=True
    )
    async with running(database, table, periodic_tasks=[chore]):
        await until(database, "SELECT count(*) FROM queue.worker WHERE idle", [1])
        async with database.transaction() as tx:
            await tx.execute("INSERT INTO public.leaf SELECT generate_series(1, 25)")
            await notify_feeds(tx)
        await until(database, "SELECT count(*) FROM queue.ending", [25])


async def test_a_scan_of_a_feed_counts_the_room_once(database: Database) -> None:
    """If items end between two counts, a full batch looks like the last one, and the rest waits."""

    async def take(tx: Tx, most: int) -> list[queue.NewItem]:
        counts_before.extend(counts)
        return [new("tea", f"leaf {n}") for n in range(most)]

    async def release(tx: Tx, refused: Sequence[queue.RefusedItem]) -> None:
        raise AssertionError("the queue has room for what it asked for")

    counts: list[int] = []
    counts_before: list[int] = []

    def record(frame: FrameType, event: str, value: object) -> None:
        # A coroutine also "returns" where it waits, without a number.
        if event == "return" and frame.f_code is remaining_capacity.__code__:
            counts.extend([value] if isinstance(value, int) else [])

    await put(database, stages({"tea": Stage(nothing, capacity=4)}))
    async with database.transaction() as tx:
        sys.setprofile(record)
        try:
            assert await feed_task(QueueFeed("tea", "run", take, release))(tx) is True
        finally:
            sys.setprofile(None)
    assert counts_before == [4]


async def test_an_abandoned_item_is_rescued_however_long_its_worker_is_gone(
    database: Database,
) -> None:
    [id] = await put(database, stages(tea=nothing), new("tea"))
    async with database.transaction() as tx:
        dead = await leases.register_worker(tx, "dead", dt.timedelta())
        await tx.execute("UPDATE queue.live SET status = 'PROCESSING', worker = %s", [dead])
        await tx.execute("UPDATE queue.worker SET ended_at = now() - interval '1 day'")
        assert (await leases.rescue_abandoned_items(tx)).released == 1
    assert (await item(database, id)).status == "PENDING"


async def test_items_that_a_busy_worker_cannot_start_are_released(database: Database) -> None:
    """Fast runs made the worker claim ahead; then the runs became slow."""
    gate = asyncio.Event()

    async def run(work: Work) -> Move:
        if work.key.startswith("slow"):
            await gate.wait()
        return Finish()

    table = stages({"tea": Stage(run, processors=2)})
    await put(database, table, *(new("tea", f"quick {n}") for n in range(100)))
    await put(database, table, *(new("tea", f"slow {n}") for n in range(50)))
    async with running(database, table):
        await until(database, "SELECT count(*) FROM queue.live WHERE status = 'PROCESSING'", [2])
        gate.set()
        await until(database, "SELECT count(*) FROM queue.live", [0])


async def test_a_stage_that_returns_no_move_fails_only_its_item(database: Database) -> None:
    async def run(work: Work) -> Any:
        match work.key:
            case "none":
                return None
            case "naive":
                return WaitUntil(dt.datetime(2030, 1, 1))  # noqa: DTZ001
            case "cancelled":
                raise asyncio.CancelledError
            case _:
                return Finish()

    table = stages({"tea": Stage(run, processors=1, max_retries=0)})
    ids = await put(
        database, table, *(new("tea", key) for key in ("none", "naive", "cancelled", "good"))
    )
    await drain(database, table)
    items = [await item(database, id) for id in ids]
    assert [ended.status for ended in items] == ["FAILED", "FAILED", "FAILED", "SUCCESS"]
    assert items[0].error_text == "TypeError: the stage returned None, which is not a move"
    assert "has no time zone" in (items[1].error_text or "")
    assert "CancelledError, but its task was not cancelled" in (items[2].error_text or "")


async def test_a_save_that_ignores_a_database_error_does_not_count_as_committed(
    database: Database,
) -> None:
    async def run(work: Work) -> Move:
        async def save(tx: Tx) -> None:
            with contextlib.suppress(psycopg.Error):
                await tx.execute("SELECT 1 / 0")

        return Finish(save=save)

    table = stages(tea=run)
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    failed = await item(database, id)
    assert (failed.status, failed.retry_count) == ("PENDING", 1)
    assert "its error was ignored" in (failed.error_text or "")


async def test_a_save_that_fails_outside_the_database_fails_its_item(
    database: Database,
) -> None:
    async def run(work: Work) -> Move:
        async def save(tx: Tx) -> None:
            raise OSError("the cupboard is locked")

        return Finish(save=save)

    table = stages(tea=run)
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    assert (await item(database, id)).error_text == "OSError: the cupboard is locked"


async def test_a_read_only_server_uses_up_no_retry(database: Database) -> None:
    """A read-only server refuses every outcome; all are settled when it is writable again."""

    async def read_only(on: bool) -> None:
        name = (await fetch(database, "SELECT current_database()"))[0]
        writable = {"default_transaction_read_only": "off"}
        async with await open_connection(database.url, options=writable) as admin:
            await admin.execute(
                sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = {}").format(
                    sql.Identifier(name), sql.Literal(on)
                )
            )
            await admin.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid()
                   AND backend_type = 'client backend'
                """
            )

    async def run(work: Work) -> Move:
        if not over:
            await read_only(True)
            asyncio.get_running_loop().call_later(
                1, lambda: asyncio.ensure_future(read_only(False))
            )
            over.append(True)
        return Finish()

    over: list[bool] = []
    table = stages({"tea": Stage(run, processors=1)})
    ids = await put(database, table, *(new("tea", str(n)) for n in range(5)))
    async with running(database, table):
        await until(database, "SELECT count(*) FROM queue.live", [0])
    assert await statuses(database) == {"SUCCESS": len(ids)}


async def test_heartbeats_continue_while_stages_use_every_connection(database: Database) -> None:
    async def run(work: Work) -> Move:
        async with database.transaction() as tx:
            await tx.execute("SELECT pg_sleep(%s)", [SOON.total_seconds() * 2])
        return Finish()

    table = stages({"tea": Stage(run, processors=12)})
    ids = await put(database, table, *(new("tea", str(n)) for n in range(8)))
    async with connect(database.url) as looking, running(database, table):
        await until(looking, "SELECT count(*) FROM queue.live", [0])
    assert await statuses(database) == {"SUCCESS": len(ids)}
    assert await fetch(database, "SELECT count(*) FROM queue.event WHERE type = 'rescued'") == [0]
    assert await fetch(database, "SELECT count(*) FROM queue.worker") == [1]


async def test_a_worker_stopped_during_its_heartbeat_does_not_block_others(
    database: Database,
) -> None:
    table = stages(tea=nothing)
    await put(database, table)
    async with database.transaction() as stopped:
        dead = await leases.register_worker(stopped, "dead", dt.timedelta())
        await stopped.execute("SELECT FROM queue.worker WHERE id = %s FOR UPDATE", [dead])
        await stopped.execute(
            "INSERT INTO queue.run_counter VALUES ('tea', 'run', 'finish', 1, 1, '{1}')"
        )
        async with running(database, table):
            await put(database, table, new("tea"))
            await until(database, "SELECT count(*) FROM queue.ending", [1])
            await asyncio.sleep(SOON.total_seconds() * 1.5)
    assert await fetch(database, "SELECT count(*) FROM queue.worker WHERE name <> 'dead'") == [1]


async def test_saves_that_deadlock_use_up_no_retry(database: Database) -> None:
    both = asyncio.Barrier(2)
    tries: list[str] = []

    async def run(work: Work) -> Move:
        async def save(tx: Tx) -> None:
            tries.append(work.key)
            cups = ["one", "two"] if work.key == "a" else ["two", "one"]
            await tx.execute("UPDATE public.cup SET full_at = now() WHERE name = %s", cups[:1])
            if tries.count(work.key) == 1:
                await both.wait()
            await tx.execute("UPDATE public.cup SET full_at = now() WHERE name = %s", cups[1:])

        return Finish(save=save)

    table = stages({"tea": Stage(run), "cake": Stage(run)})
    async with database.transaction() as tx:
        await tx.execute("CREATE TABLE public.cup (name text PRIMARY KEY, full_at timestamptz)")
        await tx.execute("INSERT INTO public.cup VALUES ('one'), ('two')")
    await put(database, table, new("tea", "a"), new("cake", "b"))
    # Two workers, so that the saves do not share a transaction.
    await asyncio.gather(
        *(drain(database, table, only=[(kind, "run")]) for kind in ("tea", "cake"))
    )
    assert len(tries) == 3
    assert await fetch(database, "SELECT DISTINCT status, retry_count FROM queue.items") == [
        ("SUCCESS", 0)
    ]


async def test_a_worker_stops_although_a_cancellation_was_lost(
    database: Database,
) -> None:
    lost: list[str] = []
    started = asyncio.Event()

    async def deaf(tx: Tx) -> None:
        started.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            lost.append("once")

    async with running(database, {}, periodic_tasks=[PeriodicTask(3600, deaf)]):
        await started.wait()
    assert lost == ["once"]
