"""Adzuna: estimated pay, currencies by country, cut texts."""

from __future__ import annotations

import json

import pytest

from jobmill.boards.adapters import adzuna
from jobmill.catalog.posting import Posting, Salary
from jobmill.errors import Invalid

from . import answer, first_request, read


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("adzuna", answer("adzuna/search.json"), {"country": "de"}).postings


def test_the_address_names_country_page_and_keys() -> None:
    asked = first_request("adzuna", country="de", keywords="organ {ADZUNA_APP_KEY}")
    assert asked.url == (
        "https://api.adzuna.com/v1/api/jobs/de/search/1?results_per_page=50"
        "&what=organ+%7BADZUNA_APP_KEY%7D&app_id={ADZUNA_APP_ID}&app_key={ADZUNA_APP_KEY}"
    )


def test_a_country_that_adzuna_does_not_know_is_refused() -> None:
    with pytest.raises(Invalid, match="country"):
        adzuna.PLATFORM.parse_config({"country": "xx"})


def test_pay_is_in_the_currency_of_the_country(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary == Salary(42000, 50000, "EUR", "year", "structured")


def test_an_estimate_is_not_taken_for_a_statement(postings: tuple[Posting, ...]) -> None:
    assert postings[1].salary == Salary(39123.4, 39123.4, "EUR", "year", "predicted")


def test_texts_are_cut(postings: tuple[Posting, ...]) -> None:
    assert all(one.partial for one in postings)
    assert adzuna.PLATFORM.detail_request is None


def test_the_next_page_is_in_the_path() -> None:
    first = first_request("adzuna", country="de")
    (second,) = read("adzuna", answer("adzuna/search.json"), {"country": "de"}, first).next
    assert "/de/search/2?" in second.url


def test_every_country_has_a_currency() -> None:
    countries = adzuna.AdzunaSearch.model_json_schema()["properties"]["country"]["enum"]
    assert set(countries) == set(adzuna.CURRENCIES)


@pytest.mark.parametrize(
    ("site", "currency"),
    [
        ("www.adzuna.co.uk", "GBP"),
        ("www.adzuna.com.au", "AUD"),
        ("www.adzuna.fr", "EUR"),
        ("www.adzuna.com", "USD"),
        ("jobs.example", "PLN"),
    ],
)
def test_the_site_tells_the_currency_before_what_was_asked(site: str, currency: str) -> None:
    one = {"title": "Tuner", "redirect_url": f"https://{site}/land/ad/1", "salary_min": 30000}
    (found,) = read("adzuna", json.dumps({"results": [one]}).encode(), {"country": "pl"}).postings
    assert found.salary
    assert found.salary.currency == currency
