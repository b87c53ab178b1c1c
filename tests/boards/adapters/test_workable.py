"""Workable: one response per account, and another format for a single posting."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from jobmill.boards.adapters import workable
from jobmill.boards.platform import BoardConfig, BoardPage
from jobmill.catalog.posting import Posting, Salary
from jobmill.errors import OutsideError

from . import answer, lines, read


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("workable", answer("workable/account.json")).postings


@pytest.mark.parametrize("token", ["puffin", "40123"])
def test_an_account_is_requested_with_texts_by_name_or_number(token: str) -> None:
    assert workable.first_request(BoardConfig(board_token=token)).url == (
        f"https://apply.workable.com/api/v1/widget/accounts/{token}?details=true"
    )


def test_all_fields_of_a_posting_are_read(postings: tuple[Posting, ...]) -> None:
    posting = postings[0]
    assert posting.title == "Test Engineer"
    assert posting.company == "Puffin Software"
    assert posting.url == "https://apply.workable.com/j/AB12CD34EF"
    assert posting.apply_url == "https://apply.workable.com/j/AB12CD34EF/apply"
    assert (posting.vendor_id, posting.requisition_id) == ("AB12CD34EF", "PF-9")
    assert posting.department == "Quality"
    assert posting.employment_type == "full_time"
    assert posting.seniority == "director"
    assert lines(posting.description) == ["Break things.", "Requirements", "- Patience"]


def test_the_posting_date_is_the_publication_not_the_draft(
    postings: tuple[Posting, ...],
) -> None:
    assert postings[0].posted_at
    assert postings[0].posted_at.date() == dt.date(2024, 6, 22)


def test_all_locations_are_read(postings: tuple[Posting, ...]) -> None:
    assert postings[0].location == "Reykjavík, Iceland"
    assert postings[0].locations == ("Reykjavík, Iceland", "Tórshavn, Streymoy, Faroe Islands")
    assert postings[1].locations == ("Iceland",)


def test_only_a_true_telecommuting_flag_sets_the_arrangement(postings: tuple[Posting, ...]) -> None:
    assert [posting.arrangement for posting in postings] == ["remote", None]


def test_empty_texts_are_none(postings: tuple[Posting, ...]) -> None:
    posting = postings[1]
    assert (posting.requisition_id, posting.department, posting.employment_type) == (None,) * 3


def test_a_posting_without_text_gets_it_from_its_details(postings: tuple[Posting, ...]) -> None:
    assert postings[1].partial
    config = BoardConfig(board_token="puffin")
    assert workable.detail_request(postings[1], config).url == (
        "https://apply.workable.com/api/v2/accounts/puffin/jobs/99FF00AA11"
    )
    complete = workable.PLATFORM.read_detail_response(
        answer("workable/posting.json"), postings[1], config
    )
    assert lines(complete.description) == ["Water the plants.", "- A green thumb", "Fresh air."]
    assert complete.requirements == "- A green thumb"
    assert complete.arrangement == "onsite"
    assert complete.company == "Puffin Software"
    assert complete.department == "Office"
    assert complete.locations == ("Akureyri, Norðurland, Iceland",)


def test_a_single_posting_is_read() -> None:
    (posting,) = read("workable", answer("workable/posting.json")).postings
    assert posting.url == "https://apply.workable.com/j/99FF00AA11"
    assert posting.language == "en"


@pytest.mark.parametrize(
    ("url", "board"),
    [
        ("https://apply.workable.com/j/AB12CD34EF", None),
        ("https://apply.workable.com/puffin/j/AB12CD34EF/", "puffin"),
        ("https://puffin.workable.com/j/AB12CD34EF", "puffin"),
    ],
)
def test_the_account_is_read_from_posting_urls(url: str, board: str | None) -> None:
    body = json.loads(answer("workable/account.json"))
    body["jobs"][0]["url"] = url
    assert read("workable", json.dumps(body).encode()).postings[0].board == board


def test_a_malformed_record_is_counted_and_the_others_are_read() -> None:
    body = json.loads(answer("workable/account.json"))
    body["jobs"][1] = {"title": "Nothing else"}
    body["jobs"][0] |= {"locations": [None, {"city": 3}], "telecommuting": "perhaps", "name": 1}
    page = read("workable", json.dumps(body).encode())
    assert (len(page.postings), page.stubs) == (1, 1)


@pytest.mark.parametrize("body", [b"<html>", b'{"error": "Not Found"}', b"[]", b'{"name": "x"}'])
def test_a_response_that_is_not_an_account_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("workable", body)


def test_an_account_without_postings_is_valid() -> None:
    assert read("workable", b'{"name": "Puffin", "jobs": []}') == BoardPage(())


def test_a_search_is_read_like_an_account() -> None:
    record = {"shortcode": "AB12", "title": "Tester", "type": "full", "workplace": "on_site"}
    record |= {"department": ["Quality"], "location": {"city": "Leuven", "country": "Belgium"}}
    body = {
        "total": 20,
        "results": [record | {"published": "2024-09-05T00:00:00Z"}],
        "nextPage": "x",
    }
    page = read("workable", json.dumps(body).encode())
    (posting,) = page.postings
    assert (posting.employment_type, posting.arrangement) == ("full_time", "onsite")
    assert (posting.location, posting.department) == ("Leuven, Belgium", "Quality")
    assert posting.posted_at == dt.datetime(2024, 9, 5, tzinfo=dt.UTC)
    assert (posting.partial, page.truncated) == (True, True)


def test_locations_and_salaries_of_other_responses_are_read() -> None:
    place = {"location_str": "Portland, Oregon, US", "city": "X", "workplace_type": "hybrid"}
    record = {"shortcode": "AB12", "title": "Tester", "created_at": "2024-09-05", "location": place}
    record |= {"salary": {"salary_from": 10000, "salary_to": 20000, "salary_currency": "usd"}}
    (posting,) = read("workable", json.dumps({"jobs": [record]}).encode()).postings
    assert (posting.location, posting.arrangement) == ("Portland, Oregon, US", "hybrid")
    assert posting.salary == Salary(10000, 20000, "USD", None, "structured")
    assert posting.posted_at == dt.datetime(2024, 9, 5, tzinfo=dt.UTC)
    place |= {"workplace_type": None, "telecommuting": True}
    (posting,) = read("workable", json.dumps({"jobs": [record]}).encode()).postings
    assert posting.arrangement == "remote"
