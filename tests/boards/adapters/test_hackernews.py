"""Hacker News: the newest thread, then those of its comments that are postings."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from jobmill.boards.adapters import hackernews
from jobmill.boards.adapters.hackernews import HiringThread, read_header
from jobmill.errors import OutsideError
from jobmill.outside.request import Request

from . import answer, read


def test_the_newest_hiring_thread_is_requested() -> None:
    page = read(
        "hackernews",
        answer("hackernews/threads.json"),
        {},
        hackernews.first_request(HiringThread()),
    )
    (comments,) = page.next
    assert page.postings == ()
    assert "tags=comment%2Cstory_102" in comments.url


def test_a_thread_may_be_configured() -> None:
    assert "story_77" in hackernews.first_request(HiringThread(story=77)).url


def test_a_search_without_a_hiring_thread_is_an_error() -> None:
    with pytest.raises(OutsideError):
        read("hackernews", b'{"hits": []}', {}, hackernews.first_request(HiringThread()))


def test_replies_and_discussion_are_not_postings() -> None:
    page = read("hackernews", answer("hackernews/comments.json"), {})
    assert [posting.vendor_id for posting in page.postings] == ["201", "204"]
    assert page.stubs == 0


def test_the_columns_of_the_first_line_are_read() -> None:
    posting = read("hackernews", answer("hackernews/comments.json"), {}).postings[0]
    assert (posting.company, posting.title) == ("Harbour Light", "Senior Lens Engineer")
    assert (posting.location, posting.arrangement, posting.remote_from) == (
        "Bergen, Norway",
        "remote",
        ("EMEA",),
    )
    assert posting.employment_type == "full_time"
    assert posting.salary
    assert (posting.salary.min, posting.salary.max) == (120000, 150000)
    assert posting.url == "https://news.ycombinator.com/item?id=201"
    assert "We make lenses & lamps." in (posting.description or "")


def test_comments_are_requested_page_by_page() -> None:
    request = Request("", context={"story": 102, "page": 0})
    (more,) = read("hackernews", answer("hackernews/comments.json"), {}, request).next
    assert (more.context["page"], "page=1" in more.url) == (1, True)


def test_a_thread_above_the_search_limit_is_truncated() -> None:
    body = answer("hackernews/comments.json").replace(b'"nbHits": 450', b'"nbHits": 1200')
    assert read("hackernews", body, {}, Request("", context={"story": 102})).truncated


@pytest.mark.parametrize(
    ("line", "company", "title", "places", "arrangement"),
    [
        (
            "Oar & Co | Berlin, Germany | Boat Designer | ONSITE",
            "Oar & Co",
            "Boat Designer",
            ["Berlin, Germany"],
            "onsite",
        ),
        (
            "Oar (YC S20) | Backend Engineer | SF | Onsite only",
            "Oar",
            "Backend Engineer",
            ["SF"],
            "onsite",
        ),
        (
            "Oar | Data Engineer | ONSITE in Oslo, full-time",
            "Oar",
            "Data Engineer",
            ["Oslo"],
            "onsite",
        ),
        ("Oar | SRE | Designer | REMOTE", "Oar", "SRE / Designer", [], "remote"),
        (
            "Backend Developer | Oar | Ghent | Remote",
            "Oar",
            "Backend Developer",
            ["Ghent"],
            "remote",
        ),
        ("Oar.com | QA | NYC, VISA, REMOTE", "Oar.com", "QA", ["NYC"], "remote"),
    ],
)
def test_columns_are_recognised_by_their_content_and_not_their_order(
    line: str, company: str, title: str, places: list[str], arrangement: str
) -> None:
    header = read_header(line)
    assert header
    assert (header.company, header.title) == (company, title)
    assert (header.places, header.arrangement) == (places, arrangement)


def test_a_line_without_a_role_becomes_the_title() -> None:
    header = read_header("Tidewater | Oslo | ONSITE, VISA")
    assert header
    assert (header.title, header.places) == ("Tidewater | Oslo | ONSITE, VISA", ["Oslo"])


@pytest.mark.parametrize("line", ["", "We hire", " | ", "|", "x" * 300 + " | Engineer"])
def test_a_line_without_a_company_is_not_a_posting(line: str) -> None:
    assert read_header(line) is None


def test_a_line_of_punctuation_is_read_quickly() -> None:
    assert read_header("Oar | " + "-/ " * 50_000 + "x | Engineer")


def test_the_employment_type_may_follow_the_location() -> None:
    header = read_header("Oar | Data Engineer | ONSITE in Oslo, full-time")
    assert header
    assert header.employment_type == "full_time"


COMMENT = "Harbour Light | Lens Engineer | Bergen | HYBRID | DUTCH REQUIRED<p>We make lenses."


@pytest.mark.parametrize(
    "body",
    [
        {"id": 1, "title": "Ask HN: Who is hiring?", "children": [
            {"id": 7, "text": COMMENT, "created_at": "2024-09-01T15:01:54.000Z"},
            {"id": 8, "text": None},
        ]},
        [{"id": 7, "text": COMMENT, "time": 1725202914, "type": "comment"}, {"deleted": True}],
        {"id": 7, "text": COMMENT, "time": 1725202914, "type": "comment"},
    ],
)  # fmt: skip
def test_items_are_read_as_well_as_searches(body: Any) -> None:
    (posting,) = read("hackernews", json.dumps(body).encode(), {}).postings
    assert (posting.company, posting.title, posting.vendor_id) == (
        "Harbour Light",
        "Lens Engineer",
        "7",
    )
    assert posting.posted_at == dt.datetime(2024, 9, 1, 15, 1, 54, tzinfo=dt.UTC)
    assert posting.url == "https://news.ycombinator.com/item?id=7"


def test_languages_and_hours_are_not_locations() -> None:
    spoken = read_header("Quill | Engineer | Utrecht | DUTCH REQUIRED")
    hours = read_header("Quill | Engineer | Remote, PT/ET hours preferred")
    assert spoken
    assert hours
    assert (spoken.places, hours.places) == (["Utrecht"], [])


@pytest.mark.parametrize("body", [b"[1, 2]", b'{"children": [{"id": 1}]}', b'{"id": 1}'])
def test_items_without_any_text_are_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("hackernews", body, {})
