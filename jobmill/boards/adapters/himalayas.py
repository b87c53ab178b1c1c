"""Himalayas: remote postings, with the countries where applicants may live."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import html_text
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardPage
from .aggregator import Aggregator, AggregatorFields, PagedSearch
from .api import text_at, texts_at


def _read(body: bytes, request: Request, config: PagedSearch) -> BoardPage:
    response = lenient_models.parse_json(body)
    postings, count = _API.read_records(response, config)
    total = _API.count(response, "totalCount")
    # The site sends fewer records than requested when it lowers its limit, so received records count.
    offset, page = request.context.get("offset", 0) + count, request.context.get("page", 1)
    has_next = count > 0 and offset < (total or 0)
    follow = has_next and page < config.max_pages
    next_page = _next_request(offset, page + 1, text_at(response, "nextCursor"))
    return BoardPage(
        postings,
        (next_page,) if follow else (),
        truncated=has_next and not follow,
        total=total,
        stubs=count - len(postings),
    )


def _next_request(offset: int, page: int, cursor: str | None) -> Request:
    """The page at the cursor, or at the offset if the site sends no cursor."""
    position = {"cursor": cursor} if cursor else {"offset": offset}
    url = f"{_API.url}?{urlencode({'limit': 20, **position})}"
    return Request(url, context={"offset": offset, "page": page})


def _complete(posting: Posting, record: Any, config: PagedSearch) -> Posting:
    countries = texts_at(record, "locationRestrictions")
    locations = location_text.unique_locations(countries)
    return replace(
        posting,
        url=posting.url or posting.apply_url or "",
        # The site has sent the names of its own columns in place of values.
        company=posting.company if posting.company != "name" else None,
        location=", ".join(countries) or None,
        locations=locations,
        arrangement="remote",
        remote_from=locations,
        description=posting.description or html_text.clean_text(text_at(record, "excerpt")),
        vendor_id=posting.vendor_id or posting.apply_url,
        tags=tuple(tag.replace("-", " ") for tag in posting.tags),
        partial=posting.description is None,
    )


_API = Aggregator(
    name="himalayas",
    title="Himalayas",
    config=PagedSearch,
    url="https://himalayas.app/jobs/api",
    params={"limit": 20, "offset": "offset"},
    items="jobs",
    fields=AggregatorFields(
        id="guid",
        url="guid",
        apply_url="applicationLink",
        company="companyName",
        employment_type="employmentType",
        seniority="seniority",
        posted_at="pubDate",
        valid_through="expiryDate",
        salary_min="minSalary",
        salary_max="maxSalary",
        salary_currency="currency",
        salary_period="salaryPeriod",
        tags=("categories",),
    ),
    complete=_complete,
)
PLATFORM = _API.platform(read=_read)
