"""Arbeitnow: postings in Germany and remote ones, in German and English."""

from __future__ import annotations

import html as entities

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request

from .. import aggregator_search
from ..platform import BoardPage, Platform


class _Item(ExternalRecord):
    slug: str
    title: Line
    url: Link = None
    company_name: Maybe[str] = None
    location: Maybe[str] = None
    remote: Maybe[bool] = None
    tags: Many[str] = ()
    job_types: Many[str] = ()
    created_at: Maybe[int] = None
    description: Maybe[str] = None


class _Links(ExternalRecord):
    next: Maybe[str] = None


class _Answer(ExternalRecord):
    data: list[object]
    links: Maybe[_Links] = None


def first_request(config: aggregator_search.PagedSearch) -> Request:
    return _ask(1)


def _ask(number: int) -> Request:
    return Request(
        f"https://www.arbeitnow.com/api/job-board-api?page={number}", context={"page": number}
    )


def read(body: bytes, request: Request, config: aggregator_search.PagedSearch) -> BoardPage:
    answer = _Answer.model_validate(lenient_models.parse_json(body))
    good, stubs = lenient_models.parse_records(_Item, answer.data)
    more = bool(answer.data and answer.links and answer.links.next)
    next, truncated = aggregator_search.next_page(
        config, request.context.get("page", 1), more, _ask
    )
    return BoardPage(tuple(map(_posting, good)), next, truncated, stubs=stubs)


def _posting(one: _Item) -> Posting:
    return Posting(
        title=one.title,
        url=one.url or "",
        company=html_text.single_line(one.company_name),
        location=html_text.single_line(one.location),
        arrangement="remote" if one.remote else None,
        employment_type=employment.parse_employment_type(list(one.job_types)),
        posted_at=dates.parse_date(one.created_at),
        description=html_text.from_html(_unescaped(one.description or "")),
        vendor_id=one.slug,
        tags=one.tags,
        via="Arbeitnow",
    )


def _unescaped(html: str) -> str:
    """Some texts come with their tags as entities, and a line of the site's own below that has none."""
    return entities.unescape(html) if html.lstrip().startswith("&lt;") else html


PLATFORM = Platform(
    name="arbeitnow",
    title="Arbeitnow",
    posting_ids=PostingIds(aggregator=True),
    config=aggregator_search.PagedSearch,
    token=aggregator_search.search_token,
    first_request=first_request,
    read=read,
    inventory=False,
)
