"""Arbeitnow: postings in Germany and remote ones, in German and English."""

from __future__ import annotations

import html as entities
from dataclasses import replace

from jobmill.catalog.posting import Posting
from jobmill.extract.fields import html_text

from .aggregator import Aggregator, AggregatorFields, PagedSearch
from .api import get_path, text_at


def _complete(posting: Posting, record: object, config: PagedSearch) -> Posting:
    # In some texts the tags are escaped, except in a last line that the site adds.
    html = text_at(record, "description") or ""
    if not html.lstrip().startswith("&lt;"):
        return posting
    return replace(posting, description=html_text.from_html(entities.unescape(html)))


PLATFORM = Aggregator(
    name="arbeitnow",
    title="Arbeitnow",
    config=PagedSearch,
    url="https://www.arbeitnow.com/api/job-board-api",
    params={"page": "page"},
    has_more=lambda response, page: bool(get_path(response, "links.next")),
    items="data",
    fields=AggregatorFields(
        id="slug",
        company="company_name",
        remote="remote",
        employment_type="job_types",
        posted_at="created_at",
        tags=("tags",),
    ),
    required=("slug",),
    complete=_complete,
).platform()
