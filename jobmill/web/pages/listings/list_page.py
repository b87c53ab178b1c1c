"""/jobs: search all jobs in the catalog."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import Field

from jobmill.catalog import listing_search
from jobmill.catalog.listing_search import ListingHit
from jobmill.catalog.posting import Arrangement
from jobmill.matching import verdicts
from jobmill.matching.verdicts import VerdictReason
from jobmill.web import job_view
from jobmill.web.auth import Seeker
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/jobs")

PAGE_SIZE = 50
SCAN_LIMIT = 4_000
"""A page searches this many of the newest jobs; rare words are found beyond them, too."""


class ListingListQuery(PageQuery):
    q: ShortText | None = None
    company: ShortText | None = None
    location: ShortText | None = None
    arrangement: Arrangement | None = None
    days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    state: Literal["open", "closed", "all"] = "open"
    sort: Literal["newest", "best"] = "newest"
    profile: ShortText | None = None
    after: Annotated[str, Field(max_length=300)] | None = None

    @property
    def is_filtered(self) -> bool:
        return self.without("after", "sort", "profile") != ListingListQuery()

    def to_search(self) -> listing_search.ListingQuery:
        since = dt.datetime.now(dt.UTC) - dt.timedelta(days=self.days) if self.days else None
        return listing_search.ListingQuery(
            words=self.q,
            company=self.company,
            location=self.location,
            arrangement=self.arrangement,
            since=since,
            state=self.state,
            # Jobs can only be ranked by search words.
            sort=self.sort if self.q else "newest",
        )


class ListingRow(NamedTuple):
    """A listing in a list, with its verdict."""

    hit: ListingHit
    place: str
    salary: str | None
    verdict: VerdictReason | None
    reason: str

    @classmethod
    def of(cls, hit: ListingHit, verdict: VerdictReason | None) -> ListingRow:
        place, salary = job_view.describe_place(hit), job_view.describe_salary(hit)
        return cls(hit, place, salary, verdict, _describe(verdict))


def _describe(verdict: VerdictReason | None) -> str:
    if verdict is None:
        return ""
    if verdict.outcome == "filtered":
        return verdict.summary
    return say("Score %(score)s (needs %(min)s)", score=verdict.score, min=verdict.threshold)


@router.get("")
async def show(
    query: Annotated[ListingListQuery, Query()], visitor: Seeker, page: Page
) -> HTMLResponse:
    search = query.to_search()
    async with page.db.transaction() as tx:
        version = await job_view.find_profile(tx, query.profile, visitor.owner)
        result = await listing_search.find(
            tx, search, after=query.after, limit=PAGE_SIZE, max_scanned=SCAN_LIMIT
        )
        ids = [hit.id for hit in result.hits]
        summaries = await verdicts.read_reasons(tx, version.profile_id, ids) if version else {}
    return page(
        "listings/page.html",
        query=query,
        rows=[ListingRow.of(hit, summaries.get(hit.id)) for hit in result.hits],
        has_profile=version is not None,
        partial=result.partial,
        scan_limit=SCAN_LIMIT,
        is_ranked=search.sort == "best",
        next_url=result.next and query.url("/jobs", after=result.next),
        first_url=query.without("after").url("/jobs"),
    )
