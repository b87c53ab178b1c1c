"""Breezy: a list that mostly lacks texts; the pages have them, and gone ones lead to the front page."""

from __future__ import annotations

import pytest

from jobmill.boards.adapters import breezy
from jobmill.boards.platform import BoardConfig
from jobmill.catalog.posting import Posting
from jobmill.errors import OutsideError
from jobmill.outside.request import Request

from . import answer, read

CONFIG = BoardConfig(board_token="emberglass")


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("breezy", answer("breezy/positions.json")).postings


def test_the_list_is_read_and_what_has_no_title_is_counted() -> None:
    page = read("breezy", answer("breezy/positions.json"))
    assert [one.title for one in page.postings] == ["Glass Blower", "Colour Chemist"]
    assert (page.stubs, page.total) == (1, 3)


def test_all_places_count_each_once(postings: tuple[Posting, ...]) -> None:
    assert postings[0].locations == ("Waterford, IE", "Cork, Ireland")


def test_not_remote_is_not_said_to_be_on_site(postings: tuple[Posting, ...]) -> None:
    assert [one.arrangement for one in postings] == [None, "remote"]


def test_board_and_company_are_known_from_the_answer(postings: tuple[Posting, ...]) -> None:
    assert (postings[0].board, postings[0].company) == ("emberglass", "Ember Glass")


def test_pay_stands_in_words(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary
    assert (postings[0].salary.min, postings[0].salary.currency) == (40000, "EUR")


def test_only_what_has_no_text_is_partial(postings: tuple[Posting, ...]) -> None:
    assert [one.partial for one in postings] == [True, False]
    assert breezy.detail_request(postings[0], CONFIG) == Request(postings[0].url, page=True)


def test_the_page_has_the_text(postings: tuple[Posting, ...]) -> None:
    whole = breezy.read_detail(answer("breezy/page.html"), postings[0], CONFIG)
    assert whole.description == "Blow glass.\n\nKeep the fire."
    assert (whole.partial, whole.vendor_id) == (False, "a1b2c3d4e5f6")
    assert whole.locations == postings[0].locations


def test_a_removed_position_leads_to_the_front_page_which_is_no_posting(
    postings: tuple[Posting, ...],
) -> None:
    with pytest.raises(OutsideError, match="may be closed"):
        breezy.read_detail(answer("breezy/root.html"), postings[0], CONFIG)


def test_a_saved_page_is_read_alone() -> None:
    url = "https://emberglass.breezy.hr/p/a1b2c3d4e5f6-glass-blower"
    (one,) = read("breezy", answer("breezy/page.html"), request=Request(url)).postings
    assert (one.title, one.board, one.vendor_id) == ("Glass Blower", "emberglass", "a1b2c3d4e5f6")


@pytest.mark.parametrize("body", [b'{"error": "x"}', b"<html>Not here</html>", b"null"])
def test_what_is_no_list_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("breezy", body)
