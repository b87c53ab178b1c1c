"""Ashby: one answer for a board; what is remote there is often hybrid."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from jobmill.boards.adapters import ashby
from jobmill.boards.platform import BoardConfig, BoardPage
from jobmill.catalog.posting import Posting, Salary
from jobmill.errors import OutsideError

from . import answer, lines, read


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("ashby", answer("ashby/board.json")).postings


def changed(**fields: Any) -> Posting:
    one = json.loads(answer("ashby/board.json"))["jobs"][2]
    return read("ashby", json.dumps({"jobs": [one | fields]}).encode()).postings[0]


def test_a_board_is_asked_for_with_pay_whatever_its_name_holds() -> None:
    assert ashby.first_request(BoardConfig(board_token="Terra Cognita")).url == (
        "https://api.ashbyhq.com/posting-api/job-board/Terra%20Cognita?includeCompensation=true"
    )


def test_what_is_not_listed_is_left_out(postings: tuple[Posting, ...]) -> None:
    assert [one.title for one in postings] == ["Cartographer", "Archivist"]


def test_what_a_posting_says_of_itself_is_kept(postings: tuple[Posting, ...]) -> None:
    posting = postings[0]
    assert lines(posting.description) == ["Terra Cognita", "Draw what is there."]
    assert (posting.department, posting.tags) == ("Maps", ("Sea Charts",))
    assert posting.employment_type == "full_time"
    assert posting.posted_at == dt.datetime(2024, 3, 3, 10, 0, 0, 123000, tzinfo=dt.UTC)
    assert posting.vendor_id == "6f7f4f0a-1111-4c1c-8888-000000000001"
    assert posting.apply_url == f"{posting.url}/application"


def test_the_board_is_known_from_its_pages_but_not_the_company(
    postings: tuple[Posting, ...],
) -> None:
    assert postings[0].board == "Terra Cognita"
    assert postings[0].company is None


def test_all_places_count_each_once(postings: tuple[Posting, ...]) -> None:
    assert postings[0].location == "Lisbon (HQ)"
    assert postings[0].locations == ("Lisbon (HQ)", "Porto", "Faro, Portugal", "Madeira")


def test_the_address_is_the_place_where_no_other_is_named(postings: tuple[Posting, ...]) -> None:
    assert postings[1].location == "Évora, Alentejo, Portugal"


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"workplaceType": "Hybrid", "isRemote": True}, "hybrid"),
        ({"workplaceType": "OnSite", "isRemote": True}, "onsite"),
        ({"workplaceType": "Remote", "isRemote": False}, "remote"),
        ({"workplaceType": None, "isRemote": True}, "remote"),
        ({"workplaceType": None, "isRemote": True, "location": "Hybrid - Porto"}, "hybrid"),
        ({"workplaceType": None, "isRemote": False}, None),
    ],
)
def test_the_workplace_beats_the_words_and_they_beat_the_flag(
    fields: dict[str, Any], kept: str | None
) -> None:
    assert changed(**fields).arrangement == kept


def test_pay_spans_the_salaries_of_one_currency_and_nothing_else(
    postings: tuple[Posting, ...],
) -> None:
    assert postings[0].salary == Salary(48_000, 70_000, "EUR", "year", "structured")


def test_tiers_do_where_there_is_no_summary(postings: tuple[Posting, ...]) -> None:
    assert postings[1].salary == Salary(19, 24, "EUR", "hour", "structured")


def test_equity_alone_is_no_pay() -> None:
    equity = {"compensationType": "EquityCashValue", "minValue": 1, "maxValue": 2}
    assert changed(compensation={"summaryComponents": [equity]}).salary is None


def test_an_odd_record_is_counted_and_costs_no_other() -> None:
    body = json.loads(answer("ashby/board.json"))
    body["jobs"][2] = {"title": "No id"}
    body["jobs"][0] |= {"secondaryLocations": [None, 5.5, {"location": ["x"]}], "address": "Lisbon"}
    page = read("ashby", json.dumps(body).encode())
    assert (len(page.postings), page.stubs) == (1, 1)


def test_a_single_posting_is_understood() -> None:
    one = json.loads(answer("ashby/board.json"))["jobs"][0]
    assert read("ashby", json.dumps(one).encode()).postings[0].title == "Cartographer"


@pytest.mark.parametrize("body", [b"<html>", b'{"error": "x"}', b"[]", b'{"jobs": null}'])
def test_an_answer_that_is_not_a_board_is_refused(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("ashby", body)


def test_a_board_without_postings_is_a_board() -> None:
    assert read("ashby", b'{"apiVersion": "1", "jobs": []}') == BoardPage(())


@pytest.mark.parametrize(
    ("compensation", "known"),
    [
        ({"scrapeableCompensationSalarySummary": "€50K - €60K"}, True),
        ({"compensationTierSummary": "€50K \u2013 €60K • Offers Equity"}, True),
        (
            {
                "compensationTierSummary": "€50K \u2013 €60K Commission",
                "summaryComponents": [{"compensationType": "Commission", "minValue": 50000}],
            },
            False,
        ),
    ],
)
def test_pay_in_words_counts_where_its_parts_are_not_named(
    compensation: dict[str, Any], known: bool
) -> None:
    body = {"jobs": [{"id": "1", "title": "Cook", "compensation": compensation}]}
    (one,) = read("ashby", json.dumps(body).encode()).postings
    assert one.salary == (Salary(50000, 60000, "EUR", "year", "text") if known else None)


def test_fields_that_are_called_otherwise_are_read_too() -> None:
    one = {"id": "1", "title": "Cook", "departmentName": "Kitchen", "locationName": "Oslo"}
    body = {"jobs": [one | {"publishedDate": "2024-05-01T00:00:00Z"}]}
    (found,) = read("ashby", json.dumps(body).encode()).postings
    assert (found.department, found.location) == ("Kitchen", "Oslo")
    assert found.posted_at == dt.datetime(2024, 5, 1, tzinfo=dt.UTC)
