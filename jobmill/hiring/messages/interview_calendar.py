"""An interview as a calendar file, which moves or cancels the earlier one in the recipient's calendar."""

from __future__ import annotations

import datetime as dt

from jobmill.hiring.messages.calendar_files import CalendarEvent, attach_event
from jobmill.hiring.messages.letters import make_mark
from jobmill.hiring.messages.notices import OutgoingLetter
from jobmill.outside.mail import Attachment

EPOCH = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
SHOWN = ("interview_booked", "interview_moved")
"""Letters after which the calendar shows the interview."""


def make_calendar_file(
    letter: OutgoingLetter, secret: bytes, domain: str, link: str
) -> Attachment | None:
    """The file for a letter about an interview that was booked, moved or cancelled; None for others."""
    is_cancelled = letter.kind == "interview_cancelled"
    if not (is_cancelled or letter.kind in SHOWN) or not (letter.starts_at and letter.ends_at):
        return None
    # One event per person and opening: a rebooked interview replaces the earlier one.
    subject = f"interview {letter.parent_id} {letter.applicant_id}"
    event = CalendarEvent(
        uid=f"interview.{make_mark(secret, subject)}@{domain}",
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
