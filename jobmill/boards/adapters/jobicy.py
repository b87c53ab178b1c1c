"""Jobicy: the newest remote postings. Its name and a link are owed."""

from __future__ import annotations

import datetime as dt

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary, seniority
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request

from .. import aggregator_search
from ..platform import BoardPage, Config, Platform
from .remotive import parse_restrictions


class JobicySearch(Config):
    keywords: str = ""
    geo: str = ""
    industry: str = ""


class _Item(ExternalRecord):
    id: str
    jobTitle: Line
    url: Link = None
    companyName: Maybe[str] = None
    jobIndustry: Many[str] = ()
    jobType: Many[str] = ()
    jobGeo: Many[str] = ()
    jobLevel: Maybe[str] = None
    jobExcerpt: Maybe[str] = None
    jobDescription: Maybe[str] = None
    pubDate: Maybe[str] = None
    annualSalaryMin: Maybe[float] = None
    annualSalaryMax: Maybe[float] = None
    salaryMin: Maybe[float] = None
    salaryMax: Maybe[float] = None
    salaryCurrency: Maybe[str] = None
    salaryPeriod: Maybe[str] = None


class _Answer(ExternalRecord):
    jobs: list[object]


def first_request(config: JobicySearch) -> Request:
    params = {
        "count": 100,
        "geo": config.geo,
        "industry": config.industry,
        "tag": config.keywords,
    }
    return Request(aggregator_search.build_url("https://jobicy.com/api/v2/remote-jobs", params))


def read(body: bytes, request: Request, config: JobicySearch) -> BoardPage:
    answer = _Answer.model_validate(lenient_models.parse_json(body))
    good, stubs = lenient_models.parse_records(_Item, answer.jobs)
    return BoardPage(tuple(map(_posting, good)), total=len(answer.jobs), stubs=stubs)


def _posting(one: _Item) -> Posting:
    geo = html_text.single_line(", ".join(one.jobGeo))
    yearly = one.annualSalaryMin or one.annualSalaryMax
    return Posting(
        title=one.jobTitle,
        url=one.url or "",
        company=html_text.single_line(one.companyName),
        location=geo,
        locations=parse_restrictions(geo),
        arrangement="remote",
        remote_from=parse_restrictions(geo),
        employment_type=employment.parse_employment_type(list(one.jobType)),
        seniority=seniority.from_label(one.jobLevel),
        posted_at=dates.parse_date(one.pubDate),
        salary=salary.from_fields(
            one.annualSalaryMin or one.salaryMin,
            one.annualSalaryMax or one.salaryMax,
            one.salaryCurrency,
            "year" if yearly else one.salaryPeriod,
        ),
        description=html_text.from_html(one.jobDescription) or html_text.from_html(one.jobExcerpt),
        vendor_id=one.id,
        tags=tuple(line for tag in one.jobIndustry if (line := html_text.single_line(tag))),
        via="Jobicy",
        partial=not one.jobDescription,
    )


PLATFORM = Platform(
    name="jobicy",
    title="Jobicy",
    posting_ids=PostingIds(aggregator=True),
    config=JobicySearch,
    token=aggregator_search.search_token,
    first_request=first_request,
    read=read,
    inventory=False,
    min_interval=dt.timedelta(hours=1),
)
