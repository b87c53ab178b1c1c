"""How calls went over time."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all

HOUR, DAY = dt.timedelta(hours=1), dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Spell:
    """The calls of an hour or a day (UTC)."""

    began_at: dt.datetime
    calls: int
    new: int
    wasted: int
    """Calls that brought nothing new."""
    failed: int

    @property
    def new_per_call(self) -> float:
        return self.new / self.calls if self.calls else 0.0


async def of(tx: Tx, at: dt.datetime, step: dt.timedelta, count: int) -> list[Spell]:
    """The last `count` steps, newest first: the one that is not over, and those before."""
    return await fetch_all(
        tx,
        Spell,
        """
        SELECT step.began_at, calls, new, wasted, failed
          FROM unnest(%(begins)s::timestamptz[]) AS step (began_at)
         CROSS JOIN LATERAL (
            SELECT coalesce(sum(calls), 0)::int AS calls, coalesce(sum(new), 0)::int AS new,
                   coalesce(sum(wasted), 0)::int AS wasted, coalesce(sum(failed), 0)::int AS failed
              FROM rotation.hourly_calls
             WHERE hourly_calls.began_at >= step.began_at
               AND hourly_calls.began_at < step.began_at + %(step)s) AS made
         ORDER BY step.began_at DESC
        """,
        {"begins": begins(at, step, count), "step": step},
    )


def begins(at: dt.datetime, step: dt.timedelta, count: int) -> list[dt.datetime]:
    """When the last steps began, counted from midnight in UTC."""
    seconds = step.total_seconds()
    last = at.timestamp() // seconds * seconds
    return [dt.datetime.fromtimestamp(last - n * seconds, dt.UTC) for n in range(count)]
