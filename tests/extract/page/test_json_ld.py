"""Postings in JSON-LD."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from jobmill.catalog.posting import Salary
from jobmill.extract.page import page_reader

URL = "https://careers.brightfold.example/jobs/77"

POSTING: dict[str, Any] = {
    "@context": "https://schema.org/",
    "@type": "JobPosting",
    "title": "Lighthouse Keeper",
    "description": "<p>Keep the lamp lit.</p><ul><li>Climb stairs</li><li>Write the log</li></ul>",
    "datePosted": "2026-03-02",
    "validThrough": (dt.datetime.now(dt.UTC) + dt.timedelta(30)).isoformat(),
    "employmentType": ["FULL_TIME", "CONTRACTOR"],
    "hiringOrganization": {"@type": "Organization", "name": "Brightfold Coast Trust"},
    "jobLocation": {
        "@type": "Place",
        "address": {
            "@type": "PostalAddress",
            "addressLocality": "Stranraer",
            "addressCountry": {"@type": "Country", "name": "United Kingdom"},
        },
    },
    "identifier": {"@type": "PropertyValue", "name": "Brightfold", "value": "LK-9"},
    "baseSalary": {
        "@type": "MonetaryAmount",
        "currency": "GBP",
        "value": {
            "@type": "QuantitativeValue",
            "minValue": 31000,
            "maxValue": 36000,
            "unitText": "YEAR",
        },
    },
}


def with_block(block: str, rest: str = "") -> str:
    script = f"<script type='application/ld+json'>{block}</script>"
    return f"<html><head><title>x</title>{script}</head><body>{rest}</body></html>"


def with_posting(**changes: Any) -> str:
    return with_block(json.dumps(POSTING | changes))


def test_every_json_ld_field_is_read() -> None:
    reading = page_reader.read_posting(with_posting(), URL)

    assert (reading.method, reading.closed) == ("json-ld", False)
    posting = reading.posting
    assert posting is not None
    assert posting.title == "Lighthouse Keeper"
    assert posting.company == "Brightfold Coast Trust"
    assert posting.location == "Stranraer, United Kingdom"
    assert posting.locations == ("Stranraer, United Kingdom",)
    assert posting.employment_type == "full_time"
    assert posting.posted_at == dt.datetime(2026, 3, 2, tzinfo=dt.UTC)
    assert posting.requisition_id == "LK-9"
    assert posting.salary == Salary(31000, 36000, "GBP", "year", "structured")
    assert posting.description == "Keep the lamp lit.\n- Climb stairs\n- Write the log"
    assert posting.url == URL


WHOLE = json.dumps(POSTING)


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(json.dumps([{"@type": "WebSite"}, POSTING]), id="in a list"),
        pytest.param(json.dumps({"@graph": [{"@type": "Thing"}, POSTING]}), id="in a graph"),
        pytest.param(json.dumps({"@type": "WebPage", "mainEntity": POSTING}), id="within another"),
        pytest.param(f"<!--\n{WHOLE}\n-->", id="in a comment"),
        pytest.param(f"//<![CDATA[\n{WHOLE}\n//]]>", id="in CDATA"),
        pytest.param(f"/* made by us */ {WHOLE} // end", id="with comments"),
        pytest.param(f"{WHOLE[:-1]},}}", id="with a comma too many"),
        pytest.param(f"{WHOLE};", id="with a semicolon"),
        pytest.param(f'{{"@type":"WebSite"}}\n{WHOLE}', id="behind another object"),
        pytest.param(WHOLE.replace('"', "&quot;"), id="with quotes as entities"),
        pytest.param(WHOLE.replace("lamp lit.", "lamp \nlit."), id="raw break"),
        pytest.param(json.dumps(POSTING | {"@type": ["Thing", "JobPosting"]}), id="of two types"),
        pytest.param(
            json.dumps(POSTING | {"@type": "http://schema.org/JobPosting"}), id="type as URL"
        ),
    ],
)
def test_a_block_is_read_however_it_is_wrapped(block: str) -> None:
    posting = page_reader.read_posting(with_block(block), URL).posting

    assert posting is not None
    assert posting.title == "Lighthouse Keeper"
    assert posting.description is not None
    assert "lamp lit." in posting.description


@pytest.mark.parametrize(
    "block",
    ["", "  ", "window.x = {};", "{", '{"@type": "JobPosting"}', "[1, 2", '"JobPosting"', "null"],
)
def test_a_block_without_a_posting_is_skipped(block: str) -> None:
    both = with_block(block) + with_posting()

    assert page_reader.read_postings(with_block(block), URL) == []
    assert [posting.title for posting in page_reader.read_postings(both, URL)] == [
        "Lighthouse Keeper"
    ]


def test_a_comma_or_comment_within_a_text_is_left_alone() -> None:
    text = "See https://x.example/a //not a comment/* nor this */, ]"
    html = with_block(json.dumps(POSTING | {"description": text})[:-1] + ",}")

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert posting.description == text


def test_all_places_are_kept() -> None:
    places = [
        {"@type": "Place", "address": {"addressLocality": "Turku", "addressCountry": "FI"}},
        {"@type": "Place", "address": "Oulu, Finland"},
        {"@type": "Place", "name": "Vaasa office"},
        "Espoo",
    ]
    posting = page_reader.read_posting(with_posting(jobLocation=places), URL).posting

    assert posting is not None
    assert posting.locations == ("Turku, FI", "Oulu, Finland", "Vaasa office", "Espoo")
    assert posting.location == "Turku, FI; Oulu, Finland; Vaasa office; Espoo"


def test_telecommuting_is_remote_from_the_places_required() -> None:
    html = with_posting(
        jobLocationType="TELECOMMUTE",
        applicantLocationRequirements=[{"@type": "Country", "name": "Norway"}, {"name": "Sweden"}],
    )
    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert posting.arrangement == "remote"
    assert posting.remote_from == ("Norway", "Sweden")


@pytest.mark.parametrize(
    ("pay", "salary"),
    [
        ({"currency": "EUR", "value": 52000}, Salary(52000, 52000, "EUR", None, "structured")),
        (
            {"currency": "EUR", "value": {"value": "19.5", "unitText": "HOUR"}},
            Salary(19.5, 19.5, "EUR", "hour", "structured"),
        ),
        (
            {"currency": "EUR", "minValue": 3000, "maxValue": 4000, "unitText": "MONTH"},
            Salary(3000, 4000, "EUR", "month", "structured"),
        ),
        (
            {"currency": "EUR", "value": {"minValue": 3000, "unitText": "MONTH"}},
            Salary(3000, None, "EUR", "month", "structured"),
        ),
        ({"currency": "EUR", "value": {"value": 0}}, None),
        (None, None),
    ],
)
def test_salaries_are_read_in_every_form(pay: Any, salary: Salary | None) -> None:
    posting = page_reader.read_posting(with_posting(baseSalary=pay), URL).posting

    assert posting is not None
    assert posting.salary == salary


@pytest.mark.parametrize(
    ("organization", "company"),
    [
        ("Tern & Co", "Tern & Co"),
        ({"name": "Tern &amp; Co"}, "Tern & Co"),
        ([{"name": "Tern"}], "Tern"),
    ],
)
def test_the_company_may_be_a_text_an_object_or_a_list(organization: Any, company: str) -> None:
    posting = page_reader.read_posting(with_posting(hiringOrganization=organization), URL).posting

    assert posting is not None
    assert posting.company == company


def test_an_escaped_description_becomes_plain_text_and_sections_are_added() -> None:
    html = with_posting(
        description="&lt;p&gt;Mind the &amp;amp; sign&lt;/p&gt;",
        responsibilities="Oil the hinges",
        qualifications="A head for heights",
    )
    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert posting.description == "Mind the & sign\n\nOil the hinges\n\nA head for heights"
    assert posting.requirements == "A head for heights"


def test_a_posting_past_its_deadline_is_closed() -> None:
    assert page_reader.read_posting(with_posting(validThrough="2020-05-01"), URL).closed


def test_a_posting_is_closed_if_its_page_says_so() -> None:
    words = "<p>This position has been filled.</p>"

    assert page_reader.read_posting(with_block(json.dumps(POSTING), words), URL).closed
    assert not page_reader.read_posting(
        with_block(json.dumps(POSTING), f"<div hidden>{words}</div>"), URL
    ).closed


def test_the_apply_link_is_taken_from_the_page() -> None:
    links = "<a href='/home'>Apply</a><a href='#apply'>Apply</a><a href='/apply/77'>Apply now</a>"

    posting = page_reader.read_posting(with_block(json.dumps(POSTING), links), URL).posting

    assert posting is not None
    assert posting.apply_url == "https://careers.brightfold.example/apply/77"


def test_of_several_postings_the_one_the_page_is_about_is_read() -> None:
    others = [POSTING | {"title": name, "url": f"/jobs/{name}"} for name in ("Cook", "Warden")]
    block = json.dumps([*others, POSTING | {"url": "/jobs/77"}])

    posting = page_reader.read_posting(with_block(block), URL).posting

    assert posting is not None
    assert posting.title == "Lighthouse Keeper"


def test_a_page_with_many_postings_has_no_single_one_but_all_can_be_read() -> None:
    block = json.dumps([POSTING | {"title": name} for name in ("Cook", "Warden", "Smith")])

    reading = page_reader.read_posting(with_block(block), "https://careers.brightfold.example/jobs")

    assert (reading.posting, reading.method) == (None, None)
    assert [posting.title for posting in page_reader.read_postings(with_block(block), URL)] == [
        "Cook",
        "Warden",
        "Smith",
    ]


def test_missing_fields_are_taken_from_labels_or_stay_unknown() -> None:
    block = json.dumps({"@type": "JobPosting", "title": "Warden", "description": "Guard the door."})
    labels = "<dl><dt>Company</dt><dd>Gate House</dd><dt>Date posted</dt><dd>2026-01-05</dd></dl>"

    posting = page_reader.read_posting(with_block(block, labels), URL).posting

    assert posting is not None
    assert (posting.company, posting.location) == ("Gate House", None)
    assert posting.posted_at == dt.datetime(2026, 1, 5, tzinfo=dt.UTC)


def test_a_single_object_can_be_converted() -> None:
    posting = page_reader.posting_from_schema(POSTING, URL)

    assert posting is not None
    assert posting.company == "Brightfold Coast Trust"
    assert page_reader.posting_from_schema({"@type": "JobPosting"}, URL) is None
