"""/hiring/applicants: the applicants of all openings."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import Field

from jobmill.hiring.applications import application_list
from jobmill.hiring.applications.application_list import ApplicationFilter
from jobmill.hiring.reviews import ratings, tags
from jobmill.hiring.transitions import ApplicationStatus
from jobmill.web.auth import Viewer
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page
from jobmill.web.status_labels import status_labels

router = APIRouter(prefix="/hiring/applicants")

PAGE_SIZE = 50
SCAN_LIMIT = 100_000
"""Applications that one page searches at most."""

Id = Annotated[int, Field(ge=1, le=MAX_ID)]


class ApplicantListQuery(PageQuery):
    q: ShortText | None = None
    status: ApplicationStatus | None = None
    opening: Id | None = None
    tag: ShortText | None = None
    before: Id | None = None

    @property
    def is_filtered(self) -> bool:
        return self.without("before") != ApplicantListQuery()


@router.get("")
async def show(
    query: Annotated[ApplicantListQuery, Query()], visitor: Viewer, page: Page
) -> HTMLResponse:
    tag = " ".join(query.tag.split()).lower() if query.tag else None
    filter = ApplicationFilter(query.status, query.opening, query.q, tag)
    async with page.db.transaction() as tx:
        result = await application_list.list_all(
            tx, filter, before=query.before, limit=PAGE_SIZE, reach=SCAN_LIMIT
        )
        averages = await ratings.average_rating(tx, [row.application_id for row in result.rows])
        used_tags = await tags.suggest_tags(tx)
    return page(
        "hiring/applicants.html",
        topics=["hiring"],
        query=query,
        rows=result.rows,
        averages=averages,
        used_tags=used_tags,
        labels=status_labels(),
        current_url=query.url("/hiring/applicants"),
        next_url=result.next and query.url("/hiring/applicants", before=result.next),
        first_url=query.without("before").url("/hiring/applicants"),
    )
