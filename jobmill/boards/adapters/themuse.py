"""The Muse: postings of many companies, with full texts."""

from __future__ import annotations

from dataclasses import replace

from jobmill.catalog.posting import Posting
from jobmill.places import location_text

from .aggregator import Aggregator, AggregatorFields, PagedSearch
from .api import get_path


class MuseSearch(PagedSearch):
    category: tuple[str, ...] = ()
    level: tuple[str, ...] = ()
    location: tuple[str, ...] = ()
    company: tuple[str, ...] = ()


def _complete(posting: Posting, record: object, config: MuseSearch) -> Posting:
    locations = location_text.unique_locations(get_path(record, "locations.name"))
    return replace(posting, location="; ".join(locations) or None, locations=locations)


_SEARCH = Aggregator(
    name="themuse",
    title="The Muse",
    config=MuseSearch,
    url="https://www.themuse.com/api/public/jobs",
    params={
        "page": "page",
        "category": "category",
        "level": "level",
        "location": "location",
        "company": "company",
    },
    has_more=lambda response, page: page < (_SEARCH.count(response, "page_count") or 0),
    items="results",
    total="total",
    fields=AggregatorFields(
        title="name",
        url="refs.landing_page",
        company="company.name",
        seniority="levels.name",
        posted_at="publication_date",
        description="contents",
        tags=("categories.name",),
    ),
    complete=_complete,
    single=True,
)
PLATFORM = _SEARCH.platform()
