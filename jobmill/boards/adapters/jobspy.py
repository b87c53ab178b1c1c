"""JobSpy: an optional library that searches LinkedIn, Indeed, Glassdoor and other sites."""

from __future__ import annotations

import datetime as dt
from importlib.util import find_spec
from typing import Annotated, Literal

from pydantic import Field

from jobmill.catalog.platform_rules import PostingIds, posting_ids, posting_url
from jobmill.catalog.posting import Posting, Salary
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary, seniority
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardPage, Config, Platform
from .aggregator import search_token

JobSpySite = Literal["indeed", "linkedin", "glassdoor", "google", "zip_recruiter", "bayt", "naukri"]
JobSpyType = Literal["fulltime", "parttime", "internship", "contract"]


class JobSpySearch(Config):
    """The parameters of a JobSpy search, by JobSpy's own names."""

    site_name: Annotated[tuple[JobSpySite, ...], Field(min_length=1)] = ("indeed",)
    search_term: str = ""
    google_search_term: str | None = None
    location: str = ""
    distance: Annotated[int, Field(ge=0)] | None = None
    is_remote: bool = False
    job_type: JobSpyType | None = None
    results_wanted: Annotated[int, Field(ge=1, le=500)] = 50
    country_indeed: str = "usa"
    hours_old: Annotated[int, Field(ge=1)] | None = None


class _Item(ExternalRecord):
    title: Line
    id: Maybe[str] = None
    site: Maybe[str] = None
    job_url: Link = None
    job_url_direct: Link = None
    company: Maybe[str] = None
    location: Maybe[str] = None
    date_posted: Maybe[str | int] = None
    job_type: Maybe[str] = None
    salary_source: Maybe[str] = None
    interval: Maybe[str] = None
    min_amount: Maybe[float] = None
    max_amount: Maybe[float] = None
    currency: Maybe[str] = None
    is_remote: Maybe[bool] = None
    job_level: Maybe[str] = None
    description: Maybe[str] = None


def first_request(config: JobSpySearch) -> Request:
    """The library sends its own requests: `outside.jobspy` handles this URL."""
    params = {name: value for name, value in config.model_dump().items() if value not in (None, "")}
    return Request(
        "jobspy:search", method="POST", json={**params, "site_name": [*config.site_name]}
    )


def read(body: bytes, request: Request, config: JobSpySearch) -> BoardPage:
    """The postings that fit the search: some sites ignore one filter if another is set."""
    items = lenient_models.parse_json_list(body)
    records, stubs = lenient_models.parse_records(_Item, items)
    postings = tuple(_posting(item) for item in records if _fits_search(item, config))
    # Each site has its own limit; a site that reaches it has more postings.
    full = any(
        sum(item.site == site for item in records) >= config.results_wanted
        for site in config.site_name
    )
    return BoardPage(postings, truncated=full, stubs=stubs)


def _fits_search(item: _Item, config: JobSpySearch) -> bool:
    """False only if a field contradicts the search; a missing field does not."""
    if config.is_remote and item.is_remote is False:
        return False
    if config.job_type and item.job_type:
        kinds = {
            employment.parse_employment_type(kind.strip()) for kind in item.job_type.split(",")
        }
        if employment.parse_employment_type(config.job_type) not in kinds:
            return False
    posted = dates.parse_date(item.date_posted)
    if not config.hours_old or not posted:
        return True
    # Dates have no time, so a posting may be up to a day newer than its date.
    return posted > dt.datetime.now(dt.UTC) - dt.timedelta(hours=config.hours_old, days=1)


def _posting(item: _Item) -> Posting:
    location = html_text.single_line(item.location)
    description = html_text.from_html(item.description)
    return Posting(
        title=item.title,
        url=item.job_url or "",
        company=html_text.single_line(item.company),
        location=location,
        locations=location_text.unique_locations(location),
        arrangement="remote" if item.is_remote else None,
        employment_type=employment.parse_employment_type((item.job_type or "").split(",")[0]),
        seniority=seniority.from_label(item.job_level),
        posted_at=dates.parse_date(item.date_posted),
        salary=_salary(item),
        description=description,
        apply_url=item.job_url_direct,
        vendor_id=item.id,
        tags=(item.site,) if item.site else (),
        via=f"JobSpy ({item.site})" if item.site else "JobSpy",
        partial=description is None,
    )


def _salary(item: _Item) -> Salary | None:
    """The salary that a site states. A salary that JobSpy found in the text is ignored: we search
    the text ourselves."""
    if item.salary_source == "description":
        return None
    return salary.from_fields(item.min_amount, item.max_amount, item.currency, item.interval)


_LINKEDIN = r"(?:[a-z]{2,3}\.)?linkedin\.com"
_LINKEDIN_PAGE = "https://linkedin.com/jobs/view/{id}"
_INDEED = r"(?:[a-z]{2,3}\.)?indeed\.com"
_INDEED_PAGE = "https://indeed.com/viewjob?jk={id}"
SITE_POSTING_IDS = {
    "linkedin": posting_ids(
        posting_url(_LINKEDIN, r"/jobs/view/(?:[^/]*-)?(?P<id>\d{6,})(?:/.*)?", _LINKEDIN_PAGE),
        posting_url(_LINKEDIN, r"/jobs(?:/.*)?", _LINKEDIN_PAGE, id="currentJobId"),
        unique=True,
        aggregator=True,
    ),
    "indeed": posting_ids(
        posting_url(_INDEED, r".*", _INDEED_PAGE, id="jk"),
        posting_url(_INDEED, r".*", _INDEED_PAGE, id="vjk"),
        unique=True,
        aggregator=True,
    ),
    "glassdoor": PostingIds(aggregator=True),
    "ziprecruiter": PostingIds(aggregator=True),
    "google": PostingIds(aggregator=True),
}
"""Sites that JobSpy searches; other sources also link to their postings."""


PLATFORM = Platform(
    name="jobspy",
    title="JobSpy",
    posting_ids=PostingIds(aggregator=True),
    config=JobSpySearch,
    token=search_token,
    first_request=first_request,
    read=read,
    disabled=None if find_spec("jobspy") else "install it: pip install 'jobmill[jobspy]'",
    inventory=False,
)
