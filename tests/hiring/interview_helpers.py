"""Openings with interview times for tests, and a way to let an interview start."""

from __future__ import annotations

import datetime as dt

from jobmill.db import Tx
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.interviews import interview_times
from jobmill.hiring.interviews.interview_times import InterviewPlan, InterviewTime
from jobmill.hiring.interviews.time_series import TimeSeries
from jobmill.hiring.records.openings import Opening

DAY = dt.timedelta(days=1)


def series(count: int = 2, **changes: object) -> TimeSeries:
    """Times of one hour from 9:00 UTC on a day next year."""
    day = dt.datetime.now(dt.UTC).date() + 365 * DAY
    fields: dict[str, object] = {
        "first_day": day,
        "last_day": day,
        "from_time": dt.time(9),
        "until_time": dt.time(9 + count),
        "length": dt.timedelta(hours=1),
        "time_zone": "UTC",
    }
    return TimeSeries(**(fields | changes))  # pyright: ignore[reportArgumentType]


async def make_times(
    tx: Tx, opening: Opening, count: int = 2, places: int = 1
) -> list[InterviewTime]:
    plan = InterviewPlan(places, "Room 4")
    return await interview_times.add_times(tx, opening.id, series(count), plan, LOCAL)


async def let_start(tx: Tx, interview_id: int) -> None:
    """Move a time into the past, as if it had started."""
    await tx.execute(
        """
        UPDATE hiring.opening
           SET starts_at = starts_at - interval '400 days', ends_at = ends_at - interval '400 days',
               next_deadline_at = next_deadline_at - interval '400 days'
         WHERE id = %s
        """,
        [interview_id],
    )
