"""Reed: postings in the United Kingdom. A search has cut texts; a posting's own answer has all."""

from __future__ import annotations

from urllib.parse import quote

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Maybe
from jobmill.outside.request import Request

from .. import aggregator_search
from ..platform import BoardPage, Platform


class ReedSearch(aggregator_search.KeywordSearch):
    distance: int | None = None
    """Miles from the location."""


class _Item(ExternalRecord):
    jobId: str
    jobTitle: Line
    jobUrl: Link = None
    externalUrl: Link = None
    employerName: Maybe[str] = None
    locationName: Maybe[str] = None
    minimumSalary: Maybe[float] = None
    maximumSalary: Maybe[float] = None
    currency: Maybe[str] = None
    salaryType: Maybe[str] = None
    date: Maybe[str] = None
    datePosted: Maybe[str] = None
    expirationDate: Maybe[str] = None
    contractType: Maybe[str] = None
    jobType: Maybe[str] = None
    fullTime: Maybe[bool] = None
    partTime: Maybe[bool] = None
    jobDescription: Maybe[str] = None


class _Answer(ExternalRecord):
    results: list[object]
    totalResults: Maybe[int] = None


API = "https://www.reed.co.uk/api/1.0"
KEY = {"Authorization": "Basic {basic:REED_API_KEY}"}
SIZE = 100


def first_request(config: ReedSearch) -> Request:
    return _ask(config, 1)


def _ask(config: ReedSearch, number: int) -> Request:
    params = {
        "keywords": config.keywords,
        "locationName": config.location,
        "distanceFromLocation": config.distance,
        "resultsToTake": SIZE,
        "resultsToSkip": (number - 1) * SIZE,
    }
    return Request(
        aggregator_search.build_url(f"{API}/search", params), secret=KEY, context={"page": number}
    )


def read(body: bytes, request: Request, config: ReedSearch) -> BoardPage:
    """A page of a search, or one posting."""
    value = lenient_models.parse_json(body)
    if single := lenient_models.parse_record(_Item, value):
        return BoardPage((_posting(single, whole=True),))
    answer = _Answer.model_validate(value)
    good, stubs = lenient_models.parse_records(_Item, answer.results)
    number, total = request.context.get("page", 1), answer.totalResults
    more = bool(answer.results) and number * SIZE < (total or 0)
    next, truncated = aggregator_search.next_page(
        config, number, more, lambda page: _ask(config, page)
    )
    return BoardPage(tuple(_posting(one) for one in good), next, truncated, total, stubs)


def detail_request(posting: Posting, config: ReedSearch) -> Request:
    return Request(f"{API}/jobs/{quote(posting.vendor_id or '', safe='')}", secret=KEY)


def read_detail(body: bytes, posting: Posting, config: ReedSearch) -> Posting:
    return lenient_models.merge_details(
        posting, _posting(_Item.model_validate(lenient_models.parse_json(body)), whole=True)
    )


def _posting(one: _Item, *, whole: bool = False) -> Posting:
    return Posting(
        title=one.jobTitle,
        url=one.jobUrl or "",
        company=html_text.single_line(one.employerName),
        location=html_text.single_line(one.locationName),
        employment_type=_employment(one),
        posted_at=dates.parse_date(one.date or one.datePosted, day_first=True),
        valid_through=dates.parse_deadline(_iso(one.expirationDate)),
        # A search does not say for how long the pay is: £12 stands beside £40,000.
        salary=salary.from_fields(
            one.minimumSalary, one.maximumSalary, one.currency, one.salaryType
        ),
        description=html_text.from_html(one.jobDescription),
        apply_url=one.externalUrl,
        vendor_id=one.jobId,
        via="Reed",
        partial=not whole,
    )


def _iso(date: str | None) -> str:
    """dd/mm/yyyy the other way round."""
    return "-".join(reversed((date or "").split("/")))


def _employment(one: _Item) -> str | None:
    if one.contractType and one.contractType.casefold() != "permanent":
        return employment.parse_employment_type(one.contractType)
    if one.fullTime is one.partTime:  # Both, or neither is said.
        return employment.parse_employment_type(one.jobType)
    return "full_time" if one.fullTime else "part_time"


PLATFORM = Platform(
    name="reed",
    title="Reed",
    posting_ids=PostingIds(aggregator=True),
    config=ReedSearch,
    token=aggregator_search.search_token,
    first_request=first_request,
    read=read,
    detail_request=detail_request,
    read_detail=read_detail,
    key_names=("REED_API_KEY",),
    inventory=False,
)
