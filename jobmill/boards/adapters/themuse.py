"""The Muse: postings of many companies, whole."""

from __future__ import annotations

from pydantic import Field

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, html_text, seniority
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from .. import aggregator_search
from ..platform import BoardPage, Platform


class MuseSearch(aggregator_search.PagedSearch):
    category: tuple[str, ...] = ()
    level: tuple[str, ...] = ()
    location: tuple[str, ...] = ()
    company: tuple[str, ...] = ()


class _Named(ExternalRecord):
    name: Maybe[str] = None


class _Refs(ExternalRecord):
    landing_page: Link = None


class _Item(ExternalRecord):
    id: Maybe[str] = None
    name: Line
    refs: _Refs = Field(default_factory=_Refs)
    company: Maybe[_Named] = None
    locations: Many[_Named] = ()
    categories: Many[_Named] = ()
    levels: Many[_Named] = ()
    publication_date: Maybe[str] = None
    contents: Maybe[str] = None


class _Answer(ExternalRecord):
    results: list[object]
    page_count: Maybe[int] = None
    total: Maybe[int] = None


API = "https://www.themuse.com/api/public/jobs"


def first_request(config: MuseSearch) -> Request:
    return _ask(config, 1)


def _ask(config: MuseSearch, number: int) -> Request:
    params = config.model_dump(exclude={"max_pages"})
    return Request(
        aggregator_search.build_url(API, {"page": number, **params}), context={"page": number}
    )


def read(body: bytes, request: Request, config: MuseSearch) -> BoardPage:
    """A page of a search, or one posting."""
    value = lenient_models.parse_json(body)
    if single := lenient_models.parse_record(_Item, value):
        return BoardPage((_posting(single),))
    answer = _Answer.model_validate(value)
    good, stubs = lenient_models.parse_records(_Item, answer.results)
    number = request.context.get("page", 1)
    more = bool(answer.results) and number < (answer.page_count or 0)
    next, truncated = aggregator_search.next_page(
        config, number, more, lambda page: _ask(config, page)
    )
    return BoardPage(tuple(map(_posting, good)), next, truncated, answer.total, stubs)


def _posting(one: _Item) -> Posting:
    where = location_text.unique_locations([place.name for place in one.locations])
    return Posting(
        title=one.name,
        url=one.refs.landing_page or "",
        company=html_text.single_line(one.company.name) if one.company else None,
        location="; ".join(where) or None,
        locations=where,
        seniority=next(
            (found for level in one.levels if (found := seniority.from_label(level.name))), None
        ),
        posted_at=dates.parse_date(one.publication_date),
        description=html_text.from_html(one.contents),
        vendor_id=one.id,
        tags=tuple(line for part in one.categories if (line := html_text.single_line(part.name))),
        via="The Muse",
    )


PLATFORM = Platform(
    name="themuse",
    title="The Muse",
    posting_ids=PostingIds(aggregator=True),
    config=MuseSearch,
    token=aggregator_search.search_token,
    first_request=first_request,
    read=read,
    inventory=False,
)
