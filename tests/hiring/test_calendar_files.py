from __future__ import annotations

import datetime as dt
from dataclasses import replace

from jobmill.hiring.messages import calendar_files
from jobmill.hiring.messages.calendar_files import CalendarEvent

AT = dt.datetime(2030, 1, 1, 12, tzinfo=dt.UTC)
EVENT = CalendarEvent(
    uid="offer.1.abc@wells.example",
    summary="Answer the offer: Baker",
    starts_at=AT,
    ends_at=AT + dt.timedelta(hours=1),
)


def render(event: CalendarEvent) -> str:
    return calendar_files.render_event(event, AT).decode()


def test_an_event_has_the_properties_that_calendars_require() -> None:
    assert render(EVENT).split("\r\n") == [
        "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Jobmill//Hiring//EN", "METHOD:PUBLISH",
        "BEGIN:VEVENT", "UID:offer.1.abc@wells.example", "DTSTAMP:20300101T120000Z", "SEQUENCE:0",
        "STATUS:CONFIRMED", "DTSTART:20300101T120000Z", "DTEND:20300101T130000Z",
        "SUMMARY:Answer the offer: Baker", "END:VEVENT", "END:VCALENDAR", "",
    ]  # fmt: skip


def test_a_cancelled_event_keeps_its_uid_and_has_no_alarm() -> None:
    before = render(replace(EVENT, alarm_before=dt.timedelta(hours=2)))
    assert "TRIGGER;RELATED=END:-PT120M" in before
    event = replace(EVENT, is_cancelled=True, sequence=1, alarm_before=dt.timedelta(hours=2))
    after = render(event)
    assert "METHOD:CANCEL" in after
    assert "STATUS:CANCELLED" in after
    assert "UID:offer.1.abc@wells.example" in after
    assert "VALARM" not in after


def test_a_hostile_text_adds_no_property_and_long_lines_are_folded() -> None:
    hostile = "Baker; \\ a,b\r\nATTENDEE:mailto:eve@evil.example\x00\u2028" + "ü" * 100
    lines = calendar_files.render_event(replace(EVENT, summary=hostile), AT).split(b"\r\n")
    assert all(len(line) <= 75 for line in lines)
    # Each folded line is text of its own: no character is split.
    assert [line.decode() for line in lines]
    unfolded = b"\r\n".join(lines).replace(b"\r\n ", b"").decode().split("\r\n")
    [summary] = [line for line in unfolded if line.startswith("SUMMARY:")]
    assert summary.startswith(r"SUMMARY:Baker\; \\ a\,b\nATTENDEE:mailto:eve@evil.example" + "üü")
    assert not any(line.startswith("ATTENDEE") for line in unfolded)
