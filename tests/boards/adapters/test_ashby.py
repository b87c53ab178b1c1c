"""Ashby: one response per board; remote postings are often hybrid."""

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
    record = json.loads(answer("ashby/board.json"))["jobs"][2]
    return read("ashby", json.dumps({"jobs": [record | fields]}).encode()).postings[0]


def test_a_board_is_requested_with_salaries_and_a_quoted_token() -> None:
    assert ashby.first_request(BoardConfig(board_token="Terra Cognita")).url == (
        "https://api.ashbyhq.com/posting-api/job-board/Terra%20Cognita?includeCompensation=true"
    )


def test_unlisted_postings_are_left_out(postings: tuple[Posting, ...]) -> None:
    assert [posting.title for posting in postings] == ["Cartographer", "Archivist"]


def test_all_fields_of_a_posting_are_read(postings: tuple[Posting, ...]) -> None:
    posting = postings[0]
    assert lines(posting.description) == ["Terra Cognita", "Draw what is there."]
    assert (posting.department, posting.tags) == ("Maps", ("Sea Charts",))
    assert posting.employment_type == "full_time"
    assert posting.posted_at == dt.datetime(2024, 3, 3, 10, 0, 0, 123000, tzinfo=dt.UTC)
    assert posting.vendor_id == "6f7f4f0a-1111-4c1c-8888-000000000001"
    assert posting.apply_url == f"{posting.url}/application"


def test_the_board_but_not_the_company_is_read_from_urls(
    postings: tuple[Posting, ...],
) -> None:
    assert postings[0].board == "Terra Cognita"
    assert postings[0].company is None


def test_each_location_is_read_once(postings: tuple[Posting, ...]) -> None:
    assert postings[0].location == "Lisbon (HQ)"
    assert postings[0].locations == ("Lisbon (HQ)", "Porto", "Faro, Portugal", "Madeira")


def test_the_address_replaces_a_missing_location(postings: tuple[Posting, ...]) -> None:
    assert postings[1].location == "Évora, Alentejo, Portugal"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"workplaceType": "Hybrid", "isRemote": True}, "hybrid"),
        ({"workplaceType": "OnSite", "isRemote": True}, "onsite"),
        ({"workplaceType": "Remote", "isRemote": False}, "remote"),
        ({"workplaceType": None, "isRemote": True}, "remote"),
        ({"workplaceType": None, "isRemote": True, "location": "Hybrid - Porto"}, "hybrid"),
        ({"workplaceType": None, "isRemote": False}, None),
    ],
)
def test_the_workplace_type_precedes_the_text_and_the_text_precedes_the_flag(
    fields: dict[str, Any], expected: str | None
) -> None:
    assert changed(**fields).arrangement == expected


def test_a_salary_spans_the_components_of_one_currency(
    postings: tuple[Posting, ...],
) -> None:
    assert postings[0].salary == Salary(48_000, 70_000, "EUR", "year", "structured")


def test_tiers_replace_a_missing_summary(postings: tuple[Posting, ...]) -> None:
    assert postings[1].salary == Salary(19, 24, "EUR", "hour", "structured")


def test_equity_alone_is_not_a_salary() -> None:
    equity = {"compensationType": "EquityCashValue", "minValue": 1, "maxValue": 2}
    assert changed(compensation={"summaryComponents": [equity]}).salary is None


def test_a_malformed_record_is_counted_and_the_others_are_read() -> None:
    body = json.loads(answer("ashby/board.json"))
    body["jobs"][2] = {"title": "No id"}
    body["jobs"][0] |= {"secondaryLocations": [None, 5.5, {"location": ["x"]}], "address": "Lisbon"}
    page = read("ashby", json.dumps(body).encode())
    assert (len(page.postings), page.stubs) == (1, 1)


def test_a_single_posting_is_read() -> None:
    record = json.loads(answer("ashby/board.json"))["jobs"][0]
    assert read("ashby", json.dumps(record).encode()).postings[0].title == "Cartographer"


@pytest.mark.parametrize("body", [b"<html>", b'{"error": "x"}', b"[]", b'{"jobs": null}'])
def test_a_response_that_is_not_a_board_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("ashby", body)


def test_a_board_without_postings_is_valid() -> None:
    assert read("ashby", b'{"apiVersion": "1", "jobs": []}') == BoardPage(())


@pytest.mark.parametrize(
    ("compensation", "has_salary"),
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
def test_a_salary_in_words_is_read_only_without_components(
    compensation: dict[str, Any], has_salary: bool
) -> None:
    body = {"jobs": [{"id": "1", "title": "Cook", "compensation": compensation}]}
    (posting,) = read("ashby", json.dumps(body).encode()).postings
    assert posting.salary == (Salary(50000, 60000, "EUR", "year", "text") if has_salary else None)


def test_fields_with_alternative_names_are_read() -> None:
    record = {"id": "1", "title": "Cook", "departmentName": "Kitchen", "locationName": "Oslo"}
    body = {"jobs": [record | {"publishedDate": "2024-05-01T00:00:00Z"}]}
    (posting,) = read("ashby", json.dumps(body).encode()).postings
    assert (posting.department, posting.location) == ("Kitchen", "Oslo")
    assert posting.posted_at == dt.datetime(2024, 5, 1, tzinfo=dt.UTC)
