"""Jooble: excerpts of postings from many sites. A key allows only a few hundred requests in total."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from jobmill.catalog.posting import Posting
from jobmill.extract.fields import html_text

from .aggregator import Aggregator, AggregatorFields, DaysBack, KeywordSearch


class JoobleSearch(KeywordSearch):
    radius: int | None = None
    salary: int | None = None
    since: str | None = None
    """YYYY-MM-DD: the date of the oldest postings."""
    days_back: DaysBack = None


def _resolve_dates(config: JoobleSearch, today: dt.date) -> JoobleSearch:
    if config.since or config.days_back is None:
        return config
    since = today - dt.timedelta(days=config.days_back)
    return config.model_copy(update={"since": since.isoformat()})


def _complete(posting: Posting, record: object, config: JoobleSearch) -> Posting:
    title = html_text.single_line(html_text.from_html(posting.title))
    return replace(posting, title=title or posting.title)


PLATFORM = Aggregator(
    name="jooble",
    title="Jooble",
    config=JoobleSearch,
    method="POST",
    url="https://jooble.org/api/{JOOBLE_API_KEY}",
    params={
        "keywords": "keywords",
        "location": "location",
        "radius": "radius",
        "salary": "salary",
        "datecreatedfrom": "since",
        "page": "page",
        "ResultOnPage": 100,
    },
    page_size=100,
    items="jobs",
    total="totalCount",
    fields=AggregatorFields(
        url="link",
        employment_type="type",
        updated_at="updated",
        salary_text="salary",
        description="snippet",
    ),
    required=("link",),
    complete=_complete,
    partial=True,
).platform(key_names=("JOOBLE_API_KEY",), resolve_dates=_resolve_dates)
