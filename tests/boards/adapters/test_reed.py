"""Reed: British dates, salaries without a period, truncated texts."""

from __future__ import annotations

import datetime as dt

import pytest

from jobmill.boards.adapters import reed
from jobmill.catalog.posting import Posting, Salary

from . import answer, first_request, read


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("reed", answer("reed/search.json"), {}).postings


def test_the_key_is_the_user_name_of_basic_authentication() -> None:
    request = first_request("reed", keywords="thatch", location="Wells", distance=10)
    assert request.secret == {"Authorization": "Basic {basic:REED_API_KEY}"}
    assert request.url == (
        "https://www.reed.co.uk/api/1.0/search?keywords=thatch&locationName=Wells"
        "&distanceFromLocation=10&resultsToTake=100&resultsToSkip=0"
    )


def test_dates_start_with_the_day(postings: tuple[Posting, ...]) -> None:
    assert postings[0].posted_at == dt.datetime(2024, 11, 3, tzinfo=dt.UTC)
    assert postings[0].valid_through == dt.datetime(2024, 12, 5, tzinfo=dt.UTC)


def test_a_salary_without_a_period_has_none(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary == Salary(12.5, 14, "GBP", None, "structured")


def test_a_hidden_salary_is_none(postings: tuple[Posting, ...]) -> None:
    assert postings[1].salary is None


def test_the_details_of_a_posting_are_complete(postings: tuple[Posting, ...]) -> None:
    config = reed.ReedSearch()
    request = reed.detail_request(postings[0], config)
    complete = reed.PLATFORM.read_detail_response(answer("reed/posting.json"), postings[0], config)
    assert (request.url, request.secret) == ("https://www.reed.co.uk/api/1.0/jobs/4001", reed.KEY)
    assert (postings[0].partial, complete.partial) == (True, False)
    assert "Own ladder needed." in (complete.description or "")
    assert complete.salary == Salary(12.5, 14, "GBP", "hour", "structured")
    assert complete.employment_type == "full_time"


def test_the_next_page_is_requested_by_offset() -> None:
    body = answer("reed/search.json").replace(b'"totalResults": 2', b'"totalResults": 250')
    first = first_request("reed")
    (second,) = read("reed", body, {}, first).next
    assert "resultsToSkip=100" in second.url


def test_the_hours_of_a_single_posting_are_read_from_words() -> None:
    body = (
        b'{"jobId": 1, "jobTitle": "Thatcher", "jobType": "Part Time", "contractType": "Permanent"}'
    )
    assert read("reed", body, {}).postings[0].employment_type == "part_time"
