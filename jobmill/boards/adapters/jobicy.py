"""Jobicy: the newest remote postings. The site requires credit by name and link."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from jobmill.catalog.posting import Posting
from jobmill.extract.fields import html_text, salary

from ..platform import Config
from .aggregator import Aggregator, AggregatorFields
from .api import get_path, text_at, texts_at
from .remotive import parse_restrictions


class JobicySearch(Config):
    keywords: str = ""
    geo: str = ""
    industry: str = ""


def _complete(posting: Posting, record: object, config: JobicySearch) -> Posting:
    location = html_text.single_line(", ".join(texts_at(record, "jobGeo")))
    low, high = get_path(record, "annualSalaryMin"), get_path(record, "annualSalaryMax")
    return replace(
        posting,
        location=location,
        locations=parse_restrictions(location),
        arrangement="remote",
        remote_from=parse_restrictions(location),
        salary=salary.from_fields(
            low or get_path(record, "salaryMin"),
            high or get_path(record, "salaryMax"),
            get_path(record, "salaryCurrency"),
            "year" if low or high else get_path(record, "salaryPeriod"),
        ),
        description=posting.description or html_text.from_html(text_at(record, "jobExcerpt")),
        partial=posting.description is None,
    )


PLATFORM = Aggregator(
    name="jobicy",
    title="Jobicy",
    config=JobicySearch,
    url="https://jobicy.com/api/v2/remote-jobs",
    params={"count": 100, "geo": "geo", "industry": "industry", "tag": "keywords"},
    items="jobs",
    fields=AggregatorFields(
        title="jobTitle",
        company="companyName",
        employment_type="jobType",
        seniority="jobLevel",
        posted_at="pubDate",
        description="jobDescription",
        tags=("jobIndustry",),
    ),
    required=("id",),
    complete=_complete,
).platform(min_interval=dt.timedelta(hours=1))
