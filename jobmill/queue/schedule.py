"""Recurring work: once a tick, however many processes run, and once after any downtime."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.queue.admission import submit_all
from jobmill.queue.items import NewItem, RefusedItem

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Put `new` in every so often. While the last one still lives, a tick is skipped, not queued."""

    name: str
    every: dt.timedelta
    new: NewItem


async def declare_schedules(tx: Tx, schedules: Sequence[Schedule]) -> None:
    """Make the table hold these schedules; a new one is due at once, a changed one keeps its place."""
    for schedule in schedules:
        await tx.execute(
            """
            INSERT INTO queue.schedule (name, every, next_at) VALUES (%(name)s, %(every)s, now())
            ON CONFLICT (name) DO UPDATE
               SET every = excluded.every,
                   next_at = least(schedule.next_at, now() + excluded.every)
             WHERE schedule.every <> excluded.every
            """,
            {"name": schedule.name, "every": schedule.every},
        )
    await tx.execute(
        "DELETE FROM queue.schedule WHERE name <> ALL (%s)", [[one.name for one in schedules]]
    )


def schedule_task(schedules: Sequence[Schedule]) -> Callable[[Tx], Awaitable[None]]:
    """The chore that every worker does every second."""
    by_name = {schedule.name: schedule for schedule in schedules}

    async def tick(tx: Tx) -> None:
        await _beat(tx)
        for name in await _due(tx, list(by_name)):
            await _put(tx, by_name[name])

    return tick


async def _beat(tx: Tx) -> None:
    """Say that schedules are looked at; `watch` raises an alert when nobody does."""
    await tx.execute(
        """
        INSERT INTO queue.tick (name, at) VALUES ('scheduler', clock_timestamp())
        ON CONFLICT (name) DO UPDATE SET at = excluded.at
         WHERE tick.at < excluded.at - interval '1 second'
        """
    )


async def _due(tx: Tx, known: Sequence[str]) -> list[str]:
    """Take what is due of what we know; whoever takes it moves it on, in the same transaction as its item.

    However many ticks were missed, one is made up for, and the next falls on the old rhythm.
    """
    cursor = await tx.execute(
        """
        WITH due AS MATERIALIZED (
            SELECT name FROM queue.schedule
             WHERE next_at <= now() AND name = ANY (%s) FOR UPDATE SKIP LOCKED
        )
        UPDATE queue.schedule
           SET last_at = now(), note = NULL,
               next_at = next_at + every * (floor(extract(epoch FROM now() - next_at)
                                                  / extract(epoch FROM every)) + 1)
          FROM due
         WHERE schedule.name = due.name
        RETURNING schedule.name
        """,
        [known],
    )
    return [name for (name,) in await cursor.fetchall()]


async def _put(tx: Tx, schedule: Schedule) -> None:
    [answer] = await submit_all(tx, [schedule.new])
    if isinstance(answer, RefusedItem):
        log.warning("tick skipped", extra={"schedule": schedule.name, "reason": answer.message})
        await tx.execute(
            "UPDATE queue.schedule SET note = %s WHERE name = %s",
            [f"skipped: {answer.message}", schedule.name],
        )
