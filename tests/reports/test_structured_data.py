from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from typing import Any

import pytest

from jobmill.catalog.posting import Salary
from jobmill.reports import site_text, structured_data
from jobmill.reports.findings import Contradiction, CrawledPage, StructuredData
from jobmill.reports.known_postings import KnownPosting, PostingFields
from jobmill.reports.site_analysis import CPU_SECONDS
from jobmill.sandbox import read_untrusted_now

SITE = "https://acme.example"
BOARD = "https://boards.example/acme/1"
PAY = Salary(60_000, 75_000, "EUR", "year", "structured")
NODE: dict[str, Any] = {
    "@context": "https://schema.org",
    "@type": "JobPosting",
    "title": "Pump Engineer",
    "description": "Look after pumps.",
    "datePosted": "2026-03-01",
    "validThrough": "2026-05-01",
    "hiringOrganization": {"@type": "Organization", "name": "Acme"},
    "jobLocation": {"address": {"addressLocality": "Porto", "addressCountry": "PT"}},
    "baseSalary": {
        "currency": "EUR",
        "value": {"minValue": 60000, "maxValue": 75000, "unitText": "YEAR"},
    },
    "employmentType": "FULL_TIME",
    "identifier": "1",
}
KNOWN = KnownPosting(BOARD, "Pump Engineer", "Porto, Portugal", PAY, dt.date(2026, 3, 1))


def _page(*nodes: dict[str, Any], path: str = "/careers/1") -> CrawledPage:
    scripts = "".join(
        f'<script type="application/ld+json">{json.dumps(node)}</script>' for node in nodes
    )
    return CrawledPage(SITE + path, 200, f"<html><head>{scripts}</head><body></body></html>")


def _analyze(*pages: CrawledPage, postings: tuple[KnownPosting, ...] = ()) -> StructuredData:
    return structured_data.analyze_structured_data(
        pages, site_text.read_pages(pages), postings, None
    )


def test_a_site_without_data_misses_everything() -> None:
    result = _analyze(CrawledPage(SITE, 200, "<p>Hello</p>"), postings=(KNOWN,))
    assert result.missing_organization_fields == structured_data.ORGANIZATION_FIELDS
    assert (result.postings, result.postings_with_data) == (1, 0)
    assert result.contradictions == ()


def test_missing_fields_of_the_organization_are_named_once_for_the_site() -> None:
    first = {"@type": "Organization", "name": "Acme", "url": SITE, "logo": "x"}
    second = {"@type": "Corporation", "description": "Pumps", "address": "Porto"}
    result = _analyze(_page(first, path="/"), _page(second, path="/about"))
    assert result.organization_pages == (f"{SITE}/", f"{SITE}/about")
    assert result.missing_organization_fields == ("sameAs", "foundingDate", "numberOfEmployees")


def test_missing_fields_of_postings_are_counted() -> None:
    silent = {
        key: value for key, value in NODE.items() if key not in ("baseSalary", "validThrough")
    }
    remote = {**silent, "title": "Writer", "applicantLocationRequirements": {"name": "PT"}}
    del remote["jobLocation"]
    result = _analyze(_page(silent), _page(remote, path="/careers/2"))
    assert dict(result.missing_posting_fields) == {"baseSalary": 2, "validThrough": 2}
    assert result.postings_with_data == 2


def test_agreeing_data_has_no_contradictions() -> None:
    result = _analyze(_page(NODE), postings=(KNOWN,))
    assert (result.postings_with_data, result.contradictions) == (1, ())


@pytest.mark.parametrize(
    ("known", "field", "on_board"),
    [
        (
            replace(KNOWN, title="Pump Manager", other_urls=(f"{SITE}/careers/1",)),
            "title",
            "Pump Manager",
        ),
        (replace(KNOWN, place="Berlin, Germany"), "place", "Berlin, Germany"),
        (replace(KNOWN, pay=replace(PAY, max=90_000)), "pay", "EUR 60,000-90,000 a year"),
        (replace(KNOWN, pay=replace(PAY, currency="USD")), "pay", "USD 60,000-75,000 a year"),
        (replace(KNOWN, posted_on=dt.date(2026, 1, 1)), "date", "2026-01-01"),
    ],
)
def test_contradictions_show_both_sides(known: KnownPosting, field: str, on_board: str) -> None:
    [contradiction] = _analyze(_page(NODE), postings=(known,)).contradictions
    assert (contradiction.field, contradiction.on_board) == (field, on_board)
    assert contradiction.listing_url == BOARD


@pytest.mark.parametrize(
    "known",
    [
        replace(KNOWN, title="Pump Engineer (m/f/d)"),
        replace(KNOWN, place="Porto"),
        replace(KNOWN, place=None, pay=None, posted_on=None),
        replace(KNOWN, pay=Salary(30, 40, "EUR", "hour", "structured")),
        replace(KNOWN, posted_on=dt.date(2026, 3, 2)),
    ],
)
def test_different_words_for_the_same_are_no_contradiction(known: KnownPosting) -> None:
    assert _analyze(_page(NODE), postings=(known,)).contradictions == ()


def test_postings_with_the_same_title_are_not_confused() -> None:
    other = replace(KNOWN, url="https://boards.example/acme/2", place="Berlin, Germany")
    assert _analyze(_page(NODE), postings=(KNOWN, other)).contradictions == ()


def test_what_the_catalog_read_on_the_site_is_compared_too() -> None:
    on_site = PostingFields(f"{SITE}/careers/1", "Pump Engineer", "Berlin, Germany")
    [contradiction] = _analyze(postings=(replace(KNOWN, on_site=on_site),)).contradictions
    assert contradiction == Contradiction(BOARD, "place", "Berlin, Germany", "Porto, Portugal")


def test_a_rating_of_oneself_is_flagged() -> None:
    rating = {"@type": "EmployerAggregateRating", "ratingValue": "5"}
    result = _analyze(_page(rating, path="/careers"))
    assert result.self_rating is not None
    assert "EmployerAggregateRating" in result.self_rating.quote
    assert _analyze(_page(NODE)).self_rating is None
    prose = CrawledPage(SITE, 200, "<p>What is EmployerAggregateRating?</p>")
    assert _analyze(prose).self_rating is None


def test_hostile_data_is_bounded() -> None:
    deep = '<script type="application/ld+json">' + '{"@type":"JobPosting","x":[' * 50_000
    many = _page(*(NODE for _ in range(500)))
    read_untrusted_now(_analyze_many, CrawledPage(SITE, 200, deep), many, cpu_seconds=CPU_SECONDS)


def _analyze_many(*pages: CrawledPage) -> StructuredData:
    return _analyze(*pages, postings=tuple([KNOWN] * 1_000))
