"""Calendar files (iCalendar, RFC 5545) for deadlines and appointments in letters.

A file has one event with times in UTC, which every calendar shows in its own time zone. A later file with
the same `uid` and a higher `sequence` changes the event in the recipient's calendar, or cancels it.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.outside.mail import Attachment

MAX_LINE_BYTES = 75
"""Longer lines are folded; the line break does not count."""
ESCAPES = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n", "\r": None})
PRODUCT = "-//Jobmill//Hiring//EN"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEvent:
    uid: str
    """The same for all files about this event, and for no other event of any installation."""
    summary: str
    starts_at: dt.datetime
    ends_at: dt.datetime
    description: str = ""
    location: str = ""
    url: str = ""
    sequence: int = 0
    """Grows with every change of the event."""
    is_cancelled: bool = False
    alarm_before: dt.timedelta | None = None
    """How long before the end the calendar reminds the recipient."""


def attach_event(
    event: CalendarEvent, created_at: dt.datetime, filename: str = "event.ics"
) -> Attachment:
    """The event as a letter's attachment, which mail programs offer to add to the calendar."""
    method = "CANCEL" if event.is_cancelled else "PUBLISH"
    content = render_event(event, created_at)
    return Attachment(filename, "text", "calendar", content, {"method": method, "charset": "utf-8"})


def render_event(event: CalendarEvent, created_at: dt.datetime) -> bytes:
    """The calendar file; the same bytes for every attempt to send it."""
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        f"PRODID:{PRODUCT}",
        f"METHOD:{'CANCEL' if event.is_cancelled else 'PUBLISH'}",
        "BEGIN:VEVENT",
        f"UID:{_escape(event.uid)}",
        f"DTSTAMP:{_format_utc(created_at)}",
        f"SEQUENCE:{event.sequence}",
        f"STATUS:{'CANCELLED' if event.is_cancelled else 'CONFIRMED'}",
        f"DTSTART:{_format_utc(event.starts_at)}",
        f"DTEND:{_format_utc(event.ends_at)}",
        f"SUMMARY:{_escape(event.summary)}",
        *([f"DESCRIPTION:{_escape(event.description)}"] if event.description else []),
        *([f"LOCATION:{_escape(event.location)}"] if event.location else []),
        *([f"URL:{event.url}"] if event.url else []),
        *_render_alarm(event),
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return b"".join(_fold(line) for line in lines)


def _render_alarm(event: CalendarEvent) -> list[str]:
    if event.alarm_before is None or event.is_cancelled:
        return []
    minutes = round(event.alarm_before / dt.timedelta(minutes=1))
    return [
        "BEGIN:VALARM",
        "ACTION:DISPLAY",
        f"DESCRIPTION:{_escape(event.summary)}",
        f"TRIGGER;RELATED=END:-PT{minutes}M",
        "END:VALARM",
    ]


def _format_utc(at: dt.datetime) -> str:
    return f"{at.astimezone(dt.UTC):%Y%m%dT%H%M%SZ}"


def _escape(text: str) -> str:
    """Text as a property value, without control characters that no calendar accepts."""
    printable = "".join(char for char in text if char == "\n" or char.isprintable())
    return printable.translate(ESCAPES)


def _fold(line: str) -> bytes:
    """The line with CRLF, broken into lines of at most 75 bytes without splitting a character."""
    folded, length = "", 0
    for char in line:
        size = len(char.encode("utf-8", "replace"))
        if length + size > MAX_LINE_BYTES:
            folded, length = folded + "\r\n ", 1
        folded, length = folded + char, length + size
    return (folded + "\r\n").encode("utf-8", "replace")
