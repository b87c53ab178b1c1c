"""BambooHR: a list without texts or dates, and an answer for each opening that has both."""

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


def test_the_board_is_asked_for_at_its_own_host() -> None:
    assert bamboohr.first_request(CONFIG).url == "https://fenboats.bamboohr.com/careers/list"


def test_a_name_that_would_lead_to_another_host_is_refused() -> None:
    with pytest.raises(Invalid):
        bamboohr.first_request(BoardConfig(board_token="evil.example/#"))


def test_the_list_is_read_and_what_has_no_title_is_counted() -> None:
    page = read("bamboohr", answer("bamboohr/list.json"), BOARD)
    assert [one.title for one in page.postings] == [
        "Lock Keeper & Pilot",
        "Tide Analyst",
        "Dispatcher",
    ]
    assert (page.total, page.stubs) == (4, 1)


def test_texts_are_missing_from_the_list_and_said_to_be(postings: tuple[Posting, ...]) -> None:
    assert all(one.partial and one.description is None for one in postings)
    assert postings[0].url == "https://fenboats.bamboohr.com/careers/71"


def test_the_fuller_of_two_addresses_is_taken(postings: tuple[Posting, ...]) -> None:
    assert postings[0].locations == ("Ely, Cambridgeshire, United Kingdom",)
    assert postings[1].locations == ("Hull",)


def test_the_kind_of_place_is_a_number(postings: tuple[Posting, ...]) -> None:
    assert [one.arrangement for one in postings] == ["onsite", "hybrid", "remote"]


def test_an_opening_of_its_own_adds_what_the_list_lacks(postings: tuple[Posting, ...]) -> None:
    asked = bamboohr.detail_request(postings[0], CONFIG)
    whole = bamboohr.read_detail(answer("bamboohr/detail.json"), postings[0], CONFIG)
    assert asked.url == "https://fenboats.bamboohr.com/careers/71/detail"
    assert lines(whole.description) == ["Keep the locks.", "- Know the tides"]
    assert whole.posted_at == dt.datetime(2024, 5, 2, tzinfo=dt.UTC)
    assert whole.salary
    assert (whole.salary.min, whole.salary.max, whole.salary.currency) == (31000, 36000, "GBP")
    assert (whole.partial, whole.vendor_id, whole.seniority) == (False, "71", "senior")


def test_a_saved_opening_is_read_alone() -> None:
    (one,) = read("bamboohr", answer("bamboohr/detail.json")).postings
    assert (one.title, one.board, one.vendor_id) == ("Lock Keeper", "fenboats", "71")


@pytest.mark.parametrize("body", [b"<html>Sign in</html>", b'{"error": "no"}', b"[]", b""])
def test_what_is_no_list_is_an_error_and_not_an_empty_board(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("bamboohr", body, BOARD)


def test_a_list_of_which_nothing_can_be_read_is_an_error() -> None:
    with pytest.raises(OutsideError):
        read("bamboohr", json.dumps({"result": [{"name": "x"}, 7]}).encode(), BOARD)


def test_an_empty_board_is_empty() -> None:
    assert read("bamboohr", b'{"meta": {"totalCount": 0}, "result": []}', BOARD).postings == ()
