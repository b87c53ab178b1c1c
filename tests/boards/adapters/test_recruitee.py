"""Recruitee: two texts, three flags, salaries as numbers or texts, several languages."""

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
    record = json.loads(answer("recruitee/offers.json"))["offers"][0] | fields
    return read("recruitee", json.dumps({"offers": [record]}).encode()).postings[0]


def test_a_board_is_on_the_vendors_host_or_on_its_own() -> None:
    assert recruitee.first_request(BoardConfig(board_token="bollenveld")).url == (
        "https://bollenveld.recruitee.com/api/offers/"
    )
    own_site = BoardConfig(board_token="bollenveld", base_url="https://werken.bollenveld.example/")
    assert recruitee.first_request(own_site).url == "https://werken.bollenveld.example/api/offers/"


def test_closed_offers_are_left_out_and_untitled_ones_counted(page: BoardPage) -> None:
    assert [posting.title for posting in page.postings] == ["Tulip Grower", "Verkoper"]
    assert page.stubs == 1


def test_all_fields_of_an_offer_are_read(page: BoardPage) -> None:
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


def test_all_locations_are_read(page: BoardPage) -> None:
    assert page.postings[0].location == "Lisse, South Holland, Netherlands"
    assert page.postings[0].locations == (
        "Lisse, South Holland, Netherlands",
        "Hillegom, Netherlands",
    )


@pytest.mark.parametrize(
    ("remote", "hybrid", "on_site", "expected"),
    [
        (True, False, False, "remote"),
        (False, True, False, "hybrid"),
        (False, False, True, "onsite"),
        (True, True, False, "hybrid"),
        (True, False, True, "hybrid"),
        (False, False, False, None),
    ],
)
def test_flags_set_the_arrangement(
    remote: bool, hybrid: bool, on_site: bool, expected: str | None
) -> None:
    assert changed(remote=remote, hybrid=hybrid, on_site=on_site).arrangement == expected


def test_a_salary_may_be_numbers_or_texts(page: BoardPage) -> None:
    assert page.postings[0].salary == Salary(2400, 2900.5, "EUR", "month", "structured")
    assert page.postings[1].salary is None


def test_all_texts_are_in_one_language(page: BoardPage) -> None:
    assert page.postings[0].language == "en"
    assert page.postings[1].language == "nl"
    assert lines(page.postings[1].description) == ["Verkoop bollen.", "Spreekvaardig."]


def test_the_creation_date_replaces_a_missing_publication_date(page: BoardPage) -> None:
    assert page.postings[1].posted_at == dt.datetime(2024, 4, 1, 7, tzinfo=dt.UTC)


def test_the_board_is_read_from_urls_or_mail_at_the_vendor(page: BoardPage) -> None:
    assert [posting.board for posting in page.postings] == ["bollenveld", "bollenveld"]
    assert changed(mailbox_email=None).board is None


def test_a_single_offer_is_read() -> None:
    offer = json.loads(answer("recruitee/offers.json"))["offers"][0]
    (posting,) = read("recruitee", json.dumps({"offer": offer}).encode()).postings
    assert posting.title == "Tulip Grower"


def test_an_offer_without_text_gets_it_from_its_details() -> None:
    offer = json.loads(answer("recruitee/offers.json"))["offers"][0]
    bare = changed(description=None, requirements=None)
    assert bare.partial
    config = BoardConfig(board_token="bollenveld")
    assert recruitee.detail_request(bare, config).url == (
        "https://bollenveld.recruitee.com/api/offers/810001"
    )
    complete = recruitee.PLATFORM.read_detail_response(
        json.dumps({"offer": offer}).encode(), bare, config
    )
    assert lines(complete.description) == ["Grow tulips.", "- Green fingers"]


def test_a_malformed_record_is_counted_and_the_others_are_read() -> None:
    body = json.loads(answer("recruitee/offers.json"))
    body["offers"][0] |= {"salary": "good", "locations": "Lisse", "translations": ["en"]}
    body["offers"][1] = "x"
    page = read("recruitee", json.dumps(body).encode())
    assert (len(page.postings), page.stubs) == (1, 2)
    assert page.postings[0].salary is None


@pytest.mark.parametrize("body", [b"<html>", b'{"error": "x"}', b"[]", b'{"offers": {}}'])
def test_a_response_that_is_not_a_board_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("recruitee", body)


def test_a_board_without_offers_is_valid() -> None:
    assert read("recruitee", b'{"offers": []}') == BoardPage(())


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("fulltime_fixed_term", "full_time"),
        ("parttime_fixed_term", "part_time"),
        ("parttime_permanent", "part_time"),
        ("freelance", "contract"),
        (None, None),
    ],
)
def test_employment_codes_start_with_the_hours(code: str | None, expected: str | None) -> None:
    assert changed(employment_type_code=code).employment_type == expected


def test_a_highlight_is_kept_unless_the_text_repeats_it() -> None:
    texts = {"description": "<p>Grow tulips.</p>", "requirements": ""}
    new = changed(highlight="<p>Wear <b>clogs</b>.</p>", **texts)
    repeated = changed(highlight="<p>Grow tulips.</p>", **texts)
    assert (new.description, repeated.description) == (
        "Wear clogs.\n\nGrow tulips.",
        "Grow tulips.",
    )
