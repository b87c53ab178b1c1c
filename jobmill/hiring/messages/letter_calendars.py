"""Calendar files of letters: the deadline of an offer, and an interview."""

from __future__ import annotations

import datetime as dt

from jobmill.hiring.messages.calendar_files import CalendarEvent, attach_event
from jobmill.hiring.messages.letters import make_unique_part
from jobmill.hiring.messages.notices import OutgoingLetter
from jobmill.outside.mail import Attachment

EVENT_LENGTH = dt.timedelta(minutes=30)
ALARM_BEFORE = dt.timedelta(hours=2)
EPOCH = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
INTERVIEW_LETTERS = ("interview_booked", "interview_moved")
"""Letters after which the calendar shows the interview."""


def make_offer_file(
    letter: OutgoingLetter, secret: bytes, domain: str, answer_link: str
) -> Attachment | None:
    """The file for a letter with an offer or about the end of one; None for other letters.
    The end of the offer cancels it in the calendar."""
    deadline = letter.deadline if letter.is_offer else letter.ended_offer
    if deadline is None or letter.application_id is None:
        return None
    event = CalendarEvent(
        uid=make_uid(letter.application_id, deadline, secret, domain),
        summary=f"Answer the offer: {letter.title}",
        starts_at=deadline - EVENT_LENGTH,
        ends_at=deadline,
        description="" if letter.ended_offer else f"Accept or decline:\n{answer_link}",
        url="" if letter.ended_offer else answer_link,
        sequence=1 if letter.ended_offer else 0,
        is_cancelled=letter.ended_offer is not None,
        alarm_before=ALARM_BEFORE,
    )
    return attach_event(event, letter.created_at, "offer.ics")


def make_uid(application_id: int, deadline: dt.datetime, secret: bytes, domain: str) -> str:
    """The same for all letters about one offer, and unique across installations."""
    offer = f"offer {application_id} {deadline.astimezone(dt.UTC).isoformat()}"
    return f"offer.{application_id}.{make_unique_part(secret, offer)}@{domain}"


def make_interview_file(
    letter: OutgoingLetter, secret: bytes, domain: str, link: str
) -> Attachment | None:
    """The file for a letter about an interview that was booked, moved or cancelled; None for others.
    It replaces the earlier one in the calendar."""
    is_cancelled = letter.kind == "interview_cancelled"
    if not (is_cancelled or letter.kind in INTERVIEW_LETTERS) or not (
        letter.starts_at and letter.ends_at
    ):
        return None
    # One event per person and opening: a rebooked interview replaces the earlier one.
    subject = f"interview {letter.parent_id} {letter.applicant_id}"
    event = CalendarEvent(
        uid=f"interview.{make_unique_part(secret, subject)}@{domain}",
        summary=f"Interview: {letter.title}",
        starts_at=letter.starts_at,
        ends_at=letter.ends_at,
        description="" if is_cancelled else f"Choose another time or cancel:\n{link}",
        location=letter.place or "",
        # Grows with every letter, also when the interview changes to another time.
        sequence=int((letter.created_at - EPOCH).total_seconds()),
        is_cancelled=is_cancelled,
    )
    return attach_event(event, letter.created_at, "interview.ics")
