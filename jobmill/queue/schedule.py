"""Schedules: submit an item once per interval, however many workers run, and once after a downtime."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.queue import ticks
from jobmill.queue.admission import submit_all
from jobmill.queue.items import NewItem, RefusedItem

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Submit `new` once per interval; skip an interval while the last item is still alive."""

    name: str
    every: dt.timedelta
    new: NewItem


async def declare_schedules(tx: Tx, schedules: Sequence[Schedule]) -> None:
    """Store exactly these schedules; a new one is due at once, a changed one keeps its next time."""
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
        "DELETE FROM queue.schedule WHERE name <> ALL (%s)",
        [[schedule.name for schedule in schedules]],
    )


def schedule_task(schedules: Sequence[Schedule]) -> Callable[[Tx], Awaitable[None]]:
    """The periodic task that submits due items; every worker runs it every second."""
    by_name = {schedule.name: schedule for schedule in schedules}

    async def tick(tx: Tx) -> None:
        for name in await _take_due(tx, list(by_name)):
            await _submit(tx, by_name[name])
        await ticks.record_tick(tx, "scheduler")

    return tick


async def _take_due(tx: Tx, names: Sequence[str]) -> list[str]:
    """Take the due schedules among `names`, and set their next time in the transaction of their items.

    However many intervals were missed, one item is submitted, and the next time keeps the old rhythm.
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
        [names],
    )
    return [name for (name,) in await cursor.fetchall()]


async def _submit(tx: Tx, schedule: Schedule) -> None:
    [answer] = await submit_all(tx, [schedule.new])
    if isinstance(answer, RefusedItem):
        log.warning("schedule skipped", extra={"schedule": schedule.name, "reason": answer.message})
        await tx.execute(
            "UPDATE queue.schedule SET note = %s WHERE name = %s",
            [f"skipped: {answer.message}", schedule.name],
        )
