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


def test_a_feed_is_on_the_vendors_host_or_on_its_own() -> None:
    urls = [
        teamtailor.first_request(board).url
        for board in (
            BoardConfig(board_token="fjallrav"),
            BoardConfig(board_token="fjallrav", region="na"),
            BoardConfig(board_token="fjallrav", base_url="https://jobb.fjallrav.example"),
        )
    ]
    assert urls == [
        "https://fjallrav.teamtailor.com/jobs.json",
        "https://fjallrav.na.teamtailor.com/jobs.json",
        "https://jobb.fjallrav.example/jobs.json",
    ]


def test_all_fields_of_an_entry_are_read(posting: Posting) -> None:
    assert posting.title == "Trail Designer"
    assert posting.url == "https://jobb.fjallrav.example/jobs/900001-trail-designer"
    assert posting.company == "Fjällräv Studio AB"
    assert posting.vendor_id == "11111111-2222-4333-8444-555555555501"
    assert posting.requisition_id == "900001"
    assert posting.employment_type == "full_time"
    assert posting.tags == ("outdoor",)
    assert posting.salary == Salary(38_000, 45_000, "SEK", "month", "structured")


def test_the_longer_of_the_two_texts_is_used(posting: Posting) -> None:
    assert lines(posting.description) == ["Design trails.", "- Walk them"]


def test_dates_come_from_the_structured_data(posting: Posting) -> None:
    assert posting.posted_at == dt.datetime(2024, 4, 3, 7, 26, 20, tzinfo=dt.UTC)
    assert posting.updated_at == dt.datetime(2024, 4, 6, 7, 26, 20, tzinfo=dt.UTC)
    assert posting.valid_through
    assert posting.valid_through.date() == dt.date(2024, 12, 24)


def test_all_locations_are_read(posting: Posting) -> None:
    assert posting.locations == ("Kiruna, Lappland, SE", "Åre, Sweden")


def test_telecommuting_is_remote_with_restrictions(posting: Posting) -> None:
    assert (posting.arrangement, posting.remote_from) == ("remote", ("Sweden",))


def test_an_entry_without_structured_data_has_no_text(page: BoardPage) -> None:
    bare = page.postings[1]
    assert (bare.company, bare.partial) == ("Fjällräv Studio", True)
    assert bare.posted_at
    assert bare.posted_at.date() == dt.date(2024, 4, 5)


@pytest.mark.parametrize(
    ("following", "followed"),
    [
        ("https://jobb.fjallrav.example/jobs.json?page=2", True),
        ("https://jobb.fjallrav.example/jobs.json", False),
        ("https://elsewhere.example/jobs.json?page=2", False),
        (None, False),
    ],
)
def test_the_next_page_is_followed_on_the_same_site_only(
    following: str | None, followed: bool
) -> None:
    page = read("teamtailor", feed(next_url=following), request=HERE)
    assert [request.url for request in page.next] == ([following] if followed else [])


@pytest.mark.parametrize(
    ("url", "board"),
    [
        ("https://fjallrav.teamtailor.com/jobs.json", "fjallrav"),
        ("https://fjallrav.na.teamtailor.com/jobs.json", "fjallrav"),
        ("https://jobb.fjallrav.example/jobs.json", None),
    ],
)
def test_the_board_is_read_from_urls_on_the_vendors_host(url: str, board: str | None) -> None:
    assert read("teamtailor", feed(feed_url=url)).postings[0].board == board


def test_a_single_entry_is_read() -> None:
    record = json.loads(answer("teamtailor/feed.json"))["items"][0]
    assert read("teamtailor", json.dumps(record).encode()).postings[0].title == "Trail Designer"


def test_a_malformed_record_is_counted_and_the_others_are_read() -> None:
    items = json.loads(answer("teamtailor/feed.json"))["items"]
    items[0]["_jobposting"] |= {"jobLocation": ["x"], "baseSalary": 3, "identifier": None}
    page = read("teamtailor", feed(items=[items[0], {"id": 1}]))
    assert (len(page.postings), page.stubs) == (1, 1)
    assert page.postings[0].salary is None


@pytest.mark.parametrize(
    "body", [b"<html>", b'{"errors": []}', b"[]", feed(version="2"), feed(items={})]
)
def test_a_response_that_is_not_a_feed_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("teamtailor", body)


def test_a_feed_without_entries_is_valid() -> None:
    assert read("teamtailor", feed(items=[], next_url=None)) == BoardPage(())


def test_the_rss_feed_has_departments_and_remote_status() -> None:
    page = read("teamtailor", answer("teamtailor/feed.rss"))
    posting, other = page.postings
    assert (posting.title, posting.company, posting.board) == (
        "Trail Designer & Digger",
        "Fjällräv",
        "fjallrav",
    )
    assert (posting.department, posting.arrangement) == ("Outdoor", "hybrid")
    assert (posting.location, posting.locations) == (
        "Kiruna, Sweden; Åre",
        ("Kiruna, Sweden", "Åre"),
    )
    assert posting.posted_at == dt.datetime.fromisoformat("2024-09-06T14:50:13+03:00")
    assert lines(posting.description) == ["Design trails & bridges.", "- Walk them"]
    assert posting.vendor_id == "11111111-2222-4333-8444-555555555501"
    assert (other.arrangement, other.partial, page.stubs) == (None, True, 1)


@pytest.mark.parametrize("body", [b"<html></html>", b"<rss><channel><item/></channel></rss>"])
def test_another_xml_document_is_not_a_feed(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("teamtailor", body)
