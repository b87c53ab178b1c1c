"""When digests come and quiet hours end, in the time zone of the person."""

from __future__ import annotations

import datetime as dt
from typing import Literal

import pytest

from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.notifications import preferences
from jobmill.notifications.preferences import DigestSchedule
from jobmill.people.persons import LOCAL

BERLIN = DigestSchedule("Europe/Berlin", dt.time(8), 3, dt.time(22), dt.time(7))


def at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(f"{text}+00:00")


@pytest.mark.parametrize(
    ("frequency", "after", "key", "due_at"),
    [
        ("daily", "2026-11-17 06:59", "daily 2026-11-17", "2026-11-17 07:00"),
        # The moment itself has passed.
        ("daily", "2026-11-17 07:00", "daily 2026-11-18", "2026-11-18 07:00"),
        ("weekly", "2026-11-17 12:00", "weekly 2026-11-18", "2026-11-18 07:00"),
        ("weekly", "2026-11-18 07:00", "weekly 2026-11-25", "2026-11-25 07:00"),
        # In summer, 8:00 in Berlin is 6:00 in UTC.
        ("daily", "2026-07-01 06:30", "daily 2026-07-02", "2026-07-02 06:00"),
        # The day in Berlin has begun before the one in UTC.
        ("daily", "2026-11-17 23:30", "daily 2026-11-18", "2026-11-18 07:00"),
    ],
)
def test_a_digest_comes_at_the_local_hour(
    frequency: Literal["daily", "weekly"], after: str, key: str, due_at: str
) -> None:
    assert BERLIN.next_digest(frequency, at(after)) == (key, at(due_at))


@pytest.mark.parametrize(
    ("moment", "ends"),
    [
        ("2026-11-17 20:59", None),
        ("2026-11-17 21:00", "2026-11-18 06:00"),
        ("2026-11-18 05:59", "2026-11-18 06:00"),
        ("2026-11-18 06:00", None),
        # The clocks go back in the night: the quiet hours last an hour longer.
        ("2026-10-24 20:30", "2026-10-25 06:00"),
    ],
)
def test_quiet_hours_end_in_the_morning(moment: str, ends: str | None) -> None:
    assert BERLIN.end_of_quiet_hours(at(moment)) == (at(ends) if ends else None)


def test_quiet_hours_within_a_day() -> None:
    noon = DigestSchedule("UTC", quiet_from=dt.time(12), quiet_until=dt.time(14))
    assert noon.end_of_quiet_hours(at("2026-11-17 13:00")) == at("2026-11-17 14:00")
    assert noon.end_of_quiet_hours(at("2026-11-17 14:00")) is None
    assert DigestSchedule().end_of_quiet_hours(at("2026-11-17 13:00")) is None


async def test_a_schedule_is_saved_and_replaced(tx: Tx) -> None:
    assert await preferences.read_schedule(tx, LOCAL) == DigestSchedule()
    await preferences.save_schedule(tx, LOCAL, BERLIN)
    await preferences.save_schedule(tx, LOCAL, BERLIN)
    assert await preferences.read_schedule(tx, LOCAL) == BERLIN


@pytest.mark.parametrize(
    "schedule",
    [
        DigestSchedule("Eastern"),
        DigestSchedule(quiet_from=dt.time(22)),
        DigestSchedule(quiet_from=dt.time(22), quiet_until=dt.time(22)),
    ],
)
async def test_an_impossible_schedule_is_refused(tx: Tx, schedule: DigestSchedule) -> None:
    with pytest.raises(Invalid):
        await preferences.save_schedule(tx, LOCAL, schedule)
