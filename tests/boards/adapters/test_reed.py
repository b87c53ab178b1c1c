"""Reed: British dates, pay of unsaid periods, cut texts."""

from __future__ import annotations

import datetime as dt

import pytest

from jobmill.boards.adapters import reed
from jobmill.catalog.posting import Posting, Salary

from . import answer, first_request, read


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("reed", answer("reed/search.json"), {}).postings


def test_the_key_goes_as_the_user_of_a_basic_login() -> None:
    asked = first_request("reed", keywords="thatch", location="Wells", distance=10)
    assert asked.secret == {"Authorization": "Basic {basic:REED_API_KEY}"}
    assert asked.url == (
        "https://www.reed.co.uk/api/1.0/search?keywords=thatch&locationName=Wells"
        "&distanceFromLocation=10&resultsToTake=100&resultsToSkip=0"
    )


def test_dates_begin_with_the_day(postings: tuple[Posting, ...]) -> None:
    assert postings[0].posted_at == dt.datetime(2024, 11, 3, tzinfo=dt.UTC)
    assert postings[0].valid_through == dt.datetime(2024, 12, 5, tzinfo=dt.UTC)


def test_pay_is_not_said_to_be_yearly(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary == Salary(12.5, 14, "GBP", None, "structured")


def test_hidden_pay_is_unknown_and_not_nothing(postings: tuple[Posting, ...]) -> None:
    assert postings[1].salary is None


def test_a_posting_of_its_own_is_whole(postings: tuple[Posting, ...]) -> None:
    config = reed.ReedSearch()
    asked = reed.detail_request(postings[0], config)
    whole = reed.read_detail(answer("reed/posting.json"), postings[0], config)
    assert (asked.url, asked.secret) == ("https://www.reed.co.uk/api/1.0/jobs/4001", reed.KEY)
    assert (postings[0].partial, whole.partial) == (True, False)
    assert "Own ladder needed." in (whole.description or "")
    assert whole.salary == Salary(12.5, 14, "GBP", "hour", "structured")
    assert whole.employment_type == "full_time"


def test_the_next_page_is_asked_for_by_what_is_skipped() -> None:
    body = answer("reed/search.json").replace(b'"totalResults": 2', b'"totalResults": 250')
    first = first_request("reed")
    (second,) = read("reed", body, {}, first).next
    assert "resultsToSkip=100" in second.url


def test_a_posting_of_its_own_says_the_hours_in_words() -> None:
    body = (
        b'{"jobId": 1, "jobTitle": "Thatcher", "jobType": "Part Time", "contractType": "Permanent"}'
    )
    assert read("reed", body, {}).postings[0].employment_type == "part_time"
