"""Booking interview times: one per person and opening, and another one only in exchange.

The parent is locked first, then its times: a person's application for the opening and their booking do not
change meanwhile, and two exchanges of the same times in opposite directions cannot deadlock.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jobmill.db import Tx, fetch_one
from jobmill.errors import Conflict
from jobmill.hiring.actor import Actor
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.applications.submissions import apply_locked
from jobmill.hiring.applications.withdrawals import record_end
from jobmill.hiring.interviews import interview_times
from jobmill.hiring.interviews.interview_times import InterviewTime, get_interview
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applications import Application
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.transitions import ApplicationStatus
from jobmill.hiring.waitlist import promotions
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers

REBOOKED = "another interview time was booked"
OVER = "the interview time is over"
UNBOOKED = "booking cancelled"


class AlreadyBooked(Conflict):
    def __init__(self) -> None:
        super().__init__("You have booked this time already.")


class NoBookingToCancel(Conflict):
    def __init__(self) -> None:
        super().__init__("There is no booked interview to cancel.")


@dataclass(frozen=True, slots=True)
class OwnBooking:
    """A person's live booking of an interview time."""

    application_id: int
    interview_id: int
    status: ApplicationStatus
    queue_key: int | None
    acknowledge_deadline: dt.datetime | None
    starts_at: dt.datetime
    ends_at: dt.datetime
    place: str | None
    """None until the time is booked: only applicants with this time may know a meeting link."""
    time_zone: str
    position: int | None = None


@dataclass(frozen=True, slots=True)
class InterviewChoice:
    """What a person can book for one application."""

    application_id: int
    booking: OwnBooking | None
    """The live booking; also after its time is over."""
    times: Sequence[InterviewTime]
    """Times that can still be booked, without the booked one and without their places."""
    has_places: bool
    """Whether a place or link is shown after booking."""
    now: dt.datetime

    @property
    def is_over(self) -> bool:
        return self.booking is not None and self.booking.starts_at <= self.now


async def book(tx: Tx, application_id: int, interview_id: int, by: Actor) -> Placement:
    """Book a time for an application with a place, in exchange for the one booked before.

    Joins the waitlist of a full time. Raises AlreadyBooked for the time that is booked, and
    Conflict if the person may not book it.
    """
    interview = await get_interview(tx, interview_id)
    async with lock_and_expire_offers(tx, interview.parent_id, by) as parent:
        application = await parent.get_application(application_id)
        _check_right_to_book(parent.opening, application)
        old = await find_booking(await parent.flush(), application_id)
        if old and old.interview_id == interview_id:
            raise AlreadyBooked
        new_applicants = [application.applicant_id]
        async with lock_and_expire_offers(
            tx, interview_id, by, new_applicants=new_applicants
        ) as locked:
            if old:
                must_wait = locked.waiting > 0 or not locked.free_slots
                await _give_up(tx, old, by, is_replaced=not must_wait)
            return await apply_locked(locked, application.applicant_id)


def _check_right_to_book(parent: Opening, application: Application) -> None:
    if application.opening_id != parent.id or application.status != "ACTIVE":
        raise Conflict("Only people with a place can book an interview.")


async def _give_up(tx: Tx, old: OwnBooking, by: Actor, *, is_replaced: bool) -> None:
    """End the earlier booking and offer its place.

    The letter about a new booking replaces the interview in the applicant's calendar; an applicant on the waitlist of the new time gets a letter that removes it.
    """
    async with lock_and_expire_offers(tx, old.interview_id, by) as locked:
        booking = await locked.get_application(old.application_id)
        if booking.status == "INACTIVE":
            return
        rule = OVER if locked.has_started else REBOOKED
        ended = record_end(locked, booking, rule=rule, reason=None)
        if booking.status == "ACTIVE" and not is_replaced and not locked.has_started:
            locked.add_notice("interview_cancelled", ended)
        await promotions.offer_free_slots(locked, cause=locked.seq)


async def cancel_booking(tx: Tx, application_id: int, by: Actor) -> Placement:
    """Cancel the booking of an application; its place is offered to the next.

    Raises NoBookingToCancel without one, and Conflict if the interview has started.
    """
    opening_id = await applications.find_opening_id(tx, application_id)
    async with lock_and_expire_offers(tx, opening_id, by) as parent:
        booking = await find_booking(await parent.flush(), application_id)
        if booking is None:
            raise NoBookingToCancel
        if booking.starts_at <= parent.at:
            raise Conflict("This interview has started and cannot be cancelled.")
        async with lock_and_expire_offers(tx, booking.interview_id, by) as locked:
            application = await locked.get_application(booking.application_id)
            if application.status == "INACTIVE":
                raise NoBookingToCancel
            ended = interview_times.end_booking(locked, application, rule=UNBOOKED)
            await promotions.offer_free_slots(locked, cause=locked.seq)
            return Placement(ended)


async def find_booking(tx: Tx, application_id: int) -> OwnBooking | None:
    """The live booking of the person of an application, for the same opening."""
    return await fetch_one(
        tx,
        OwnBooking,
        """
        SELECT booking.id AS application_id, booking.opening_id AS interview_id, booking.status,
               booking.queue_key, booking.acknowledge_deadline, interview.starts_at,
               interview.ends_at, interview.time_zone,
               CASE WHEN booking.status = 'ACTIVE' THEN interview.location END AS place,
               1 + (SELECT count(*) FROM hiring.application AS ahead
                     WHERE ahead.opening_id = booking.opening_id AND ahead.status = 'WAITLIST'
                       AND ahead.queue_key < booking.queue_key) AS position
          FROM hiring.application
          JOIN hiring.application AS booking ON booking.parent_id = application.opening_id
                                            AND booking.applicant_id = application.applicant_id
                                            AND booking.status <> 'INACTIVE'
          JOIN hiring.opening AS interview ON interview.id = booking.opening_id
         WHERE application.id = %s
        """,
        [application_id],
    )


async def read_choice(tx: Tx, application_id: int) -> InterviewChoice | None:
    """What the person of an application can book; None if there is nothing to book or to show."""
    application = await applications.get(tx, application_id)
    if application.status != "ACTIVE":
        return None
    parent = await openings.get(tx, application.opening_id)
    booking = await find_booking(tx, application_id)
    booked_id = booking.interview_id if booking else None
    times = [
        time
        for time in await interview_times.list_interviews(tx, parent.id)
        if time.status == "open" and not time.has_started and time.id != booked_id
    ]
    if not (booking or times):
        return None
    return InterviewChoice(
        application_id,
        booking,
        [replace(time, place=None) for time in times],
        any(time.place for time in times),
        parent.now,
    )
