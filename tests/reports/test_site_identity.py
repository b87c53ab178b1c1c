from __future__ import annotations

import pytest

from jobmill.reports import site_identity, site_text
from jobmill.reports.candidate_questions import answer_questions
from jobmill.reports.findings import CrawledPage, Fact

URL = "https://acme.example/"


def _facts(html: str, company: str = "Acme") -> list[Fact]:
    pages = site_text.read_pages([CrawledPage(URL, 200, html)])
    sentences = site_text.read_sentences(pages)
    answers = answer_questions(sentences)
    return list(site_identity.find_facts(pages, sentences, answers, company=company))


def _values(html: str, name: str) -> list[str]:
    return [fact.value for fact in _facts(html) if fact.name == name]


@pytest.mark.parametrize(
    ("html", "name", "value", "quote"),
    [
        (
            "<p>Water matters. Acme was founded in 1998 by plumbers.</p>",
            "founded", "1998", "Acme was founded in 1998 by plumbers.",
        ),
        (
            "<p>Hello. We employ about 120 people in Portugal.</p>",
            "size", "about 120 people", "We employ about 120 people in Portugal.",
        ),
        (
            "<p>Hello. Acme is headquartered in Porto.</p>",
            "places", "Porto", "Acme is headquartered in Porto.",
        ),
        (
            "<p>Hello. We are a water technology company from Portugal.</p>",
            "industry", "water", "We are a water technology company from Portugal.",
        ),
        (
            "<p>Hello. We use PostgreSQL for all our controllers.</p>",
            "tech", "PostgreSQL", "We use PostgreSQL for all our controllers.",
        ),
        (
            "<p>Hello. We work in a hybrid model at all our sites.</p>",
            "remote_policy", "hybrid", "We work in a hybrid model at all our sites.",
        ),
    ],
)  # fmt: skip
def test_a_fact_rests_on_its_sentence(html: str, name: str, value: str, quote: str) -> None:
    [fact] = [fact for fact in _facts(html) if fact.name == name]
    assert (fact.value, fact.evidence.quote, fact.evidence.url) == (value, quote, URL)


def test_structured_data_is_named_as_the_evidence() -> None:
    html = (
        '<script type="application/ld+json">{"@type":"Organization","foundingDate":"1998"}</script>'
    )
    [fact] = _facts(f"<html><head>{html}</head><body><p>Hello</p></body></html>")
    assert (fact.name, fact.value) == ("founded", "1998")
    assert fact.evidence.quote == "Structured data of the organization: 1998"


def test_lists_below_headings_are_facts() -> None:
    html = "<h2>Benefits</h2><ul><li>Free lunch</li><li>Gym</li></ul><h2>Team</h2><p>Ana</p>"
    assert _values(html, "benefits") == ["Free lunch", "Gym"]
    assert _values("<h2>Benefits</h2><p>More soon</p>", "benefits") == []


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("This position is located in Porto.", "places"),
        ("The role is fully remote within Portugal for one year.", "remote_policy"),
        ("We are not a remote-first company at this time.", "remote_policy"),
        ("Candidates know PostgreSQL and the tools around it.", "tech"),
    ],
)
def test_single_openings_say_nothing_about_the_company(sentence: str, name: str) -> None:
    assert _values(f"<p>{sentence}</p>", name) == []


def test_the_name_is_found_as_a_whole_word() -> None:
    assert _values("<p>Acmeville is a town.</p>", "name") == []
    assert _values("<p>Hello. ACME makes pumps.</p>", "name") == ["ACME"]
    assert [fact for fact in _facts("<p>Hello</p>", company="") if fact.name == "name"] == []


def test_the_number_of_values_is_limited() -> None:
    items = "".join(f"<li>Benefit number {number}</li>" for number in range(100))
    assert (
        len(_values(f"<h2>Benefits</h2><ul>{items}</ul>", "benefits")) == site_identity.MAX_VALUES
    )


def test_the_name_is_written_as_the_site_writes_it() -> None:
    html = "<title>Careers | Deutsche Bahn</title><p>Wir suchen dich.</p>"
    facts = _facts(html, company="Deutschebahn")
    assert [fact.value for fact in facts if fact.name == "name"] == ["Deutsche Bahn"]
