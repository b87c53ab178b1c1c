"""Calls per hour or day, for charts."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all

HOUR, DAY = dt.timedelta(hours=1), dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class CallPeriod:
    """The calls of one hour or day (UTC)."""

    began_at: dt.datetime
    calls: int
    new: int
    wasted: int
    """Calls that found nothing new."""
    failed: int

    @property
    def new_per_call(self) -> float:
        return self.new / self.calls if self.calls else 0.0


async def recent_periods(
    tx: Tx, at: dt.datetime, step: dt.timedelta, count: int
) -> list[CallPeriod]:
    """The last `count` periods, newest first, including the current one."""
    return await fetch_all(
        tx,
        CallPeriod,
        """
        SELECT step.began_at, calls, new, wasted, failed
          FROM unnest(%(begins)s::timestamptz[]) AS step (began_at)
         CROSS JOIN LATERAL (
            SELECT coalesce(sum(calls), 0)::int AS calls, coalesce(sum(new), 0)::int AS new,
                   coalesce(sum(wasted), 0)::int AS wasted, coalesce(sum(failed), 0)::int AS failed
              FROM rotation.hourly_calls
             WHERE hourly_calls.began_at >= step.began_at
               AND hourly_calls.began_at < step.began_at + %(step)s) AS totals
         ORDER BY step.began_at DESC
        """,
        {"begins": period_starts(at, step, count), "step": step},
    )


def period_starts(at: dt.datetime, step: dt.timedelta, count: int) -> list[dt.datetime]:
    """The start of each of the last periods, aligned to midnight UTC."""
    seconds = step.total_seconds()
    last = at.timestamp() // seconds * seconds
    return [dt.datetime.fromtimestamp(last - n * seconds, dt.UTC) for n in range(count)]
