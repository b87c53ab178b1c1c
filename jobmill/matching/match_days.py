"""What a person's week looked like: new matches and applications of each day, and overdue replies."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all
from jobmill.matching.matches import Status

FOLLOW_UP_AFTER = dt.timedelta(days=14)
"""Without news for this long after applying, it is time to ask."""


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


@dataclass(frozen=True, slots=True)
class OpenApplication:
    """An application that waits for the person: an offer, or no news for long."""

    id: int
    title: str | None
    company: str | None
    status: Status
    status_at: dt.datetime


async def find_open_applications(tx: Tx, profile_id: int, *, limit: int) -> list[OpenApplication]:
    """Offers first, then the applications without news for FOLLOW_UP_AFTER, the oldest first."""
    return await fetch_all(
        tx,
        OpenApplication,
        """
        SELECT match.id, listing.title, listing.company, match.status, status_at
          FROM matching.match JOIN catalog.listing ON listing.id = listing_id
         WHERE profile_id = %(profile)s AND dropped_at IS NULL
           AND (match.status = 'offer'
                OR match.status IN ('applied', 'interviewing')
                   AND status_at < now() - %(after)s)
         ORDER BY match.status <> 'offer', status_at
         LIMIT %(limit)s
        """,
        {"profile": profile_id, "after": FOLLOW_UP_AFTER, "limit": limit},
    )
