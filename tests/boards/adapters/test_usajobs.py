"""USAJobs: keys in headers, codes for periods."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from jobmill.catalog.posting import Posting, Salary

from . import answer, first_request, lines, read


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("usajobs", answer("usajobs/search.json"), {}).postings


def test_headers_carry_the_email_address_and_the_key() -> None:
    request = first_request("usajobs", keywords="lamp")
    assert request.secret == {
        "User-Agent": "{USAJOBS_EMAIL}",
        "Authorization-Key": "{USAJOBS_API_KEY}",
    }
    assert (
        request.url == "https://data.usajobs.gov/api/search?Keyword=lamp&ResultsPerPage=250&Page=1"
    )


def test_period_codes_are_read(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary == Salary(106437, 158322, "USD", "year", "structured")
    assert postings[1].salary == Salary(17.5, 20, "USD", "hour", "structured")


def test_each_location_is_read(postings: tuple[Posting, ...]) -> None:
    assert postings[0].locations == ("Portland, Maine", "Astoria, Oregon")


def test_the_remote_flag_is_read(postings: tuple[Posting, ...]) -> None:
    assert [posting.arrangement for posting in postings] == [None, "remote"]


def test_duties_and_qualifications_are_part_of_the_text(postings: tuple[Posting, ...]) -> None:
    assert lines(postings[0].description) == [
        "Keep the light.", "Trim the lamp.", "Wind the clock.", "One year of lamps.",
    ]  # fmt: skip
    assert postings[0].requirements == "One year of lamps."
    assert [posting.partial for posting in postings] == [False, True]


def test_the_other_fields_are_read(postings: tuple[Posting, ...]) -> None:
    posting = postings[0]
    assert posting.url == "https://www.usajobs.gov/job/875440800"
    assert (posting.vendor_id, posting.requisition_id) == ("875440800", "LH-2024-18")
    assert (posting.company, posting.department) == ("Lighthouse Service", "Department of Harbors")
    assert posting.posted_at == dt.datetime(2024, 7, 6, tzinfo=dt.UTC)
    assert posting.valid_through


def test_pages_are_requested_until_the_total_is_reached() -> None:
    body = answer("usajobs/search.json").replace(
        b'"SearchResultCountAll": 2', b'"SearchResultCountAll": 300'
    )
    first = first_request("usajobs")
    (second,) = read("usajobs", body, {}, first).next
    last = read("usajobs", body, {}, second)
    assert second.url.endswith("Page=2")
    assert (last.next, last.truncated) == ((), False)
    assert read("usajobs", answer("usajobs/search.json"), {}, first).next == ()


def changed(details: dict[str, Any], **fields: Any) -> Posting:
    body = json.loads(answer("usajobs/search.json"))
    item = body["SearchResult"]["SearchResultItems"][0]["MatchedObjectDescriptor"]
    item |= fields
    item["UserArea"]["Details"] |= details
    return read("usajobs", json.dumps(body).encode(), {}).postings[0]


def test_all_sections_are_part_of_the_text() -> None:
    names = (
        "AgencyMarketingStatement", "KeyRequirements", "OtherInformation", "Evaluations",
        "Benefits", "RequiredDocuments", "HowToApply", "WhatToExpectNext",
    )  # fmt: skip
    text = changed({name: f"This is {name}." for name in names}).description or ""
    assert [name for name in names if f"This is {name}." not in text] == []


@pytest.mark.parametrize(
    ("code", "period"), [("Per Year", "year"), ("PH", "hour"), ("PD", "day"), ("BW", None)]
)
def test_periods_are_codes_or_words(code: str, period: str | None) -> None:
    pay = {"MinimumRange": "1700.5", "MaximumRange": "2000", "RateIntervalCode": code}
    pay_found = changed({}, PositionRemuneration=[pay]).salary
    assert pay_found
    assert (pay_found.min, pay_found.period) == (1700.5, period)


def test_unpaid_work_has_no_salary() -> None:
    pay = {"MinimumRange": "1", "MaximumRange": "1", "RateIntervalCode": "Without Compensation"}
    assert changed({}, PositionRemuneration=[pay]).salary is None


def test_locations_replace_a_missing_display_location() -> None:
    assert changed({}, PositionLocationDisplay=None).location == "Portland, Maine; Astoria, Oregon"
