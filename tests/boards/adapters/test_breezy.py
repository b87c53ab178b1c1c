"""Breezy: a list that mostly lacks texts, and pages that have them."""

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


def test_the_list_is_read_and_records_without_a_title_are_counted() -> None:
    page = read("breezy", answer("breezy/positions.json"))
    assert [posting.title for posting in page.postings] == ["Glass Blower", "Colour Chemist"]
    assert (page.stubs, page.total) == (1, 3)


def test_each_location_is_read_once(postings: tuple[Posting, ...]) -> None:
    assert postings[0].locations == ("Waterford, IE", "Cork, Ireland")


def test_a_false_remote_flag_does_not_mean_on_site(postings: tuple[Posting, ...]) -> None:
    assert [posting.arrangement for posting in postings] == [None, "remote"]


def test_board_and_company_are_read_from_the_response(postings: tuple[Posting, ...]) -> None:
    assert (postings[0].board, postings[0].company) == ("emberglass", "Ember Glass")


def test_a_salary_in_words_is_read(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary
    assert (postings[0].salary.min, postings[0].salary.currency) == (40000, "EUR")


def test_only_postings_without_text_are_partial(postings: tuple[Posting, ...]) -> None:
    assert [posting.partial for posting in postings] == [True, False]
    assert breezy.detail_request(postings[0], CONFIG) == Request(postings[0].url, page=True)


def test_the_posting_page_has_the_text(postings: tuple[Posting, ...]) -> None:
    complete = breezy.PLATFORM.read_detail_response(answer("breezy/page.html"), postings[0], CONFIG)
    assert complete.description == "Blow glass.\n\nKeep the fire."
    assert (complete.partial, complete.vendor_id) == (False, "a1b2c3d4e5f6")
    assert complete.locations == postings[0].locations


def test_the_front_page_of_a_removed_position_is_not_a_posting(
    postings: tuple[Posting, ...],
) -> None:
    with pytest.raises(OutsideError, match="may be closed"):
        breezy.PLATFORM.read_detail_response(answer("breezy/root.html"), postings[0], CONFIG)


def test_a_saved_page_is_read() -> None:
    url = "https://emberglass.breezy.hr/p/a1b2c3d4e5f6-glass-blower"
    (posting,) = read("breezy", answer("breezy/page.html"), request=Request(url)).postings
    assert (posting.title, posting.board, posting.vendor_id) == (
        "Glass Blower",
        "emberglass",
        "a1b2c3d4e5f6",
    )


@pytest.mark.parametrize("body", [b'{"error": "x"}', b"<html>Not here</html>", b"null"])
def test_a_response_that_is_not_a_list_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("breezy", body)
