"""What a person's week looked like: new matches and applications of each day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all


@dataclass(frozen=True, slots=True)
class MatchDay:
    start: dt.datetime
    new: int
    applied: int
    """Matches that are marked as applied, interviewing or offer since that day."""


async def count_days(
    tx: Tx, profile_id: int, starts: Sequence[dt.datetime], length: dt.timedelta
) -> list[MatchDay]:
    """Counts of each day; `length` differs from 24 hours only in the demo."""
    return await fetch_all(
        tx,
        MatchDay,
        """
        SELECT day.start,
               (SELECT count(*)::int FROM matching.match
                 WHERE profile_id = %(profile)s AND dropped_at IS NULL
                   AND created_at >= day.start AND created_at < day.start + %(length)s) AS new,
               (SELECT count(*)::int FROM matching.match
                 WHERE profile_id = %(profile)s AND dropped_at IS NULL
                   AND status IN ('applied', 'interviewing', 'offer')
                   AND status_at >= day.start AND status_at < day.start + %(length)s) AS applied
          FROM unnest(%(starts)s::timestamptz[]) AS day (start)
         ORDER BY day.start
        """,
        {"profile": profile_id, "starts": list(starts), "length": length},
    )
