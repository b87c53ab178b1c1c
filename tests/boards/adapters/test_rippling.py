"""Rippling: the list repeats a posting for each of its locations."""

from __future__ import annotations

import json

import pytest

from jobmill.boards.adapters import rippling
from jobmill.boards.platform import BoardConfig, BoardPage
from jobmill.catalog.posting import Posting, Salary
from jobmill.errors import OutsideError

from . import answer, read

CONFIG = BoardConfig(board_token="highmews")
API = "https://api.rippling.com/platform/api/ats/v1/board/highmews/jobs"


@pytest.fixture
def board() -> BoardPage:
    return read("rippling", answer("rippling/board.json"))


@pytest.fixture
def posting(board: BoardPage) -> Posting:
    return board.postings[0]


def test_a_posting_listed_for_two_locations_is_read_once_with_both(board: BoardPage) -> None:
    assert [posting.title for posting in board.postings] == ["Falconer", "Mews Keeper"]
    assert board.postings[0].locations == ("Perth, United Kingdom", "Stirling, United Kingdom")
    assert board.total == 2


def test_the_location_says_whether_work_is_remote(board: BoardPage) -> None:
    assert [posting.arrangement for posting in board.postings] == [None, "remote"]


def test_requests_name_board_and_posting(posting: Posting) -> None:
    assert rippling.first_request(CONFIG).url == API
    assert (
        rippling.detail_request(posting, CONFIG).url
        == f"{API}/11111111-aaaa-4000-8000-000000000001"
    )


def test_the_details_have_text_and_salary(posting: Posting) -> None:
    complete = rippling.PLATFORM.read_detail_response(
        answer("rippling/posting.json"), posting, CONFIG
    )
    assert complete.description == "We fly birds.\n\nYou fly them."
    assert (complete.company, complete.employment_type) == ("High Mews", "full_time")
    assert posting.partial
    assert not complete.partial


def test_a_salary_spans_regions_but_not_currencies(posting: Posting) -> None:
    complete = rippling.PLATFORM.read_detail_response(
        answer("rippling/posting.json"), posting, CONFIG
    )
    assert complete.salary == Salary(26000, 33000, "GBP", "year", "structured")


@pytest.mark.parametrize("body", [b"<html></html>", b'{"detail": "Not found."}', b"3"])
def test_a_response_that_is_not_a_board_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("rippling", body)


def newer(*ways: str) -> bytes:
    """A page of the newer list with one posting, and a location for each workplace type."""
    record = {"id": "11111111-aaaa", "name": "Falconer", "department": {"name": "Mews"}}
    record |= {"url": "https://ats.rippling.com/highmews/jobs/11111111-aaaa", "language": "en-US"}
    places = [{"name": f"Town {n}", "workplaceType": way} for n, way in enumerate(ways)]
    items = [record | {"locations": [place]} for place in places]
    return json.dumps({"items": items, "page": 0, "totalItems": 9}).encode()


def test_the_newer_list_has_other_names_and_workplace_types() -> None:
    page = read("rippling", newer("ON_SITE", "ON_SITE"))
    (posting,) = page.postings
    assert (posting.vendor_id, posting.board, posting.department) == (
        "11111111-aaaa",
        "highmews",
        "Mews",
    )
    assert (posting.locations, posting.arrangement) == (("Town 0", "Town 1"), "onsite")
    assert (posting.language, page.truncated) == ("en-US", True)


def test_locations_with_different_workplace_types_give_no_arrangement() -> None:
    assert read("rippling", newer("ON_SITE", "HYBRID")).postings[0].arrangement is None


def test_the_board_is_read_from_its_slug() -> None:
    body = {"uuid": "1", "name": "Falconer", "board": {"slug": "highmews"}}
    (posting,) = read("rippling", json.dumps(body).encode()).postings
    assert (posting.board, posting.url) == ("highmews", "https://ats.rippling.com/highmews/jobs/1")
