"""Jooble: snippets of postings from many sites. Keys are small: hundreds of calls in all."""

from __future__ import annotations

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Maybe
from jobmill.outside.request import Request

from .. import aggregator_search
from ..platform import BoardPage, Platform


class JoobleSearch(aggregator_search.KeywordSearch):
    radius: int | None = None
    salary: int | None = None
    since: str | None = None
    """YYYY-MM-DD: none older."""


class _Item(ExternalRecord):
    title: Line
    link: Link
    id: Maybe[str] = None
    location: Maybe[str] = None
    snippet: Maybe[str] = None
    salary: Maybe[str] = None
    type: Maybe[str] = None
    company: Maybe[str] = None
    updated: Maybe[str] = None
    source: Maybe[str] = None


class _Answer(ExternalRecord):
    jobs: list[object]
    totalCount: Maybe[int] = None


SIZE = 100


def first_request(config: JoobleSearch) -> Request:
    return _ask(config, 1)


def _ask(config: JoobleSearch, number: int) -> Request:
    wanted = {
        "keywords": config.keywords,
        "location": config.location,
        "radius": config.radius,
        "salary": config.salary,
        "datecreatedfrom": config.since,
        "page": number,
        "ResultOnPage": SIZE,
    }
    return Request(
        "https://jooble.org/api/{JOOBLE_API_KEY}",
        method="POST",
        json={name: value for name, value in wanted.items() if value not in (None, "")},
        context={"page": number},
    )


def read(body: bytes, request: Request, config: JoobleSearch) -> BoardPage:
    answer = _Answer.model_validate(lenient_models.parse_json(body))
    good, stubs = lenient_models.parse_records(_Item, answer.jobs)
    number = request.context.get("page", 1)
    more = bool(answer.jobs) and number * SIZE < (answer.totalCount or 0)
    next, truncated = aggregator_search.next_page(
        config, number, more, lambda page: _ask(config, page)
    )
    return BoardPage(tuple(map(_posting, good)), next, truncated, answer.totalCount, stubs)


def _posting(one: _Item) -> Posting:
    return Posting(
        title=html_text.single_line(html_text.from_html(one.title)) or one.title,
        url=one.link or "",
        company=html_text.single_line(one.company),
        location=html_text.single_line(one.location),
        employment_type=employment.parse_employment_type(one.type),
        updated_at=dates.parse_date(one.updated),
        salary=salary.from_text(one.salary),
        description=html_text.from_html(one.snippet),
        vendor_id=one.id,
        via="Jooble",
        partial=True,
    )


PLATFORM = Platform(
    name="jooble",
    title="Jooble",
    posting_ids=PostingIds(aggregator=True),
    config=JoobleSearch,
    token=aggregator_search.search_token,
    first_request=first_request,
    read=read,
    key_names=("JOOBLE_API_KEY",),
    inventory=False,
)
