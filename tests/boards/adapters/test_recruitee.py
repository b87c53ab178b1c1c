"""Recruitee: two texts, three flags, pay in numbers or words, several languages."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from jobmill.boards.adapters import recruitee
from jobmill.boards.platform import BoardConfig, BoardPage
from jobmill.catalog.posting import Posting, Salary
from jobmill.errors import OutsideError

from . import answer, lines, read


@pytest.fixture
def page() -> BoardPage:
    return read("recruitee", answer("recruitee/offers.json"))


def changed(**fields: Any) -> Posting:
    one = json.loads(answer("recruitee/offers.json"))["offers"][0] | fields
    return read("recruitee", json.dumps({"offers": [one]}).encode()).postings[0]


def test_a_board_lives_below_the_vendor_or_at_an_address_of_its_own() -> None:
    assert recruitee.first_request(BoardConfig(board_token="bollenveld")).url == (
        "https://bollenveld.recruitee.com/api/offers/"
    )
    own = BoardConfig(board_token="bollenveld", base_url="https://werken.bollenveld.example/")
    assert recruitee.first_request(own).url == "https://werken.bollenveld.example/api/offers/"


def test_closed_offers_are_left_out_and_nameless_ones_counted(page: BoardPage) -> None:
    assert [one.title for one in page.postings] == ["Tulip Grower", "Verkoper"]
    assert page.stubs == 1


def test_what_an_offer_says_of_itself_is_kept(page: BoardPage) -> None:
    posting = page.postings[0]
    assert posting.url == "https://werken.bollenveld.example/o/tulip-grower"
    assert posting.apply_url == "https://werken.bollenveld.example/o/tulip-grower/c/new"
    assert posting.company == "Bollenveld"
    assert posting.department == "Fields"
    assert posting.vendor_id == "810001"
    assert posting.seniority == "mid"
    assert posting.tags == ("spring", "outdoor")
    assert posting.posted_at == dt.datetime(2024, 5, 5, 7, tzinfo=dt.UTC)
    assert posting.updated_at == dt.datetime(2024, 5, 6, 7, tzinfo=dt.UTC)
    assert posting.valid_through == dt.datetime(2024, 12, 31, 22, tzinfo=dt.UTC)


def test_the_text_is_description_and_requirements(page: BoardPage) -> None:
    assert lines(page.postings[0].description) == ["Grow tulips.", "- Green fingers"]
    assert page.postings[0].requirements == "- Green fingers"


def test_all_places_count(page: BoardPage) -> None:
    assert page.postings[0].location == "Lisse, South Holland, Netherlands"
    assert page.postings[0].locations == (
        "Lisse, South Holland, Netherlands",
        "Hillegom, Netherlands",
    )


@pytest.mark.parametrize(
    ("remote", "hybrid", "on_site", "kept"),
    [
        (True, False, False, "remote"),
        (False, True, False, "hybrid"),
        (False, False, True, "onsite"),
        (True, True, False, "hybrid"),
        (True, False, True, "hybrid"),
        (False, False, False, None),
    ],
)
def test_flags_say_where_the_work_is(
    remote: bool, hybrid: bool, on_site: bool, kept: str | None
) -> None:
    assert changed(remote=remote, hybrid=hybrid, on_site=on_site).arrangement == kept


def test_pay_comes_as_numbers_or_as_words(page: BoardPage) -> None:
    assert page.postings[0].salary == Salary(2400, 2900.5, "EUR", "month", "structured")
    assert page.postings[1].salary is None


def test_the_words_are_those_of_one_language(page: BoardPage) -> None:
    assert page.postings[0].language == "en"
    assert page.postings[1].language == "nl"
    assert lines(page.postings[1].description) == ["Verkoop bollen.", "Spreekvaardig."]


def test_the_day_of_creation_stands_in_for_that_of_publishing(page: BoardPage) -> None:
    assert page.postings[1].posted_at == dt.datetime(2024, 4, 1, 7, tzinfo=dt.UTC)


def test_the_board_is_known_from_pages_or_mail_at_the_vendor(page: BoardPage) -> None:
    assert [one.board for one in page.postings] == ["bollenveld", "bollenveld"]
    assert changed(mailbox_email=None).board is None


def test_a_single_offer_is_understood() -> None:
    offer = json.loads(answer("recruitee/offers.json"))["offers"][0]
    (posting,) = read("recruitee", json.dumps({"offer": offer}).encode()).postings
    assert posting.title == "Tulip Grower"


def test_an_offer_without_text_gets_it_from_its_detail() -> None:
    offer = json.loads(answer("recruitee/offers.json"))["offers"][0]
    bare = changed(description=None, requirements=None)
    assert bare.partial
    config = BoardConfig(board_token="bollenveld")
    assert recruitee.detail_request(bare, config).url == (
        "https://bollenveld.recruitee.com/api/offers/810001"
    )
    whole = recruitee.read_detail(json.dumps({"offer": offer}).encode(), bare, config)
    assert lines(whole.description) == ["Grow tulips.", "- Green fingers"]


def test_an_odd_record_is_counted_and_costs_no_other() -> None:
    body = json.loads(answer("recruitee/offers.json"))
    body["offers"][0] |= {"salary": "good", "locations": "Lisse", "translations": ["en"]}
    body["offers"][1] = "x"
    page = read("recruitee", json.dumps(body).encode())
    assert (len(page.postings), page.stubs) == (1, 2)
    assert page.postings[0].salary is None


@pytest.mark.parametrize("body", [b"<html>", b'{"error": "x"}', b"[]", b'{"offers": {}}'])
def test_an_answer_that_is_not_a_board_is_refused(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("recruitee", body)


def test_a_board_without_offers_is_a_board() -> None:
    assert read("recruitee", b'{"offers": []}') == BoardPage(())


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("fulltime_fixed_term", "full_time"),
        ("parttime_fixed_term", "part_time"),
        ("parttime_permanent", "part_time"),
        ("freelance", "contract"),
        (None, None),
    ],
)
def test_codes_name_the_hours_first(code: str | None, wanted: str | None) -> None:
    assert changed(employment_type_code=code).employment_type == wanted


def test_a_highlight_is_kept_unless_the_text_repeats_it() -> None:
    texts = {"description": "<p>Grow tulips.</p>", "requirements": ""}
    new = changed(highlight="<p>Wear <b>clogs</b>.</p>", **texts)
    known = changed(highlight="<p>Grow tulips.</p>", **texts)
    assert (new.description, known.description) == ("Wear clogs.\n\nGrow tulips.", "Grow tulips.")
