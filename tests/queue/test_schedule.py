"""Schedules submit one item per interval, over all workers and after a downtime."""

from __future__ import annotations

import asyncio
import datetime as dt

from jobmill import queue
from jobmill.db import Database, Tx
from jobmill.queue import Finish, Move, Work, schedule
from jobmill.queue.schedule import Schedule, schedule_task

from .helpers import drain, fetch, new, stages

HOUR = dt.timedelta(hours=1)


async def nothing(work: Work) -> Move:
    return Finish()


TABLE = stages(prune=nothing, scan=nothing)
HOURLY = Schedule("hourly", HOUR, new("prune", "old items"))


async def declare(database: Database, *schedules: Schedule) -> None:
    async with database.transaction() as tx:
        await queue.declare_stages(tx, TABLE)
        await schedule.declare_schedules(tx, schedules)


async def tick(database: Database, *schedules: Schedule) -> None:
    async with database.transaction() as tx:
        await schedule_task(schedules)(tx)


async def shift(database: Database, span: dt.timedelta) -> None:
    """Let time pass for the schedules."""
    async with database.transaction() as tx:
        await tx.execute("UPDATE queue.schedule SET next_at = next_at - %s", [span])


async def submitted(database: Database) -> int:
    return (await fetch(database, "SELECT count(*) FROM queue.item"))[0]


async def test_concurrent_checks_of_a_schedule_submit_one_item(database: Database) -> None:
    await declare(database, HOURLY)
    await asyncio.gather(*(tick(database, HOURLY) for _ in range(10)))
    assert await submitted(database) == 1
    await drain(database, TABLE)
    await asyncio.gather(*(tick(database, HOURLY) for _ in range(10)))
    assert await submitted(database) == 1, "the next tick is an hour away"
    await shift(database, HOUR)
    await asyncio.gather(*(tick(database, HOURLY) for _ in range(10)))
    assert await submitted(database) == 2


async def test_after_a_downtime_one_item_is_submitted_and_the_rhythm_is_kept(
    database: Database,
) -> None:
    await declare(database, HOURLY)
    await tick(database, HOURLY)
    await drain(database, TABLE)
    [before] = await fetch(database, "SELECT next_at FROM queue.schedule")
    await shift(database, dt.timedelta(hours=49, minutes=30))
    await tick(database, HOURLY)
    await drain(database, TABLE)
    await tick(database, HOURLY)
    assert await submitted(database) == 2
    [(after, now)] = await fetch(database, "SELECT next_at, now() FROM queue.schedule")
    assert now < after <= now + HOUR
    missed = (after - (before - dt.timedelta(hours=49, minutes=30))) / HOUR
    assert missed == round(missed), "the ticks fall where they would have fallen"


async def test_a_schedule_is_skipped_while_its_last_item_is_alive(database: Database) -> None:
    await declare(database, HOURLY)
    await tick(database, HOURLY)
    await shift(database, HOUR)
    await tick(database, HOURLY)
    assert await submitted(database) == 1
    assert await fetch(database, "SELECT note FROM queue.schedule") == [
        "skipped: Already queued: prune/run for old items"
    ]


async def test_a_schedule_and_its_item_commit_together(database: Database) -> None:
    await declare(database, HOURLY)
    async with database.transaction() as tx:
        await schedule_task([HOURLY])(tx)
        await tx.execute("ROLLBACK")
    assert await submitted(database) == 0
    await tick(database, HOURLY)
    assert await submitted(database) == 1


async def test_stored_schedules_match_the_declared_ones(tx: Tx) -> None:
    await schedule.declare_schedules(tx, [HOURLY, Schedule("scan", HOUR, new("scan"))])
    await tx.execute("UPDATE queue.schedule SET next_at = now() + every")
    await schedule.declare_schedules(tx, [Schedule("scan", HOUR / 60, new("scan"))])
    [(name, every, soon)] = await fetch(
        tx, "SELECT name, every, next_at <= now() + every FROM queue.schedule"
    )
    assert (name, every, soon) == ("scan", dt.timedelta(minutes=1), True)
