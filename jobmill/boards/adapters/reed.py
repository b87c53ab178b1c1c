"""Reed: postings in the United Kingdom. A search shows truncated texts; the posting itself has the full text."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from jobmill.catalog.posting import Posting
from jobmill.extract.fields import dates, employment
from jobmill.outside.request import Request

from .aggregator import Aggregator, AggregatorFields, KeywordSearch
from .api import get_path, text_at


class ReedSearch(KeywordSearch):
    distance: int | None = None
    """Miles from the location."""


API = "https://www.reed.co.uk/api/1.0"
KEY = {"Authorization": "Basic {basic:REED_API_KEY}"}


def detail_request(posting: Posting, config: ReedSearch) -> Request:
    return Request(f"{API}/jobs/{quote(posting.vendor_id or '', safe='')}", secret=KEY)


def _complete(posting: Posting, record: object, config: ReedSearch) -> Posting:
    posted = text_at(record, "date") or text_at(record, "datePosted")
    expires = text_at(record, "expirationDate") or ""
    return replace(
        posting,
        employment_type=_employment_type(record),
        posted_at=dates.parse_date(posted, day_first=True),
        # dd/mm/yyyy as an ISO date.
        valid_through=dates.parse_deadline("-".join(reversed(expires.split("/")))),
    )


def _employment_type(record: object) -> str | None:
    contract = text_at(record, "contractType")
    if contract and contract.casefold() != "permanent":
        return employment.parse_employment_type(contract)
    full_time, part_time = get_path(record, "fullTime"), get_path(record, "partTime")
    if full_time is part_time:  # Both, or neither.
        return employment.parse_employment_type(text_at(record, "jobType"))
    return "full_time" if full_time else "part_time"


PLATFORM = Aggregator(
    name="reed",
    title="Reed",
    config=ReedSearch,
    url=f"{API}/search",
    params={
        "keywords": "keywords",
        "locationName": "location",
        "distanceFromLocation": "distance",
        "resultsToTake": 100,
        "resultsToSkip": "offset",
    },
    secret=KEY,
    page_size=100,
    items="results",
    total="totalResults",
    fields=AggregatorFields(
        id="jobId",
        title="jobTitle",
        url="jobUrl",
        apply_url="externalUrl",
        company="employerName",
        location="locationName",
        # A search does not state the period: £12 and £40,000 are in the same field.
        salary_min="minimumSalary",
        salary_max="maximumSalary",
        salary_currency="currency",
        salary_period="salaryType",
        description="jobDescription",
    ),
    required=("jobId",),
    complete=_complete,
    partial=True,
    single=True,
).platform(key_names=("REED_API_KEY",), detail_request=detail_request)
