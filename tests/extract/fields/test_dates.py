import datetime as dt

import pytest

from jobmill.extract.fields import dates

NOW = dt.datetime(2026, 9, 1, 12, 30, tzinfo=dt.UTC)
DAY = "2026-08-17T00:00:00+00:00"
MOMENT = "2026-08-17T05:56:02+00:00"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-08-17T05:56:02-04:00", "2026-08-17T05:56:02-04:00"),
        ("2026-08-17T05:56:02Z", MOMENT),
        ("2026-08-17T05:56:02+0000", MOMENT),
        ("2026-08-17T05:56:02", MOMENT),
        ("2026-08-17 05:56:02 UTC", MOMENT),
        ("2026-08-17 05:56:02 +0200 UTC", "2026-08-17T05:56:02+02:00"),
        ("2026-08-17T05:56:02Z[UTC]", MOMENT),
        ("2026-08-17", DAY),
        ("2026/08/17", DAY),
        ("2026-8-17", DAY),
        ("20260817", DAY),
        (1786946162, MOMENT),
        (1786946162000, MOMENT),
        ("1786946162", MOMENT),
        ("1786946162000", MOMENT),
        (dt.date(2026, 8, 17), DAY),
        ("Mon, 17 Aug 2026 05:56:02 GMT", MOMENT),
        ("Mon, 17 Aug 2026 05:56:02 +0200", "2026-08-17T05:56:02+02:00"),
        ("Mon Aug 17 2026 05:56:02 GMT+0200 (CEST)", "2026-08-17T05:56:02+02:00"),
        ("Mon Aug 17 05:56:02 2026", MOMENT),
        ("08/17/2026", DAY),
        ("17/08/2026", DAY),
        ("17.08.2026", DAY),
        ("Aug 17, 2026", DAY),
        ("August 17th, 2026", DAY),
        ("17 August 2026", DAY),
        ("17-Aug-2026", DAY),
        ("17. August 2026", DAY),
        ("17 août 2026", DAY),
        ("17 de agosto de 2026", DAY),
        ("17 sierpnia 2026", DAY),
        ("Aug 17, 2026 5:56 PM", "2026-08-17T17:56:00+00:00"),
        ("Posted Today", "2026-09-01T00:00:00+00:00"),
        ("Posted Yesterday", "2026-08-31T00:00:00+00:00"),
        ("Posted 3 Days Ago", "2026-08-29T00:00:00+00:00"),
        ("2 weeks ago", "2026-08-18T00:00:00+00:00"),
        ("vor 3 Tagen", "2026-08-29T00:00:00+00:00"),
        ("il y a 2 jours", "2026-08-30T00:00:00+00:00"),
        ("5 hours ago", "2026-09-01T07:30:00+00:00"),
    ],
)
def test_a_date_is_read_however_it_is_written(value: object, expected: str) -> None:
    parsed = dates.parse_date(value, now=NOW)
    assert parsed
    assert parsed.isoformat() == expected


@pytest.mark.parametrize(
    "value",
    [
        None, "", " ", "N/A", "soon", "asap", True, False, [], {}, float("nan"), float("inf"),
        -1, 0, 12,
        10**400, 1e300, "9" * 5000, "1999-12-31", "2027-01-01", "9999-12-31T23:59:59-12:00",
        "0001-01-01T00:00:00+05:00", "2026-13-01", "31.02.2026", "25:61", "5 days of leave",
        "²²²²²²²²",
        "Posted 30+ Days Ago", "2026-08-17T05:56:02" + "x" * 1000,
    ],
)  # fmt: skip
def test_invalid_and_implausible_dates_are_unknown(value: object) -> None:
    assert dates.parse_date(value, now=NOW) is None


def test_days_come_first_where_the_site_writes_so() -> None:
    american, british = (
        dates.parse_date("03/04/2026", now=NOW, day_first=first) for first in (False, True)
    )
    assert american
    assert british
    assert (american.month, british.month) == (3, 4)


def test_two_days_ahead_are_accepted_and_three_are_not() -> None:
    assert dates.parse_date("2026-09-03", now=NOW)
    assert dates.parse_date("2026-09-04", now=NOW) is None


def test_a_deadline_may_be_in_the_future_but_not_too_far() -> None:
    assert dates.parse_deadline("2027-01-31", now=NOW) == dt.datetime(2027, 1, 31, tzinfo=dt.UTC)
    assert dates.parse_deadline("2046-01-31", now=NOW) is None
    assert dates.parse_deadline("open", now=NOW) is None


def test_days_ago_stay_the_same_all_day() -> None:
    morning, evening = (NOW.replace(hour=hour) for hour in (1, 23))
    assert dates.parse_date("2 days ago", now=morning) == dates.parse_date(
        "2 days ago", now=evening
    )
