"""/listings: search all jobs in the catalog."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import Field

from jobmill.catalog import listing_search
from jobmill.catalog.listing_search import ListingHit
from jobmill.catalog.posting import Arrangement
from jobmill.matching import (
    verdicts,
)
from jobmill.matching.verdicts import Said
from jobmill.web import job_view
from jobmill.web.dependencies import Db
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/listings")

AT_ONCE = 50
REACH = 4_000
"""So many of the newest are looked at for a page; what has rare words is found beyond them, too."""
LINKED = 50
PATIENCE = 20.0
"""Seconds for judging twice; the first time in a process it loads a model."""


class Looked(PageQuery):
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
    def is_narrow(self) -> bool:
        return self.without("after", "sort", "profile") != Looked()

    def query(self) -> listing_search.ListingQuery:
        since = dt.datetime.now(dt.UTC) - dt.timedelta(days=self.days) if self.days else None
        return listing_search.ListingQuery(
            words=self.q,
            company=self.company,
            location=self.location,
            arrangement=self.arrangement,
            since=since,
            state=self.state,
            # There is no best without words.
            sort=self.sort if self.q else "newest",
        )


class Line(NamedTuple):
    """A listing in a list, with what was said of it."""

    hit: ListingHit
    place: str
    pay: str | None
    said: Said | None
    why: str


@router.get("")
async def show(asked: Annotated[Looked, Query()], db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        version = await job_view.find_profile(tx, asked.profile)
        found = await listing_search.find(
            tx, asked.query(), after=asked.after, limit=AT_ONCE, max_scanned=REACH
        )
        ids = [hit.id for hit in found.hits]
        said = await verdicts.said(tx, version.profile_id, ids) if version else {}
    return page(
        "listings/page.html",
        asked=asked,
        lines=[_line(hit, said.get(hit.id)) for hit in found.hits],
        judged=version is not None,
        partial=found.partial,
        reach=REACH,
        best=asked.query().sort == "best",
        more=found.next and asked.url("/listings", after=found.next),
        first=asked.without("after").url("/listings"),
    )


def _line(hit: ListingHit, said: Said | None) -> Line:
    return Line(hit, job_view.describe_place(hit), job_view.describe_salary(hit), said, _why(said))


def _why(said: Said | None) -> str:
    if said is None:
        return ""
    if said.outcome == "filtered":
        return said.summary
    return say(
        "%(score)s of the %(least)s that a match takes", score=said.score, least=said.threshold
    )
