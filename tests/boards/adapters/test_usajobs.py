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


def test_headers_carry_the_address_and_the_key() -> None:
    asked = first_request("usajobs", keywords="lamp")
    assert asked.secret == {
        "User-Agent": "{USAJOBS_EMAIL}",
        "Authorization-Key": "{USAJOBS_API_KEY}",
    }
    assert asked.url == "https://data.usajobs.gov/api/search?Keyword=lamp&ResultsPerPage=250&Page=1"


def test_codes_say_for_how_long_the_pay_is(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary == Salary(106437, 158322, "USD", "year", "structured")
    assert postings[1].salary == Salary(17.5, 20, "USD", "hour", "structured")


def test_places_are_named_one_by_one(postings: tuple[Posting, ...]) -> None:
    assert postings[0].locations == ("Portland, Maine", "Astoria, Oregon")


def test_remote_is_said_by_a_field(postings: tuple[Posting, ...]) -> None:
    assert [one.arrangement for one in postings] == [None, "remote"]


def test_duties_and_qualifications_belong_to_the_text(postings: tuple[Posting, ...]) -> None:
    assert lines(postings[0].description) == [
        "Keep the light.", "Trim the lamp.", "Wind the clock.", "One year of lamps.",
    ]  # fmt: skip
    assert postings[0].requirements == "One year of lamps."
    assert [one.partial for one in postings] == [False, True]


def test_the_rest_has_its_place(postings: tuple[Posting, ...]) -> None:
    one = postings[0]
    assert one.url == "https://www.usajobs.gov/job/875440800"
    assert (one.vendor_id, one.requisition_id) == ("875440800", "LH-2024-18")
    assert (one.company, one.department) == ("Lighthouse Service", "Department of Harbors")
    assert one.posted_at == dt.datetime(2024, 7, 6, tzinfo=dt.UTC)
    assert one.valid_through


def test_pages_are_turned_until_all_were_shown() -> None:
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


def test_all_sections_belong_to_the_text() -> None:
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
    found = changed({}, PositionRemuneration=[pay]).salary
    assert found
    assert (found.min, found.period) == (1700.5, period)


def test_work_without_pay_has_none() -> None:
    pay = {"MinimumRange": "1", "MaximumRange": "1", "RateIntervalCode": "Without Compensation"}
    assert changed({}, PositionRemuneration=[pay]).salary is None


def test_places_stand_in_where_none_is_displayed() -> None:
    assert changed({}, PositionLocationDisplay=None).location == "Portland, Maine; Astoria, Oregon"
