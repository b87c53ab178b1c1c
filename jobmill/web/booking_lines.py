"""What happened to an applicant's interview bookings, in sentences for the applicant."""

from __future__ import annotations

from jobmill.hiring.actor import ISSUED_BY
from jobmill.hiring.interviews.booking_events import BookingEvent
from jobmill.hiring.interviews.bookings import OVER, REBOOKED, UNBOOKED
from jobmill.hiring.interviews.interview_times import CANCELLED
from jobmill.hiring.waitlist.deadlines import INTERVIEW_STARTED
from jobmill.time_zones import format_local_time
from jobmill.web.translations import say


def describe_booking_event(event: BookingEvent) -> str:
    time = format_local_time(event.starts_at, event.time_zone)
    match event.type:
        case "EDITED":
            return say(
                "The company changed the time or location of the interview. It is now at %(time)s.",
                time=time,
            )
        case "APPLIED":
            return _booked_text(event, time)
        case "PROMOTED":
            return say("A place became free for you in the interview at %(time)s.", time=time)
        case "ACKNOWLEDGED":
            return say("The place in the interview at %(time)s was accepted.", time=time)
        case "DECAY_TRIGGERED" | "LAPSED":
            return say(
                "You did not accept the place in the interview at %(time)s before the deadline.",
                time=time,
            )
        case _:
            return _ended_text(event, time)


def _booked_text(event: BookingEvent, time: str) -> str:
    if event.to_status == "WAITLIST":
        return say("You joined the waitlist for the interview at %(time)s.", time=time)
    if _is_by_applicant(event):
        return say("You booked the interview at %(time)s.", time=time)
    return say("The company booked the interview at %(time)s for you.", time=time)


def _ended_text(event: BookingEvent, time: str) -> str:
    match event.why.get("rule"):
        case rule if rule == CANCELLED:
            return say("The company cancelled the interview at %(time)s.", time=time)
        case rule if rule == REBOOKED:
            return say("Another time was booked instead of the interview at %(time)s.", time=time)
        case rule if rule == UNBOOKED and _is_by_applicant(event):
            return say("You cancelled the interview at %(time)s.", time=time)
        case rule if rule == UNBOOKED:
            return say("The company cancelled your interview at %(time)s.", time=time)
        case rule if rule == INTERVIEW_STARTED and event.from_status == "PENDING_ACKNOWLEDGMENT":
            return say(
                "You did not accept the place in the interview at %(time)s before it started.",
                time=time,
            )
        case rule if rule == INTERVIEW_STARTED:
            return say(
                "The interview at %(time)s has started. No place became free for you.", time=time
            )
        case rule if rule == OVER:
            return say("The interview at %(time)s is over.", time=time)
        case _:
            return say("Your booking of the interview at %(time)s has ended.", time=time)


def _is_by_applicant(event: BookingEvent) -> bool:
    return event.actor.startswith("applicant") and ISSUED_BY not in event.actor
