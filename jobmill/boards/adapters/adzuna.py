"""Adzuna: postings of one country. Texts are cut, and pay may be Adzuna's estimate."""

from __future__ import annotations

import re
from typing import Literal

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Maybe
from jobmill.outside.request import Request

from .. import aggregator_search
from ..platform import BoardPage, Platform

# Amounts come in the country's currency, which the answer does not name.
CURRENCIES = {
    "at": "EUR", "au": "AUD", "be": "EUR", "br": "BRL", "ca": "CAD", "ch": "CHF", "de": "EUR",
    "es": "EUR", "fr": "EUR", "gb": "GBP", "in": "INR", "it": "EUR", "mx": "MXN", "nl": "EUR",
    "nz": "NZD", "pl": "PLN", "sg": "SGD", "us": "USD", "za": "ZAR",
}  # fmt: skip
Country = Literal[
    "at", "au", "be", "br", "ca", "ch", "de", "es", "fr", "gb",
    "in", "it", "mx", "nl", "nz", "pl", "sg", "us", "za",
]  # fmt: skip


class AdzunaSearch(aggregator_search.KeywordSearch):
    country: Country = "us"
    max_days_old: int | None = None


class _Named(ExternalRecord):
    display_name: Maybe[str] = None
    label: Maybe[str] = None


class _Item(ExternalRecord):
    id: Maybe[str] = None
    title: Line
    redirect_url: Link = None
    company: Maybe[_Named] = None
    location: Maybe[_Named] = None
    category: Maybe[_Named] = None
    contract_time: Maybe[str] = None
    contract_type: Maybe[str] = None
    created: Maybe[str] = None
    salary_min: Maybe[float] = None
    salary_max: Maybe[float] = None
    salary_is_predicted: Maybe[str] = None
    description: Maybe[str] = None


class _Answer(ExternalRecord):
    results: list[object]
    count: Maybe[int] = None


SIZE = 50


def first_request(config: AdzunaSearch) -> Request:
    return _ask(config, 1)


def _ask(config: AdzunaSearch, number: int) -> Request:
    base = f"https://api.adzuna.com/v1/api/jobs/{config.country}/search/{number}"
    params = {
        "results_per_page": SIZE,
        "what": config.keywords,
        "where": config.location,
        "max_days_old": config.max_days_old,
    }
    keys = "&app_id={ADZUNA_APP_ID}&app_key={ADZUNA_APP_KEY}"
    return Request(aggregator_search.build_url(base, params) + keys, context={"page": number})


def read(body: bytes, request: Request, config: AdzunaSearch) -> BoardPage:
    answer = _Answer.model_validate(lenient_models.parse_json(body))
    good, stubs = lenient_models.parse_records(_Item, answer.results)
    number = request.context.get("page", 1)
    more = bool(answer.results) and number * SIZE < (answer.count or 0)
    next, truncated = aggregator_search.next_page(
        config, number, more, lambda page: _ask(config, page)
    )
    postings = tuple(_posting(one, _currency(one, config)) for one in good)
    return BoardPage(postings, next, truncated, answer.count, stubs)


def _currency(one: _Item, config: AdzunaSearch) -> str:
    """By the site that shows the posting: of a saved answer nobody knows what was asked."""
    site = re.match(r"https?://(?:www\.)?adzuna\.(?:com?\.)?([a-z]{2,3})/", one.redirect_url or "")
    country = {"uk": "gb", "com": "us"}.get(site[1], site[1]) if site else ""
    return CURRENCIES.get(country) or CURRENCIES[config.country]


def _posting(one: _Item, currency: str) -> Posting:
    category = html_text.single_line(one.category.label) if one.category else None
    return Posting(
        title=html_text.single_line(html_text.from_html(one.title)) or one.title,
        url=one.redirect_url or "",
        company=html_text.single_line(one.company.display_name) if one.company else None,
        location=html_text.single_line(one.location.display_name) if one.location else None,
        employment_type=employment.parse_employment_type([one.contract_time, one.contract_type]),
        posted_at=dates.parse_date(one.created),
        salary=salary.from_fields(
            one.salary_min,
            one.salary_max,
            currency,
            "year",
            predicted=one.salary_is_predicted == "1",
        ),
        description=html_text.from_html(one.description),
        vendor_id=one.id,
        tags=(category,) if category else (),
        via="Adzuna",
        partial=True,
    )


PLATFORM = Platform(
    name="adzuna",
    title="Adzuna",
    posting_ids=PostingIds(aggregator=True),
    config=AdzunaSearch,
    token=aggregator_search.search_token,
    first_request=first_request,
    read=read,
    key_names=("ADZUNA_APP_ID", "ADZUNA_APP_KEY"),
    inventory=False,
)
