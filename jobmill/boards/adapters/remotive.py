"""Remotive: remote postings, one day late. The site allows four requests a day and requires credit."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace

from jobmill.catalog.posting import Posting
from jobmill.places import location_text

from ..platform import Config
from .aggregator import Aggregator, AggregatorFields

_ANYWHERE = re.compile(r"worldwide|anywhere(?: in the world)?|global(?:ly)?|remote", re.IGNORECASE)


class RemotiveSearch(Config):
    keywords: str = ""
    category: str = ""
    company: str = ""


def _complete(posting: Posting, record: object, config: RemotiveSearch) -> Posting:
    locations = parse_restrictions(posting.location)
    return replace(posting, locations=locations, arrangement="remote", remote_from=locations)


def parse_restrictions(text: str | None) -> tuple[str, ...]:
    """The places in "Europe, USA"; none for "Worldwide"."""
    parts = re.split(r"[,;]", text or "")
    return location_text.unique_locations(
        [part for part in parts if not _ANYWHERE.fullmatch(part.strip())]
    )


PLATFORM = Aggregator(
    name="remotive",
    title="Remotive",
    config=RemotiveSearch,
    url="https://remotive.com/api/remote-jobs",
    params={"search": "keywords", "category": "category", "company_name": "company"},
    items="jobs",
    fields=AggregatorFields(
        company="company_name",
        location="candidate_required_location",
        employment_type="job_type",
        posted_at="publication_date",
        salary_text="salary",
        tags=("category", "tags"),
    ),
    required=("id",),
    complete=_complete,
).platform(min_interval=dt.timedelta(hours=6))
