"""The deadline of an offer as a calendar file, and its cancellation when the offer has ended."""

from __future__ import annotations

import datetime as dt

from jobmill.hiring.messages.calendar_files import CalendarEvent, attach_event
from jobmill.hiring.messages.letters import make_mark
from jobmill.hiring.messages.notices import OutgoingLetter
from jobmill.outside.mail import Attachment

EVENT_LENGTH = dt.timedelta(minutes=30)
ALARM_BEFORE = dt.timedelta(hours=2)


def make_calendar_file(
    letter: OutgoingLetter, secret: bytes, domain: str, answer_link: str
) -> Attachment | None:
    """The file for a letter with an offer or about the end of one; None for other letters."""
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
    return f"offer.{application_id}.{make_mark(secret, offer)}@{domain}"
