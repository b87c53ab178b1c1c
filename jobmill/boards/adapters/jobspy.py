"""JobSpy: a library that searches LinkedIn, Indeed, Glassdoor and others. An optional extra."""

from __future__ import annotations

import datetime as dt
from importlib.util import find_spec
from typing import Annotated, Literal

from pydantic import Field

from jobmill.catalog.platform_rules import PostingIds, posting_url
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
    """What JobSpy is asked for; the names are its own."""

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
    """The library does its own calls: `outside.jobspy` answers this address."""
    wanted = {name: value for name, value in config.model_dump().items() if value not in (None, "")}
    return Request(
        "jobspy:search", method="POST", json={**wanted, "site_name": [*config.site_name]}
    )


def read(body: bytes, request: Request, config: JobSpySearch) -> BoardPage:
    """What was found, less what was not asked for: some sites drop one filter for another."""
    items = lenient_models.parse_json_list(body)
    good, stubs = lenient_models.parse_records(_Item, items)
    kept = tuple(_posting(one) for one in good if _is_wanted(one, config))
    # Each site has its own limit: reaching one means that there is more.
    full = any(
        sum(one.site == site for one in good) >= config.results_wanted for site in config.site_name
    )
    return BoardPage(kept, truncated=full, stubs=stubs)


def _is_wanted(one: _Item, config: JobSpySearch) -> bool:
    """False only for what says itself that it is something else; silence is no reason."""
    if config.is_remote and one.is_remote is False:
        return False
    if config.job_type and one.job_type:
        kinds = {employment.parse_employment_type(kind.strip()) for kind in one.job_type.split(",")}
        if employment.parse_employment_type(config.job_type) not in kinds:
            return False
    posted = dates.parse_date(one.date_posted)
    if not config.hours_old or not posted:
        return True
    # Dates have no time of day here: the day it may have been in is given.
    return posted > dt.datetime.now(dt.UTC) - dt.timedelta(hours=config.hours_old, days=1)


def _posting(one: _Item) -> Posting:
    where = html_text.single_line(one.location)
    description = html_text.from_html(one.description)
    return Posting(
        title=one.title,
        url=one.job_url or "",
        company=html_text.single_line(one.company),
        location=where,
        locations=location_text.unique_locations(where),
        arrangement="remote" if one.is_remote else None,
        employment_type=employment.parse_employment_type((one.job_type or "").split(",")[0]),
        seniority=seniority.from_label(one.job_level),
        posted_at=dates.parse_date(one.date_posted),
        salary=_salary(one),
        description=description,
        apply_url=one.job_url_direct,
        vendor_id=one.id,
        tags=(one.site,) if one.site else (),
        via=f"JobSpy ({one.site})" if one.site else "JobSpy",
        partial=description is None,
    )


def _salary(one: _Item) -> Salary | None:
    """Pay that a site states; what JobSpy found in the text we find ourselves."""
    if one.salary_source == "description":
        return None
    return salary.from_fields(one.min_amount, one.max_amount, one.currency, one.interval)


_LINKEDIN = r"(?:[a-z]{2,3}\.)?linkedin\.com"
_LINKEDIN_PAGE = "https://linkedin.com/jobs/view/{id}"
_INDEED = r"(?:[a-z]{2,3}\.)?indeed\.com"
_INDEED_PAGE = "https://indeed.com/viewjob?jk={id}"
SITE_POSTING_IDS = {
    "linkedin": PostingIds(
        urls=(
            posting_url(_LINKEDIN, r"/jobs/view/(?:[^/]*-)?(?P<id>\d{6,})(?:/.*)?", _LINKEDIN_PAGE),
            posting_url(_LINKEDIN, r"/jobs(?:/.*)?", _LINKEDIN_PAGE, id="currentJobId"),
        ),
        unique=True,
        aggregator=True,
    ),
    "indeed": PostingIds(
        urls=(
            posting_url(_INDEED, r".*", _INDEED_PAGE, id="jk"),
            posting_url(_INDEED, r".*", _INDEED_PAGE, id="vjk"),
        ),
        unique=True,
        aggregator=True,
    ),
    "glassdoor": PostingIds(aggregator=True),
    "ziprecruiter": PostingIds(aggregator=True),
    "google": PostingIds(aggregator=True),
}
"""Sites that JobSpy searches; other sources link to their postings, too."""


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
