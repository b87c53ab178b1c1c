"""Guards of the time of an offer: quiet hours, time zones, and what a calendar file may hold."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

TEST = "tests/hiring/test_quiet_hours.py"

GUARDS: list[Guard] = [
    guard(
        "the time of an offer made in quiet hours begins at their end",
        "jobmill/hiring/waitlist/promotions.py",
        "starts_at = quiet_hours.find_offer_start(locked.opening, locked.at)",
        "starts_at = locked.at",
        f"{TEST}::test_an_offer_in_quiet_hours_takes_its_slot_at_once_and_its_time_begins_later",
    ),
    guard(
        "quiet hours do not begin again when the clocks go back",
        "jobmill/hiring/waitlist/quiet_hours.py",
        "return max(end, at)",
        "return end",
        f"{TEST}::test_the_time_of_an_offer_begins_when_quiet_hours_end",
    ),
    guard(
        "a time zone is a known name, never a path",
        "jobmill/time_zones.py",
        "    if name not in list_time_zones():\n",
        "    if name and name not in list_time_zones():\n        return dt.UTC\n    if not name:\n",
        f"{TEST}::test_invalid_hours_are_refused",
    ),
    guard(
        "a title adds no property to a calendar file",
        "jobmill/hiring/messages/calendar_files.py",
        '"\\n": "\\\\n", "\\r": None',
        '"\\r": "\\r"',
        "tests/hiring/test_calendar_files.py::test_a_hostile_text_adds_no_property_and_long_lines_are_folded",
    ),
]
