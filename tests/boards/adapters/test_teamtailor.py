"""Teamtailor: a JSON feed, each entry with a schema.org block."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from jobmill.boards.adapters import teamtailor
from jobmill.boards.platform import BoardConfig, BoardPage
from jobmill.catalog.posting import Posting, Salary
from jobmill.errors import OutsideError
from jobmill.outside.request import Request

from . import answer, lines, read

HERE = Request("https://jobb.fjallrav.example/jobs.json")


@pytest.fixture
def page() -> BoardPage:
    return read("teamtailor", answer("teamtailor/feed.json"), request=HERE)


@pytest.fixture
def posting(page: BoardPage) -> Posting:
    return page.postings[0]


def feed(**fields: Any) -> bytes:
    return json.dumps(json.loads(answer("teamtailor/feed.json")) | fields).encode()


def test_a_feed_lives_below_the_vendor_or_at_an_address_of_its_own() -> None:
    asked = [
        teamtailor.first_request(board).url
        for board in (
            BoardConfig(board_token="fjallrav"),
            BoardConfig(board_token="fjallrav", region="na"),
            BoardConfig(board_token="fjallrav", base_url="https://jobb.fjallrav.example"),
        )
    ]
    assert asked == [
        "https://fjallrav.teamtailor.com/jobs.json",
        "https://fjallrav.na.teamtailor.com/jobs.json",
        "https://jobb.fjallrav.example/jobs.json",
    ]


def test_what_an_entry_says_of_itself_is_kept(posting: Posting) -> None:
    assert posting.title == "Trail Designer"
    assert posting.url == "https://jobb.fjallrav.example/jobs/900001-trail-designer"
    assert posting.company == "Fjällräv Studio AB"
    assert posting.vendor_id == "11111111-2222-4333-8444-555555555501"
    assert posting.requisition_id == "900001"
    assert posting.employment_type == "full_time"
    assert posting.tags == ("outdoor",)
    assert posting.salary == Salary(38_000, 45_000, "SEK", "month", "structured")


def test_the_fuller_of_the_two_texts_is_kept(posting: Posting) -> None:
    assert lines(posting.description) == ["Design trails.", "- Walk them"]


def test_the_block_knows_the_dates(posting: Posting) -> None:
    assert posting.posted_at == dt.datetime(2024, 4, 3, 7, 26, 20, tzinfo=dt.UTC)
    assert posting.updated_at == dt.datetime(2024, 4, 6, 7, 26, 20, tzinfo=dt.UTC)
    assert posting.valid_through
    assert posting.valid_through.date() == dt.date(2024, 12, 24)


def test_all_places_count(posting: Posting) -> None:
    assert posting.locations == ("Kiruna, Lappland, SE", "Åre, Sweden")


def test_telecommuting_is_remote_from_the_places_it_names(posting: Posting) -> None:
    assert (posting.arrangement, posting.remote_from) == ("remote", ("Sweden",))


def test_an_entry_without_a_block_is_a_posting_without_text(page: BoardPage) -> None:
    bare = page.postings[1]
    assert (bare.company, bare.partial) == ("Fjällräv Studio", True)
    assert bare.posted_at
    assert bare.posted_at.date() == dt.date(2024, 4, 5)


@pytest.mark.parametrize(
    ("following", "asked"),
    [
        ("https://jobb.fjallrav.example/jobs.json?page=2", True),
        ("https://jobb.fjallrav.example/jobs.json", False),
        ("https://elsewhere.example/jobs.json?page=2", False),
        (None, False),
    ],
)
def test_the_feed_goes_on_with_another_page_of_the_same_site(
    following: str | None, asked: bool
) -> None:
    page = read("teamtailor", feed(next_url=following), request=HERE)
    assert [one.url for one in page.next] == ([following] if asked else [])


@pytest.mark.parametrize(
    ("url", "board"),
    [
        ("https://fjallrav.teamtailor.com/jobs.json", "fjallrav"),
        ("https://fjallrav.na.teamtailor.com/jobs.json", "fjallrav"),
        ("https://jobb.fjallrav.example/jobs.json", None),
    ],
)
def test_the_board_is_known_from_addresses_at_the_vendor(url: str, board: str | None) -> None:
    assert read("teamtailor", feed(feed_url=url)).postings[0].board == board


def test_a_single_entry_is_understood() -> None:
    one = json.loads(answer("teamtailor/feed.json"))["items"][0]
    assert read("teamtailor", json.dumps(one).encode()).postings[0].title == "Trail Designer"


def test_an_odd_record_is_counted_and_costs_no_other() -> None:
    items = json.loads(answer("teamtailor/feed.json"))["items"]
    items[0]["_jobposting"] |= {"jobLocation": ["x"], "baseSalary": 3, "identifier": None}
    page = read("teamtailor", feed(items=[items[0], {"id": 1}]))
    assert (len(page.postings), page.stubs) == (1, 1)
    assert page.postings[0].salary is None


@pytest.mark.parametrize(
    "body", [b"<html>", b'{"errors": []}', b"[]", feed(version="2"), feed(items={})]
)
def test_an_answer_that_is_not_a_feed_is_refused(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("teamtailor", body)


def test_a_feed_without_entries_is_a_feed() -> None:
    assert read("teamtailor", feed(items=[], next_url=None)) == BoardPage(())


def test_the_other_feed_names_departments_and_remote_work() -> None:
    page = read("teamtailor", answer("teamtailor/feed.rss"))
    one, other = page.postings
    assert (one.title, one.company, one.board) == (
        "Trail Designer & Digger",
        "Fjällräv",
        "fjallrav",
    )
    assert (one.department, one.arrangement) == ("Outdoor", "hybrid")
    assert (one.location, one.locations) == ("Kiruna, Sweden; Åre", ("Kiruna, Sweden", "Åre"))
    assert one.posted_at == dt.datetime.fromisoformat("2024-09-06T14:50:13+03:00")
    assert lines(one.description) == ["Design trails & bridges.", "- Walk them"]
    assert one.vendor_id == "11111111-2222-4333-8444-555555555501"
    assert (other.arrangement, other.partial, page.stubs) == (None, True, 1)


@pytest.mark.parametrize("body", [b"<html></html>", b"<rss><channel><item/></channel></rss>"])
def test_another_document_is_not_the_other_feed(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("teamtailor", body)
