"""What happened to a person's interview bookings, as the person may know it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobmill.db import Tx, fetch_all
from jobmill.hiring.transitions import ApplicationStatus, EventType


@dataclass(frozen=True, slots=True)
class BookingEvent:
    application_id: int
    """Of the application for the opening that the interview is for."""
    type: EventType
    """`EDITED`: the company changed the time or the place."""
    from_status: ApplicationStatus | None
    to_status: ApplicationStatus | None
    why: Mapping[str, Any]
    actor: str
    created_at: dt.datetime
    starts_at: dt.datetime
    """When the interview was to start, after the event."""
    time_zone: str


async def list_booking_events(tx: Tx, applicant_id: int, limit: int) -> list[BookingEvent]:
    """The latest events of an applicant's bookings, and changes of a time while it was booked, newest first."""
    return await fetch_all(
        tx,
        BookingEvent,
        """
        SELECT main.id AS application_id, event.type, event.from_status, event.to_status,
               event.why, event.actor, event.created_at, term.starts_at, interview.time_zone
          FROM hiring.application AS booking
          JOIN hiring.opening AS interview ON interview.id = booking.opening_id
          JOIN LATERAL (SELECT min(seq) AS first,
                               max(seq) FILTER (WHERE to_status = 'INACTIVE') AS last
                          FROM hiring.event WHERE application_id = booking.id) AS booked ON true
          JOIN hiring.event ON event.opening_id = booking.opening_id
                           AND event.seq >= booked.first
                           AND (event.application_id = booking.id
                                OR event.type = 'EDITED'
                               AND event.seq < coalesce(booked.last, event.seq + 1))
          JOIN LATERAL (SELECT id FROM hiring.application
                         WHERE applicant_id = booking.applicant_id
                           AND opening_id = booking.parent_id AND id < booking.id
                         ORDER BY id DESC LIMIT 1) AS main ON true
          JOIN LATERAL (SELECT (metadata->>'startsAt')::timestamptz AS starts_at
                          FROM hiring.event AS change
                         WHERE change.opening_id = event.opening_id AND change.seq <= event.seq
                           AND metadata ? 'startsAt'
                         ORDER BY seq DESC LIMIT 1) AS term ON true
         WHERE booking.applicant_id = %s AND booking.parent_id IS NOT NULL
         ORDER BY event.created_at DESC, event.opening_id, event.seq DESC
         LIMIT %s
        """,
        [applicant_id, limit],
    )
