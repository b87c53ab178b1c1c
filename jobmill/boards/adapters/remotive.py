"""Remotive: remote postings, a day late. Four calls a day are allowed, and its name is owed."""

from __future__ import annotations

import datetime as dt
import re

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from .. import aggregator_search
from ..platform import BoardPage, Config, Platform


class RemotiveSearch(Config):
    keywords: str = ""
    category: str = ""
    company: str = ""


class _Item(ExternalRecord):
    id: str
    title: Line
    url: Link = None
    company_name: Maybe[str] = None
    category: Maybe[str] = None
    tags: Many[str] = ()
    job_type: Maybe[str] = None
    publication_date: Maybe[str] = None
    candidate_required_location: Maybe[str] = None
    salary: Maybe[str] = None
    description: Maybe[str] = None


class _Answer(ExternalRecord):
    jobs: list[object]


ANYWHERE = re.compile(r"worldwide|anywhere(?: in the world)?|global(?:ly)?|remote", re.IGNORECASE)


def first_request(config: RemotiveSearch) -> Request:
    params = {
        "search": config.keywords,
        "category": config.category,
        "company_name": config.company,
    }
    return Request(aggregator_search.build_url("https://remotive.com/api/remote-jobs", params))


def read(body: bytes, request: Request, config: RemotiveSearch) -> BoardPage:
    answer = _Answer.model_validate(lenient_models.parse_json(body))
    good, stubs = lenient_models.parse_records(_Item, answer.jobs)
    return BoardPage(tuple(map(_posting, good)), total=len(answer.jobs), stubs=stubs)


def _posting(one: _Item) -> Posting:
    category = html_text.single_line(one.category)
    return Posting(
        title=one.title,
        url=one.url or "",
        company=html_text.single_line(one.company_name),
        location=html_text.single_line(one.candidate_required_location),
        locations=parse_restrictions(one.candidate_required_location),
        arrangement="remote",
        remote_from=parse_restrictions(one.candidate_required_location),
        employment_type=employment.parse_employment_type(one.job_type),
        posted_at=dates.parse_date(one.publication_date),
        salary=salary.from_text(one.salary),
        description=html_text.from_html(one.description),
        vendor_id=one.id,
        tags=(*((category,) if category else ()), *one.tags),
        via="Remotive",
    )


def parse_restrictions(words: str | None) -> tuple[str, ...]:
    """The places in "Europe, USA"; none in "Worldwide"."""
    parts = re.split(r"[,;]", words or "")
    return location_text.unique_locations(
        [part for part in parts if not ANYWHERE.fullmatch(part.strip())]
    )


PLATFORM = Platform(
    name="remotive",
    title="Remotive",
    posting_ids=PostingIds(aggregator=True),
    config=RemotiveSearch,
    token=aggregator_search.search_token,
    first_request=first_request,
    read=read,
    inventory=False,
    min_interval=dt.timedelta(hours=6),
)
