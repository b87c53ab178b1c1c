"""Openings as the public sees them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all, fetch_one
from jobmill.errors import Gone
from jobmill.hiring.records.openings import OpeningNotFound, OpeningStatus


@dataclass(frozen=True, slots=True)
class PublicOpening:
    id: int
    title: str
    description: str | None
    employer: str | None
    location: str | None
    remote: bool
    status: OpeningStatus
    capacity: int
    active_count: int
    waitlist_count: int
    apply_until: dt.datetime | None
    created_at: dt.datetime
    is_over: bool
    """Whether the application deadline has passed."""


async def search(
    tx: Tx, *, q: str | None = None, before: int | None = None, limit: int = 100
) -> list[PublicOpening]:
    """Openings that take applications, with an id less than `before`, newest first.

    `q` must occur in the title, the employer or the location.
    """
    return await fetch_all(
        tx,
        PublicOpening,
        """
        SELECT id, title, description, employer, location, remote, status, capacity,
               occupied AS active_count, waiting AS waitlist_count, apply_until, created_at,
               false AS is_over
          FROM hiring.opening
         WHERE status = 'open' AND (apply_until IS NULL OR apply_until > now())
           AND (%(before)s::bigint IS NULL OR id < %(before)s)
           AND (%(q)s::text IS NULL
                OR strpos(lower(concat_ws(' ', title, employer, location)), lower(%(q)s)) > 0)
         ORDER BY id DESC
         LIMIT %(limit)s
        """,
        {"q": q, "before": before, "limit": limit},
    )


async def get(tx: Tx, id: int) -> PublicOpening:
    """One opening; raises Gone if it is closed, OpeningNotFound if it does not exist."""
    opening = await fetch_one(
        tx,
        PublicOpening,
        """
        SELECT id, title, description, employer, location, remote, status, capacity,
               occupied AS active_count, waiting AS waitlist_count, apply_until, created_at,
               coalesce(apply_until <= now(), false) AS is_over
          FROM hiring.opening
         WHERE id = %s
        """,
        [id],
    )
    if opening is None:
        raise OpeningNotFound(id)
    if opening.status == "closed":
        raise Gone("This opening is closed.")
    return opening
