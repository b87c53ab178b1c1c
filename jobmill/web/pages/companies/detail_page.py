"""/companies/{company_id}: one company, its sources, jobs and history."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.catalog import companies
from jobmill.catalog.companies import Company
from jobmill.errors import AppError, Conflict, Unavailable
from jobmill.web import actor_labels, job_view
from jobmill.web.auth import Admin, Seeker
from jobmill.web.company_detail import read_company_detail, submit_analysis
from jobmill.web.pages.companies.add_page import progress_url
from jobmill.web.pages.companies.completeness import level_name, percent_complete, record_parts
from jobmill.web.pages.companies.report_summary import summarize_report
from jobmill.web.pages.sources import labels
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/companies")

WatchedItem = Annotated[int | None, Query(ge=1, le=MAX_ID)]


@router.get("/{company_id}")
async def show(
    company_id: PathId, visitor: Seeker, page: Page, item: WatchedItem = None, did: str = ""
) -> HTMLResponse:
    is_known = did == "known"
    return await _render(page, company_id, item=item, already_known=is_known)


@router.post("/{company_id}/analyse")
async def analyze(company_id: PathId, visitor: Admin, page: Page) -> Response:
    """Read its website again, even if its record is complete."""
    try:
        async with page.db.transaction() as tx:
            item = await submit_analysis(tx, company_id, force=True)
    except (Conflict, Unavailable) as error:
        return await _render(page, company_id, error=error)
    assert item is not None
    return RedirectResponse(progress_url(company_id, item), 303)


async def _render(
    page: PageRenderer,
    id: int,
    *,
    item: int | None = None,
    already_known: bool = False,
    error: AppError | None = None,
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        detail = await read_company_detail(tx, id, page.visitor.owner, item=item)
        events = await actor_labels.name_actors(tx, detail.events, page.visitor)
    company = detail.company
    return page(
        "companies/company.html",
        topics=["companies", "sources", "reports", *(["queue"] if item else [])],
        company=company,
        url=job_view.web_url(company.website),
        board_url=job_view.web_url(company.job_board_url),
        level=level_name(company),
        parts=record_parts(company),
        percent=percent_complete(company),
        analysis=_analysis_status(company),
        own_score=detail.score,
        bars=job_view.score_bars(map(asdict, detail.score.items)) if detail.score else [],
        boards=[(source, labels.source_health(source)) for source in detail.sources],
        board_waits=companies.board_needs_approval(company),
        listings=[(hit, job_view.describe_place(hit)) for hit in detail.newest],
        events=[(event.at, labels.describe_event(event)) for event in events[::-1]],
        progress=detail.progress,
        current_url=f"/companies/{id}" + (f"?item={item}" if item else ""),
        already_known=already_known,
        excluded=detail.excluded,
        is_read=detail.is_read,
        report=detail.report and summarize_report(detail.report),
        error=error,
    )


def _analysis_status(company: Company) -> str:
    return {
        "pending": say("Not analyzed yet"),
        "analyzing": say("Being analyzed"),
        "complete": say("Analyzed"),
        "sparse": say("Analyzed, but its website says too little"),
        "failed": say("Analysis failed"),
    }[company.analysis_status]
