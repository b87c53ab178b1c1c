"""Himalayas: dates in seconds or milliseconds, location restrictions, small pages."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from jobmill.catalog.posting import Posting, Salary

from . import answer, first_request, read


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("himalayas", answer("himalayas/page.json"), {}).postings


def test_dates_are_numbers(postings: tuple[Posting, ...]) -> None:
    at = dt.datetime(2024, 7, 11, 0, 58, 52, tzinfo=dt.UTC)
    assert [posting.posted_at for posting in postings] == [at, at]
    assert postings[0].valid_through


def test_location_restrictions_are_read(postings: tuple[Posting, ...]) -> None:
    assert [posting.remote_from for posting in postings] == [("Nepal", "India"), ()]
    assert all(posting.arrangement == "remote" for posting in postings)


def test_a_salary_keeps_its_period(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary == Salary(30, 35, "USD", "hour", "structured")
    assert postings[1].salary is None


def test_the_name_of_a_column_is_not_a_company(postings: tuple[Posting, ...]) -> None:
    assert [posting.company for posting in postings] == ["High Pastures", None]


def test_the_next_page_starts_after_the_received_records() -> None:
    first = first_request("himalayas")
    (second,) = read("himalayas", answer("himalayas/page.json"), {}, first).next
    (third,) = read("himalayas", answer("himalayas/page.json"), {}, second).next
    assert ["offset=2" in second.url, "offset=4" in third.url] == [True, True]
    assert read("himalayas", answer("himalayas/page.json"), {}, third).next == ()


def test_the_cursor_of_the_site_leads_to_the_next_page() -> None:
    body = json.loads(answer("himalayas/page.json")) | {"nextCursor": "Mj&A"}
    (more,) = read("himalayas", json.dumps(body).encode(), {}).next
    assert more.url == "https://himalayas.app/jobs/api?limit=20&cursor=Mj%26A"
