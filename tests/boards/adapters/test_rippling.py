"""Rippling: a posting stands in the list once for each of its places."""

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


def test_one_posting_in_two_places_is_one_with_both(board: BoardPage) -> None:
    assert [one.title for one in board.postings] == ["Falconer", "Mews Keeper"]
    assert board.postings[0].locations == ("Perth, United Kingdom", "Stirling, United Kingdom")
    assert board.total == 2


def test_the_place_says_who_is_remote(board: BoardPage) -> None:
    assert [one.arrangement for one in board.postings] == [None, "remote"]


def test_requests_name_board_and_posting(posting: Posting) -> None:
    assert rippling.first_request(CONFIG).url == API
    assert (
        rippling.detail_request(posting, CONFIG).url
        == f"{API}/11111111-aaaa-4000-8000-000000000001"
    )


def test_a_posting_of_its_own_has_text_and_pay(posting: Posting) -> None:
    whole = rippling.read_detail(answer("rippling/posting.json"), posting, CONFIG)
    assert whole.description == "We fly birds.\n\nYou fly them."
    assert (whole.company, whole.employment_type) == ("High Mews", "full_time")
    assert posting.partial
    assert not whole.partial


def test_pay_spans_the_regions_but_not_two_currencies(posting: Posting) -> None:
    whole = rippling.read_detail(answer("rippling/posting.json"), posting, CONFIG)
    assert whole.salary == Salary(26000, 33000, "GBP", "year", "structured")


@pytest.mark.parametrize("body", [b"<html></html>", b'{"detail": "Not found."}', b"3"])
def test_what_is_no_board_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("rippling", body)


def newer(*ways: str) -> bytes:
    """A page of the newer list: one posting, in a place for each way of working."""
    one = {"id": "11111111-aaaa", "name": "Falconer", "department": {"name": "Mews"}}
    one |= {"url": "https://ats.rippling.com/highmews/jobs/11111111-aaaa", "language": "en-US"}
    places = [{"name": f"Town {n}", "workplaceType": way} for n, way in enumerate(ways)]
    items = [one | {"locations": [place]} for place in places]
    return json.dumps({"items": items, "page": 0, "totalItems": 9}).encode()


def test_the_newer_list_has_other_names_and_ways_of_working() -> None:
    page = read("rippling", newer("ON_SITE", "ON_SITE"))
    (one,) = page.postings
    assert (one.vendor_id, one.board, one.department) == ("11111111-aaaa", "highmews", "Mews")
    assert (one.locations, one.arrangement) == (("Town 0", "Town 1"), "onsite")
    assert (one.language, page.truncated) == ("en-US", True)


def test_places_that_differ_in_the_way_of_working_say_nothing() -> None:
    assert read("rippling", newer("ON_SITE", "HYBRID")).postings[0].arrangement is None


def test_the_board_is_named_beside_a_posting_too() -> None:
    body = {"uuid": "1", "name": "Falconer", "board": {"slug": "highmews"}}
    (one,) = read("rippling", json.dumps(body).encode()).postings
    assert (one.board, one.url) == ("highmews", "https://ats.rippling.com/highmews/jobs/1")
