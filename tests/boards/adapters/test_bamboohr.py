"""BambooHR: a list without texts and dates, and details with both."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from jobmill.boards.adapters import bamboohr
from jobmill.boards.platform import BoardConfig
from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid, OutsideError

from . import answer, lines, read

BOARD = {"board_token": "fenboats"}
CONFIG = BoardConfig(board_token="fenboats")


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("bamboohr", answer("bamboohr/list.json"), BOARD).postings


def test_the_board_is_requested_from_its_own_host() -> None:
    assert bamboohr.first_request(CONFIG).url == "https://fenboats.bamboohr.com/careers/list"


def test_a_token_that_would_change_the_host_is_refused() -> None:
    with pytest.raises(Invalid):
        bamboohr.first_request(BoardConfig(board_token="evil.example/#"))


def test_the_list_is_read_and_records_without_a_title_are_counted() -> None:
    page = read("bamboohr", answer("bamboohr/list.json"), BOARD)
    assert [posting.title for posting in page.postings] == [
        "Lock Keeper & Pilot",
        "Tide Analyst",
        "Dispatcher",
    ]
    assert (page.total, page.stubs) == (4, 1)


def test_postings_of_the_list_are_partial(postings: tuple[Posting, ...]) -> None:
    assert all(posting.partial and posting.description is None for posting in postings)
    assert postings[0].url == "https://fenboats.bamboohr.com/careers/71"


def test_the_longer_of_two_locations_is_used(postings: tuple[Posting, ...]) -> None:
    assert postings[0].locations == ("Ely, Cambridgeshire, United Kingdom",)
    assert postings[1].locations == ("Hull",)


def test_the_location_type_is_a_number(postings: tuple[Posting, ...]) -> None:
    assert [posting.arrangement for posting in postings] == ["onsite", "hybrid", "remote"]


def test_the_details_add_what_the_list_lacks(postings: tuple[Posting, ...]) -> None:
    request = bamboohr.detail_request(postings[0], CONFIG)
    complete = bamboohr.PLATFORM.read_detail_response(
        answer("bamboohr/detail.json"), postings[0], CONFIG
    )
    assert request.url == "https://fenboats.bamboohr.com/careers/71/detail"
    assert lines(complete.description) == ["Keep the locks.", "- Know the tides"]
    assert complete.posted_at == dt.datetime(2024, 5, 2, tzinfo=dt.UTC)
    assert complete.salary
    assert (complete.salary.min, complete.salary.max, complete.salary.currency) == (
        31000,
        36000,
        "GBP",
    )
    assert (complete.partial, complete.vendor_id, complete.seniority) == (False, "71", "senior")


def test_a_saved_opening_is_read() -> None:
    (posting,) = read("bamboohr", answer("bamboohr/detail.json")).postings
    assert (posting.title, posting.board, posting.vendor_id) == ("Lock Keeper", "fenboats", "71")


@pytest.mark.parametrize("body", [b"<html>Sign in</html>", b'{"error": "no"}', b"[]", b""])
def test_a_response_that_is_not_a_list_is_an_error_and_not_an_empty_board(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("bamboohr", body, BOARD)


def test_a_list_without_readable_records_is_an_error() -> None:
    with pytest.raises(OutsideError):
        read("bamboohr", json.dumps({"result": [{"name": "x"}, 7]}).encode(), BOARD)


def test_an_empty_board_is_empty() -> None:
    assert read("bamboohr", b'{"meta": {"totalCount": 0}, "result": []}', BOARD).postings == ()
