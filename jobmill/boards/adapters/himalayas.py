"""Himalayas: remote postings, with the places one may live in."""

from __future__ import annotations

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary, seniority
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from .. import aggregator_search
from ..platform import BoardPage, Platform


class _Item(ExternalRecord):
    title: Line
    guid: Maybe[str] = None
    applicationLink: Link = None
    companyName: Maybe[str] = None
    employmentType: Maybe[str] = None
    minSalary: Maybe[float] = None
    maxSalary: Maybe[float] = None
    currency: Maybe[str] = None
    salaryPeriod: Maybe[str] = None
    seniority: Many[str] = ()
    locationRestrictions: Many[str] = ()
    categories: Many[str] = ()
    excerpt: Maybe[str] = None
    description: Maybe[str] = None
    pubDate: Maybe[int | str] = None
    expiryDate: Maybe[int | str] = None


class _Answer(ExternalRecord):
    jobs: list[object]
    totalCount: Maybe[int] = None
    nextCursor: Maybe[str] = None


SIZE = 20


def first_request(config: aggregator_search.PagedSearch) -> Request:
    return _ask(0, 1, None)


def _ask(offset: int, number: int, cursor: str | None) -> Request:
    """By the site's own mark for the next page; by how many came where it gives none."""
    after = {"cursor": cursor} if cursor else {"offset": offset}
    url = aggregator_search.build_url("https://himalayas.app/jobs/api", {"limit": SIZE, **after})
    return Request(url, context={"offset": offset, "page": number})


def read(body: bytes, request: Request, config: aggregator_search.PagedSearch) -> BoardPage:
    answer = _Answer.model_validate(lenient_models.parse_json(body))
    good, stubs = lenient_models.parse_records(_Item, answer.jobs)
    # Fewer come than were asked for where the site lowers its cap: what came is what counts.
    seen = request.context.get("offset", 0) + len(answer.jobs)
    more = bool(answer.jobs) and seen < (answer.totalCount or 0)
    next, truncated = aggregator_search.next_page(
        config,
        request.context.get("page", 1),
        more,
        lambda page: _ask(seen, page, answer.nextCursor),
    )
    return BoardPage(tuple(map(_posting, good)), next, truncated, answer.totalCount, stubs)


def _posting(one: _Item) -> Posting:
    # The site has answered with the names of its own columns in place of the values.
    company = html_text.single_line(one.companyName)
    return Posting(
        title=one.title,
        url=lenient_models.parse_link(one.guid) or one.applicationLink or "",
        company=company if company != "name" else None,
        location=", ".join(one.locationRestrictions) or None,
        locations=location_text.unique_locations(list(one.locationRestrictions)),
        arrangement="remote",
        remote_from=location_text.unique_locations(list(one.locationRestrictions)),
        employment_type=employment.parse_employment_type(one.employmentType),
        seniority=next(
            (found for label in one.seniority if (found := seniority.from_label(label))), None
        ),
        posted_at=dates.parse_date(one.pubDate),
        valid_through=dates.parse_deadline(one.expiryDate),
        salary=salary.from_fields(one.minSalary, one.maxSalary, one.currency, one.salaryPeriod),
        description=html_text.from_html(one.description) or html_text.clean_text(one.excerpt),
        apply_url=one.applicationLink,
        vendor_id=one.guid or one.applicationLink,
        tags=tuple(tag.replace("-", " ") for tag in one.categories),
        via="Himalayas",
        partial=not one.description,
    )


PLATFORM = Platform(
    name="himalayas",
    title="Himalayas",
    posting_ids=PostingIds(aggregator=True),
    config=aggregator_search.PagedSearch,
    token=aggregator_search.search_token,
    first_request=first_request,
    read=read,
    inventory=False,
)
