"""Adzuna: postings of one country. Texts are truncated, and salaries may be Adzuna's estimates."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from typing import Literal

from jobmill.catalog.posting import Posting
from jobmill.extract.fields import employment, html_text, salary

from .aggregator import Aggregator, AggregatorFields, DaysBack, KeywordSearch
from .api import get_path, text_at

# Amounts are in the country's currency, which the response does not name.
CURRENCIES = {
    "at": "EUR", "au": "AUD", "be": "EUR", "br": "BRL", "ca": "CAD", "ch": "CHF", "de": "EUR",
    "es": "EUR", "fr": "EUR", "gb": "GBP", "in": "INR", "it": "EUR", "mx": "MXN", "nl": "EUR",
    "nz": "NZD", "pl": "PLN", "sg": "SGD", "us": "USD", "za": "ZAR",
}  # fmt: skip
Country = Literal[
    "at", "au", "be", "br", "ca", "ch", "de", "es", "fr", "gb",
    "in", "it", "mx", "nl", "nz", "pl", "sg", "us", "za",
]  # fmt: skip


class AdzunaSearch(KeywordSearch):
    country: Country = "us"
    max_days_old: int | None = None
    days_back: DaysBack = None
    """The name that all searches share for `max_days_old`."""


def _resolve_dates(config: AdzunaSearch, today: dt.date) -> AdzunaSearch:
    return config.model_copy(update={"max_days_old": config.max_days_old or config.days_back})


def _complete(posting: Posting, record: object, config: AdzunaSearch) -> Posting:
    contract = [text_at(record, "contract_time"), text_at(record, "contract_type")]
    return replace(
        posting,
        title=html_text.single_line(html_text.from_html(posting.title)) or posting.title,
        employment_type=employment.parse_employment_type(contract),
        salary=salary.from_fields(
            get_path(record, "salary_min"),
            get_path(record, "salary_max"),
            _currency(posting.url, config),
            "year",
            predicted=text_at(record, "salary_is_predicted") == "1",
        ),
    )


def _currency(url: str, config: AdzunaSearch) -> str:
    """By the site in the posting's URL: for a saved response, the searched country is unknown."""
    site = re.match(r"https?://(?:www\.)?adzuna\.(?:com?\.)?([a-z]{2,3})/", url)
    country = {"uk": "gb", "com": "us"}.get(site[1], site[1]) if site else ""
    return CURRENCIES.get(country) or CURRENCIES[config.country]


PLATFORM = Aggregator(
    name="adzuna",
    title="Adzuna",
    config=AdzunaSearch,
    url="https://api.adzuna.com/v1/api/jobs/{country}/search/{page}",
    params={
        "results_per_page": 50,
        "what": "keywords",
        "where": "location",
        "max_days_old": "max_days_old",
    },
    key_params="app_id={ADZUNA_APP_ID}&app_key={ADZUNA_APP_KEY}",
    page_size=50,
    items="results",
    total="count",
    fields=AggregatorFields(
        url="redirect_url",
        company="company.display_name",
        location="location.display_name",
        posted_at="created",
        tags=("category.label",),
    ),
    complete=_complete,
    partial=True,
).platform(key_names=("ADZUNA_APP_ID", "ADZUNA_APP_KEY"), resolve_dates=_resolve_dates)
