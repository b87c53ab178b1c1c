from __future__ import annotations

import json

import pytest

from jobmill.catalog.company_analyses import CompanyFacts
from jobmill.extract.company import office_locations, sentence_facts, site_facts

from .helpers import ABOUT, CAREERS, read


def facts(*bodies: str, **more: str) -> CompanyFacts:
    return site_facts.read_facts([read(body, **more) for body in bodies])


def test_all_facts_of_an_about_page_are_read() -> None:
    read_facts = facts(ABOUT)
    assert read_facts.about
    assert read_facts.about.startswith("Brinewell is a water technology company")
    assert "cookies" not in read_facts.about
    assert "respect" not in read_facts.about
    assert read_facts.culture == (
        "Kindness. We treat each other, our customers and our suppliers with respect, also on bad days. "
        "Ownership. Whoever builds a thing also looks after it in the field."
    )
    assert (
        read_facts.mission
        == "Our mission is to make fresh water affordable for every town on a coast."
    )
    assert read_facts.size == "more than 240 employees"
    assert read_facts.headquarters_location == "Portland, Oregon"
    assert read_facts.founded == "2012"
    assert read_facts.industry == "water"
    assert read_facts.offices == ("Portland, Oregon", "Lisbon", "Austin", "Singapore")
    assert read_facts.remote_first is None
    assert read_facts.extracted_by == "heuristics"


def test_pages_add_to_one_another() -> None:
    read_facts = site_facts.read_facts(
        [read(CAREERS, "https://brinewell.example/careers"), read(ABOUT)]
    )
    assert read_facts.remote_first is True
    assert read_facts.about is not None
    assert read_facts.about.startswith("Brinewell is")


def test_structured_data_wins_over_text() -> None:
    stated = {
        "@context": "https://schema.org",
        "@graph": [
            {"@type": "WebSite", "name": "Brinewell"},
            {
                "@type": "Corporation",
                "name": "Brinewell",
                "foundingDate": "2011-04-02",
                "numberOfEmployees": {
                    "@type": "QuantitativeValue",
                    "minValue": 201,
                    "maxValue": 500,
                },
                "address": {
                    "addressLocality": "Salem",
                    "addressRegion": "OR",
                    "addressCountry": "US",
                },
            },
        ],
    }
    read_facts = facts(
        ABOUT, head=f'<script type="application/ld+json">{json.dumps(stated)}</script>'
    )
    assert (read_facts.founded, read_facts.size) == ("2011", "201-500 employees")
    assert read_facts.headquarters_location == "Salem, OR, US"


def test_an_empty_home_page_is_described_by_its_metadata() -> None:
    words = "Fernleaf is an edtech company that helps schools plan their lessons, their rooms and their meals."
    read_facts = facts("<div id=app></div>", head=f'<meta name="description" content="{words}">')
    assert (read_facts.about, read_facts.industry) == (words, "edtech")


def test_model_facts_win_if_they_are_long_enough() -> None:
    rules = CompanyFacts(about="r" * 200, culture="r" * 20, size="30 employees", offices=("Porto",))
    model = CompanyFacts(
        about="m" * 101, culture="m" * 10, offices=("Oslo", "porto"), extracted_by="m"
    )
    merged = site_facts.merge_facts(model, rules)
    assert (merged.about, merged.culture, merged.size) == ("m" * 101, "r" * 20, "30 employees")
    assert (merged.offices, merged.extracted_by) == (("Oslo", "porto"), "m")
    assert site_facts.merge_facts(CompanyFacts(about="m" * 100), rules).about == "r" * 200


def test_nothing_is_made_up() -> None:
    assert facts("<p>Under construction.</p>") == CompanyFacts()
    assert site_facts.read_facts([]) == CompanyFacts()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Founded in 1998, we make boats.", "1998"),
        ("The company was founded by Ana Reis and two friends in 2015.", "2015"),
        ("Established 1876", "1876"),
        ("Est. 1999", "1999"),
        ("Since 2004, we have been baking.", "2004"),
        ("Gegründet wurde die Firma 1987 in Ulm.", "1987"),
        ("Copyright 2019", None),
        ("In 2020 we moved.", None),
        ("We raised $2000 and founded nothing.", None),
    ],
)
def test_years(text: str, expected: str | None) -> None:
    assert sentence_facts.find_founding_year([text]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We have over 1,200 employees.", "over 1,200 employees"),
        ("A team of 35 builds it.", "team of 35"),
        ("We are a 12-person studio.", "12-person studio"),
        ("Today we are 80 people.", "80 people"),
        ("51-200 employees", "51-200 employees"),
        ("Wir sind rund 300 Mitarbeiter.", "rund 300 Mitarbeiter"),
        ("Built for companies with 500 employees.", None),
        ("We helped 2,000,000 people.", None),
        ("Since 2015 employees own the firm.", None),
    ],
)
def test_sizes(text: str, expected: str | None) -> None:
    assert sentence_facts.find_size([text]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Acme is headquartered in St. Louis, Missouri.", "St. Louis, Missouri"),
        ("Headquartered in Porto, Portugal, Acme builds boats.", "Porto, Portugal"),
        ("We are based in Berlin.", "Berlin"),
        ("HQ: San Francisco, CA", "San Francisco, CA"),
        ("Acme is a Portland-based company.", "Portland"),
        ("Our headquarters is in the Netherlands.", "Netherlands"),
        ("Pricing is based in part on use.", None),
        ("Unser Hauptsitz ist in München.", "München"),
        ("We are based in Europe.", None),
    ],
)
def test_headquarters(text: str, expected: str | None) -> None:
    assert office_locations.find_headquarters([text]) == expected


def test_the_place_of_an_opening_is_not_a_headquarters() -> None:
    opening = "<h2>Pump Engineer</h2><p>You are based in Oslo, close to our customers there.</p>"
    head = "<p>Our team is based in Bergen, and all of us love the rain.</p>"
    assert facts(opening + head, url="https://b.example/careers").headquarters_location is None
    assert facts(head, url="https://b.example/about").headquarters_location == "Bergen"


def test_towns_of_addresses_and_of_lists() -> None:
    assert office_locations.find_addresses(["12 Mill Road, Salem, OR 97301"]) == ["Salem, OR"]
    assert office_locations.find_addresses(["12 Mill Street Salem OR 97301"]) == ["Salem, OR"]
    listed = "<h2>Our offices</h2><h3>Porto</h3><p>Rua Nova 3</p><h3>Get directions</h3>"
    assert facts(listed).offices == ("Porto",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We are a remote-first company.", True),
        ("Our team is fully distributed.", True),
        ("We are not a remote-first company.", False),
        ("We have an in-office culture.", False),
        ("Senior Engineer (Remote)", None),
        ("Remote control of pumps.", None),
        ("This is a fully remote position.", None),
        ("We let you work from anywhere for four weeks a year.", None),
        ("Everyone can work from anywhere.", True),
    ],
)
def test_remote_first(text: str, expected: bool | None) -> None:
    assert sentence_facts.find_remote_first([text]) is expected


def test_long_texts_are_cut_between_sentences() -> None:
    body = "".join(
        f"<p>Brinewell is a firm that has built plant number {n} by the sea.</p>" for n in range(90)
    )
    about = facts(body).about
    assert about is not None
    assert len(about) <= site_facts.MAX_TEXT_LENGTH
    assert about.endswith("by the sea.")


@pytest.mark.parametrize("piece", ["Aa-", "5-", "offices in Aa-Aa, ", "is a x, ", "founded 12 "])
def test_a_page_with_costly_patterns_is_read_quickly(piece: str) -> None:
    assert facts(f"<p>{piece * 10_000}</p>").founded is None
