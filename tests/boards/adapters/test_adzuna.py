"""Adzuna: estimated salaries, currencies by country, truncated texts."""

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


def test_the_url_names_country_page_and_keys() -> None:
    request = first_request("adzuna", country="de", keywords="organ {ADZUNA_APP_KEY}")
    assert request.url == (
        "https://api.adzuna.com/v1/api/jobs/de/search/1?results_per_page=50"
        "&what=organ+%7BADZUNA_APP_KEY%7D&app_id={ADZUNA_APP_ID}&app_key={ADZUNA_APP_KEY}"
    )


def test_an_unknown_country_is_refused() -> None:
    with pytest.raises(Invalid, match="country"):
        adzuna.PLATFORM.parse_config({"country": "xx"})


def test_a_salary_is_in_the_currency_of_the_country(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary == Salary(42000, 50000, "EUR", "year", "structured")


def test_an_estimated_salary_is_marked_as_predicted(postings: tuple[Posting, ...]) -> None:
    assert postings[1].salary == Salary(39123.4, 39123.4, "EUR", "year", "predicted")


def test_postings_are_partial(postings: tuple[Posting, ...]) -> None:
    assert all(posting.partial for posting in postings)
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
def test_the_site_in_the_url_sets_the_currency_before_the_config(site: str, currency: str) -> None:
    record = {"title": "Tuner", "redirect_url": f"https://{site}/land/ad/1", "salary_min": 30000}
    (posting,) = read(
        "adzuna", json.dumps({"results": [record]}).encode(), {"country": "pl"}
    ).postings
    assert posting.salary
    assert posting.salary.currency == currency
