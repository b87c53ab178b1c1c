"""Workable: one answer for an account, and another shape for a single posting."""

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
def test_an_account_is_asked_for_with_texts_by_name_or_number(token: str) -> None:
    assert workable.first_request(BoardConfig(board_token=token)).url == (
        f"https://apply.workable.com/api/v1/widget/accounts/{token}?details=true"
    )


def test_what_a_posting_says_of_itself_is_kept(postings: tuple[Posting, ...]) -> None:
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


def test_the_day_of_publishing_counts_not_that_of_the_draft(
    postings: tuple[Posting, ...],
) -> None:
    assert postings[0].posted_at
    assert postings[0].posted_at.date() == dt.date(2024, 6, 22)


def test_all_places_count(postings: tuple[Posting, ...]) -> None:
    assert postings[0].location == "Reykjavík, Iceland"
    assert postings[0].locations == ("Reykjavík, Iceland", "Tórshavn, Streymoy, Faroe Islands")
    assert postings[1].locations == ("Iceland",)


def test_only_a_yes_to_telecommuting_says_something(postings: tuple[Posting, ...]) -> None:
    assert [one.arrangement for one in postings] == ["remote", None]


def test_empty_words_are_none(postings: tuple[Posting, ...]) -> None:
    posting = postings[1]
    assert (posting.requisition_id, posting.department, posting.employment_type) == (None,) * 3


def test_a_posting_without_text_gets_it_from_its_detail(postings: tuple[Posting, ...]) -> None:
    assert postings[1].partial
    config = BoardConfig(board_token="puffin")
    assert workable.detail_request(postings[1], config).url == (
        "https://apply.workable.com/api/v2/accounts/puffin/jobs/99FF00AA11"
    )
    whole = workable.read_detail(answer("workable/posting.json"), postings[1], config)
    assert lines(whole.description) == ["Water the plants.", "- A green thumb", "Fresh air."]
    assert whole.requirements == "- A green thumb"
    assert whole.arrangement == "onsite"
    assert whole.company == "Puffin Software"
    assert whole.department == "Office"
    assert whole.locations == ("Akureyri, Norðurland, Iceland",)


def test_a_single_posting_is_understood() -> None:
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
def test_the_account_is_known_from_pages_that_name_it(url: str, board: str | None) -> None:
    body = json.loads(answer("workable/account.json"))
    body["jobs"][0]["url"] = url
    assert read("workable", json.dumps(body).encode()).postings[0].board == board


def test_an_odd_record_is_counted_and_costs_no_other() -> None:
    body = json.loads(answer("workable/account.json"))
    body["jobs"][1] = {"title": "Nothing else"}
    body["jobs"][0] |= {"locations": [None, {"city": 3}], "telecommuting": "perhaps", "name": 1}
    page = read("workable", json.dumps(body).encode())
    assert (len(page.postings), page.stubs) == (1, 1)


@pytest.mark.parametrize("body", [b"<html>", b'{"error": "Not Found"}', b"[]", b'{"name": "x"}'])
def test_an_answer_that_is_not_an_account_is_refused(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("workable", body)


def test_an_account_without_postings_is_an_account() -> None:
    assert read("workable", b'{"name": "Puffin", "jobs": []}') == BoardPage(())


def test_a_search_is_read_like_an_account() -> None:
    one = {"shortcode": "AB12", "title": "Tester", "type": "full", "workplace": "on_site"}
    one |= {"department": ["Quality"], "location": {"city": "Leuven", "country": "Belgium"}}
    body = {"total": 20, "results": [one | {"published": "2024-09-05T00:00:00Z"}], "nextPage": "x"}
    page = read("workable", json.dumps(body).encode())
    (found,) = page.postings
    assert (found.employment_type, found.arrangement) == ("full_time", "onsite")
    assert (found.location, found.department) == ("Leuven, Belgium", "Quality")
    assert found.posted_at == dt.datetime(2024, 9, 5, tzinfo=dt.UTC)
    assert (found.partial, page.truncated) == (True, True)


def test_what_their_other_answers_say_of_places_and_pay_is_read() -> None:
    place = {"location_str": "Portland, Oregon, US", "city": "X", "workplace_type": "hybrid"}
    one = {"shortcode": "AB12", "title": "Tester", "created_at": "2024-09-05", "location": place}
    one |= {"salary": {"salary_from": 10000, "salary_to": 20000, "salary_currency": "usd"}}
    (found,) = read("workable", json.dumps({"jobs": [one]}).encode()).postings
    assert (found.location, found.arrangement) == ("Portland, Oregon, US", "hybrid")
    assert found.salary == Salary(10000, 20000, "USD", None, "structured")
    assert found.posted_at == dt.datetime(2024, 9, 5, tzinfo=dt.UTC)
    place |= {"workplace_type": None, "telecommuting": True}
    (found,) = read("workable", json.dumps({"jobs": [one]}).encode()).postings
    assert found.arrangement == "remote"
