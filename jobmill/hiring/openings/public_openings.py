"""Openings as the public sees them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import LiteralString

from jobmill.db import Tx, fetch_all, fetch_or_raise
from jobmill.errors import Gone
from jobmill.hiring.records.openings import Admission, OpeningNotFound, OpeningStatus

SELECT: LiteralString = """
        SELECT id, title, description, employer, location, remote, status, capacity,
               occupied AS active_count, waiting AS waitlist_count, apply_until, created_at,
               admission, drawn, time_zone,
               coalesce(apply_until <= now(), false) AS is_over, fairness_proof
          FROM hiring.opening"""


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
    admission: Admission
    drawn: bool
    time_zone: str
    is_over: bool
    """Whether the application deadline has passed."""
    fairness_proof: bool

    @property
    def collects(self) -> bool:
        """Whether applications wait for a decision or the draw."""
        return self.admission == "review" or (self.admission == "lottery" and not self.drawn)


async def search(
    tx: Tx, *, q: str | None = None, before: int | None = None, limit: int = 100
) -> list[PublicOpening]:
    """Openings that take applications, with an id less than `before`, newest first.

    `q` must occur in the title, the employer or the location.
    """
    return await fetch_all(
        tx,
        PublicOpening,
        f"""{SELECT}
         WHERE parent_id IS NULL AND status = 'open' AND (apply_until IS NULL OR apply_until > now())
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
    opening = await fetch_or_raise(
        tx,
        PublicOpening,
        f"{SELECT} WHERE id = %s AND parent_id IS NULL",
        [id],
        OpeningNotFound(id),
    )
    if opening.status == "closed":
        raise Gone("This opening is closed.")
    return opening
