"""Openings as cards in the company's list."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all
from jobmill.hiring.records.openings import OpeningStatus


@dataclass(frozen=True, slots=True)
class OpeningCard:
    """An opening and its counts; an expired offer takes no slot."""

    id: int
    title: str
    employer: str | None
    location: str | None
    remote: bool
    status: OpeningStatus
    capacity: int
    occupied: int
    waiting: int
    in_review: int
    offers: int
    """Slots that are offered and not confirmed yet."""
    next_deadline_at: dt.datetime | None
    """The earliest deadline of these offers."""
    now: dt.datetime


async def list_cards(
    tx: Tx, *, status: OpeningStatus | None = None, before: int | None = None, limit: int
) -> list[OpeningCard]:
    """Openings with an id less than `before`, newest first."""
    return await fetch_all(
        tx,
        OpeningCard,
        """
        SELECT id, title, employer, location, remote, status, capacity,
               occupied - late AS occupied, waiting + late AS waiting, in_review, offers,
               pending.next_at AS next_deadline_at, now() AS now
          FROM (SELECT * FROM hiring.opening
                 WHERE parent_id IS NULL AND (%(before)s::bigint IS NULL OR id < %(before)s)
                   AND (%(status)s::hiring.opening_status IS NULL OR status = %(status)s)
                 ORDER BY id DESC
                 LIMIT %(limit)s) AS opening
         CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE acknowledge_deadline > now()) AS offers,
                   count(*) FILTER (WHERE acknowledge_deadline <= now()) AS late,
                   min(acknowledge_deadline) FILTER (WHERE acknowledge_deadline > now()) AS next_at
              FROM hiring.application
             WHERE opening_id = opening.id AND application.status = 'PENDING_ACKNOWLEDGMENT'
               -- An opening without a deadline has no offers.
               AND opening.next_deadline_at IS NOT NULL) AS pending
         ORDER BY id DESC
        """,
        {"status": status, "before": before, "limit": limit},
    )
