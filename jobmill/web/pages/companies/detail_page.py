"""/companies/{company_id}: one company, its sources, jobs and history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import companies, history, listing_search, sources
from jobmill.catalog.companies import Company
from jobmill.catalog.listing_search import ListingHit
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Unavailable
from jobmill.matching import company_tiers, exclusions, profiles
from jobmill.matching.rules.company_score import CompanyScore
from jobmill.people.persons import Owner
from jobmill.pipelines import company as company_pipeline
from jobmill.queue.inspect import Item
from jobmill.reports import contents as report_contents
from jobmill.reports.report import ReportContents
from jobmill.web import html_errors, job_view, task_progress
from jobmill.web.auth import Admin, Seeker
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.pages.companies.add_page import progress_url, submit_analysis
from jobmill.web.pages.companies.completeness import level_name, percent_complete, record_parts
from jobmill.web.pages.companies.report_summary import summarize_report
from jobmill.web.pages.sources import labels
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.task_progress import TaskProgress
from jobmill.web.translations import say

router = APIRouter(prefix="/companies")

MAX_LISTINGS = 10
MAX_SOURCES = 50
MAX_EVENTS = 20

WatchedItem = Annotated[int | None, Query(ge=1, le=MAX_ID)]


@dataclass(frozen=True, slots=True)
class CompanyDetail:
    company: Company
    sources: list[Source]
    newest: Sequence[ListingHit]
    events: list[history.CatalogEvent]
    progress: TaskProgress | None
    score: CompanyScore | None
    """For the visitor's default profile; None without one, or before the company is analyzed."""
    excluded: str | None
    """The entry of the visitor's stop list that excludes it."""
    is_read: bool
    """Whether the stop list of one profile at least does not exclude it, so that it is read."""
    report: ReportContents | None
    """The newest completed website report."""


@router.get("/{company_id}")
async def show(
    company_id: PathId,
    visitor: Seeker,
    db: Db,
    page: Page,
    item: WatchedItem = None,
    did: str = "",
) -> HTMLResponse:
    known = did == "known"
    return await _render(db, page, company_id, visitor.owner, item=item, already_known=known)


@router.post("/{company_id}/analyse")
async def analyze(company_id: PathId, visitor: Admin, db: Db, page: Page) -> Response:
    """Read its website again, even if its record is complete."""
    try:
        async with db.transaction() as tx:
            item = await submit_analysis(tx, company_id, force=True)
    except (Conflict, Unavailable) as error:
        return await _render(db, page, company_id, visitor.owner, error=error)
    assert item is not None
    return RedirectResponse(progress_url(company_id, item), 303)


async def _render(
    db: RequestDatabase,
    page: PageRenderer,
    id: int,
    owner: Owner,
    *,
    item: int | None = None,
    already_known: bool = False,
    error: AppError | None = None,
) -> HTMLResponse:
    async with db.transaction() as tx:
        detail = await _read(tx, id, item, owner)
    company = detail.company
    return page(
        "companies/company.html",
        html_errors.status_code(error),
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
        events=[(event.at, labels.describe_event(event)) for event in detail.events[::-1]],
        progress=detail.progress,
        current_url=f"/companies/{id}" + (f"?item={item}" if item else ""),
        already_known=already_known,
        excluded=detail.excluded,
        is_read=detail.is_read,
        report=detail.report and summarize_report(detail.report),
        error=str(error) if error else None,
    )


async def _read(tx: Tx, id: int, item: int | None, owner: Owner) -> CompanyDetail:
    def is_analysis(candidate: Item) -> bool:
        return candidate.kind == company_pipeline.KIND and candidate.data.get("company") == id

    company = await companies.get(tx, id)
    return CompanyDetail(
        company,
        await sources.find(tx, company_id=id, limit=MAX_SOURCES),
        (
            await listing_search.find(
                tx, listing_search.ListingQuery(company_id=id), limit=MAX_LISTINGS
            )
        ).hits,
        await history.find_events(tx, "company", id, limit=MAX_EVENTS),
        await task_progress.read_progress(tx, item, is_analysis) if item else None,
        await _score(tx, company, owner),
        exclusions.explain_exclusion(
            await profiles.read_active(tx, owner=owner),
            PLATFORM_RULES,
            names=[company.name],
            urls=[company.website],
        ),
        await exclusions.find_exclusion(
            tx, PLATFORM_RULES, names=[company.name], urls=[company.website]
        )
        is None,
        await report_contents.read_newest(tx, id),
    )


async def _score(tx: Tx, company: Company, owner: Owner) -> CompanyScore | None:
    version = await job_view.find_profile(tx, None, owner)
    if version is None or company.tier is None:
        return None
    return company_tiers.score_stored(company, version.profile())


def _analysis_status(company: Company) -> str:
    return {
        "pending": say("Not analyzed yet"),
        "analyzing": say("Being analyzed"),
        "complete": say("Analyzed"),
        "sparse": say("Analyzed, but its website says too little"),
        "failed": say("Analysis failed"),
    }[company.analysis_status]
