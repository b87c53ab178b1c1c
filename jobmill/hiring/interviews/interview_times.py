"""Interview times: creating, listing, moving and cancelling them.

A time is an opening with a parent, the opening that it is for: it has places, a waitlist, offers with
deadlines, an audit log and a replay of its own. It never appears among the openings.

Lock order: the parent, then its times. A transaction that holds a time never waits for its parent.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import LiteralString

from jobmill.db import Tx, fetch_all, fetch_one, fetch_or_raise
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.hiring.actor import Actor
from jobmill.hiring.applications.withdrawals import record_end
from jobmill.hiring.interviews.time_series import TimeSeries, list_times
from jobmill.hiring.locked_opening import LockedOpening, lock_opening
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applications import Application
from jobmill.hiring.records.openings import OpeningStatus, OpeningTerms
from jobmill.hiring.timestamps import format_timestamp
from jobmill.hiring.transitions import ApplicationStatus
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers
from jobmill.time_zones import load_time_zone

DEFAULT_ACCEPT_WINDOW = dt.timedelta(hours=24)
MAX_PLACE_LENGTH = 500
MAX_PLACES = 1_000
"""People at one time."""
CANCELLED = "interview time cancelled by the company"

SELECT: LiteralString = """
        SELECT id, parent_id, starts_at, ends_at, location AS place, time_zone, status, capacity,
               occupied, waiting, starts_at <= now() AS has_started
          FROM hiring.opening"""


class InterviewNotFound(NotFound):
    def __init__(self, id: object) -> None:
        Exception.__init__(self, f"Interview time {id} not found")


@dataclass(frozen=True, slots=True)
class InterviewTime:
    id: int
    parent_id: int
    starts_at: dt.datetime
    ends_at: dt.datetime
    place: str | None
    """An address, a room or a link."""
    time_zone: str
    status: OpeningStatus
    capacity: int
    occupied: int
    waiting: int
    has_started: bool

    @property
    def local_start(self) -> str:
        """The start in its own time zone, as a form field holds it."""
        return f"{self.starts_at.astimezone(load_time_zone(self.time_zone)):%Y-%m-%dT%H:%M}"

    @property
    def free(self) -> int:
        """How many people can book at once: none while others wait."""
        return 0 if self.waiting else max(self.capacity - self.occupied, 0)


@dataclass(frozen=True, slots=True)
class Booking:
    """A person's booking of a time, as the company sees it."""

    application_id: int
    interview_id: int
    applicant_id: int
    applicant_name: str
    status: ApplicationStatus
    acknowledge_deadline: dt.datetime | None
    parent_application_id: int | None


@dataclass(frozen=True, slots=True)
class InterviewPlan:
    """What all times of a series have in common."""

    places: int = 1
    place: str | None = None
    accept_window: dt.timedelta = DEFAULT_ACCEPT_WINDOW
    """How long people from the waitlist have to accept a time, at most until it starts."""


async def add_times(
    tx: Tx, parent_id: int, series: TimeSeries, plan: InterviewPlan, by: Actor
) -> list[InterviewTime]:
    """Add the times of a series that the opening does not have yet; returns the new ones."""
    times = list_times(series)
    if not 1 <= plan.places <= MAX_PLACES:
        raise Invalid(f"The number of places should be 1 to {MAX_PLACES:,}.")
    place = " ".join((plan.place or "").split()) or None
    if place and len(place) > MAX_PLACE_LENGTH:
        raise Invalid(f"The location or link can have at most {MAX_PLACE_LENGTH} characters.")
    # Two requests at once: the second one sees the times of the first.
    async with lock_opening(tx, parent_id, by) as parent:
        openings.refuse_interview_time(parent.opening)
        if times[0][0] <= parent.at:
            raise Invalid("The first interview should be in the future.")
        existing = {
            (time.starts_at, time.ends_at, time.place)
            for time in await list_interviews(tx, parent_id)
            if time.status != "closed"
        }
        terms = lifecycle.validate_terms(
            OpeningTerms(
                title=parent.opening.title,
                location=place,
                time_zone=series.time_zone,
                acknowledge_window=plan.accept_window,
            )
        )
        ids = {
            await _create(tx, terms, plan, parent_id, starts_at, ends_at, by)
            for starts_at, ends_at in times
            if (starts_at, ends_at, place) not in existing
        }
    return [time for time in await list_interviews(tx, parent_id) if time.id in ids]


async def _create(
    tx: Tx,
    terms: OpeningTerms,
    plan: InterviewPlan,
    parent_id: int,
    starts_at: dt.datetime,
    ends_at: dt.datetime,
    by: Actor,
) -> int:
    id = await openings.insert(tx, terms, plan.places)
    await tx.execute(
        """
        UPDATE hiring.opening
           SET parent_id = %s, starts_at = %s, ends_at = %s, next_deadline_at = %s
         WHERE id = %s
        """,
        [parent_id, starts_at, ends_at, starts_at, id],
    )
    async with lock_opening(tx, id, by) as locked:
        locked.record_opening_event(
            "OPENED",
            {
                "capacity": plan.places,
                "parentId": parent_id,
                **_span(starts_at, ends_at),
                "location": terms.location,
                "timeZone": terms.time_zone,
                "acknowledgeWindowSeconds": round(terms.acknowledge_window.total_seconds()),
            },
        )
    return id


def _span(starts_at: dt.datetime, ends_at: dt.datetime) -> dict[str, str]:
    return {"startsAt": format_timestamp(starts_at), "endsAt": format_timestamp(ends_at)}


async def get_interview(tx: Tx, id: int) -> InterviewTime:
    """One time; raises InterviewNotFound, also for an opening that is none."""
    return await fetch_or_raise(
        tx,
        InterviewTime,
        f"{SELECT} WHERE id = %s AND parent_id IS NOT NULL",
        [id],
        InterviewNotFound(id),
    )


async def list_interviews(tx: Tx, parent_id: int) -> list[InterviewTime]:
    """The times of an opening in order, also past and cancelled ones."""
    sql: LiteralString = f"{SELECT} WHERE parent_id = %s ORDER BY starts_at, id"
    return await fetch_all(tx, InterviewTime, sql, [parent_id])


async def find_openings_with_times(tx: Tx, opening_ids: Collection[int]) -> set[int]:
    """Those of these openings that have interview times."""
    cursor = await tx.execute(
        "SELECT DISTINCT parent_id FROM hiring.opening WHERE parent_id = ANY (%s)",
        [list(opening_ids)],
    )
    return {id for (id,) in await cursor.fetchall()}


async def list_bookings(tx: Tx, parent_id: int) -> list[Booking]:
    """The live bookings of all times of the opening, in the order of places."""
    return await fetch_all(
        tx,
        Booking,
        """
        SELECT booking.id AS application_id, booking.opening_id AS interview_id,
               booking.applicant_id, name AS applicant_name, booking.status,
               booking.acknowledge_deadline, application.id AS parent_application_id
          FROM hiring.application AS booking
          JOIN hiring.applicant ON applicant.id = booking.applicant_id
          LEFT JOIN hiring.application ON application.opening_id = booking.parent_id
                                      AND application.applicant_id = booking.applicant_id
                                      AND application.status <> 'INACTIVE'
         WHERE booking.parent_id = %s AND booking.status <> 'INACTIVE'
         ORDER BY booking.opening_id, booking.queue_key NULLS FIRST, booking.id
        """,
        [parent_id],
    )


async def move_interview(
    tx: Tx,
    id: int,
    by: Actor,
    *,
    starts_at: dt.datetime | None = None,
    place: str | None = None,
) -> InterviewTime:
    """Change the start or the place; the length stays. People with a place or an offer get a letter."""
    interview = await get_interview(tx, id)
    # The parent's lock: two times moved at once cannot both take the same new time and place.
    async with (
        lock_opening(tx, interview.parent_id, by),
        lock_and_expire_offers(tx, id, by) as locked,
    ):
        before = await get_interview(await locked.flush(), id)
        start = starts_at or before.starts_at
        if start.year not in lifecycle.DEADLINE_YEARS:
            raise Invalid("The new start should be between 1970 and 9000.")
        end = start + (before.ends_at - before.starts_at)
        where = before.place if place is None else " ".join(place.split()) or None
        _check_move(locked, before, start, where)
        if (start, where) == (before.starts_at, before.place):
            return before
        await _update(locked, start, end, where)
        locked.record_opening_event("EDITED", {**_span(start, end), "location": where})
        for application in await _list_live(locked):
            _notify_moved(locked, application)
    return await get_interview(tx, id)


def _notify_moved(locked: LockedOpening, application: Application) -> None:
    if application.status == "ACTIVE":
        locked.add_notice("interview_moved", application)
    elif application.acknowledge_deadline:
        # The offer again: its letter tells the new time.
        deadline = format_timestamp(application.acknowledge_deadline)
        locked.add_notice("promoted", application, deadline=deadline)


def _check_move(
    locked: LockedOpening, before: InterviewTime, start: dt.datetime, where: str | None
) -> None:
    if before.status == "closed":
        raise Conflict("This interview time was cancelled.")
    if before.has_started:
        raise Conflict("This interview time has started already.")
    if start <= locked.at:
        raise Invalid("The new start should be in the future.")
    if where and len(where) > MAX_PLACE_LENGTH:
        raise Invalid(f"The location or link can have at most {MAX_PLACE_LENGTH} characters.")


async def _update(
    locked: LockedOpening, start: dt.datetime, end: dt.datetime, where: str | None
) -> None:
    duplicate = await fetch_one(
        locked.tx,
        InterviewTime,
        f"""{SELECT}
         WHERE parent_id = %s AND starts_at = %s AND ends_at = %s
           AND coalesce(location, '') = %s AND status <> 'closed' AND id <> %s
        """,
        [locked.opening.parent_id, start, end, where or "", locked.opening.id],
    )
    if duplicate:
        raise Conflict("There is already an interview at this time and place.")
    await locked.tx.execute(
        "UPDATE hiring.opening SET starts_at = %s, ends_at = %s, location = %s WHERE id = %s",
        [start, end, where, locked.opening.id],
    )
    deadline = locked.next_deadline_at
    locked.next_deadline_at = min(deadline, start) if deadline else start


async def cancel_interview(tx: Tx, id: int, by: Actor, *, reason: str | None = None) -> None:
    """End all bookings of a time with a letter, and close it; a cancelled time stays cancelled."""
    await get_interview(tx, id)
    async with lock_and_expire_offers(tx, id, by) as locked:
        if locked.status == "closed":
            return
        for application in await _list_live(locked):
            end_booking(locked, application, rule=CANCELLED, reason=reason)
        locked.status = "closed"
        locked.record_opening_event("CLOSED", {})


async def _list_live(locked: LockedOpening) -> Sequence[Application]:
    return await applications.find_live(await locked.flush(), locked.opening.id)


def end_booking(
    locked: LockedOpening, application: Application, *, rule: str, reason: str | None = None
) -> Application:
    """End a booking with a letter, without offering its place."""
    ended = record_end(locked, application, rule=rule, reason=reason)
    locked.add_notice("interview_cancelled", ended)
    return ended
