"""/reports/compare: two reports side by side."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from jobmill.reports import contents, store
from jobmill.reports.comparison import build_comparison, compare
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page

router = APIRouter(prefix="/reports")

ReportNumber = Annotated[int, Query(ge=1, le=MAX_ID)]


@router.get("/compare")
async def show(first: ReportNumber, second: ReportNumber, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        reports = [await contents.read_contents(tx, id) for id in (first, second)]
        others = await store.find(tx, status="completed", limit=50)
    return page(
        "reports/compare.html",
        reports=[stored.report for stored in reports],
        sections=build_comparison(compare(*reports)),
        others=others,
    )
