"""/reports: the list of website reports, the form that creates one, and two of them side by side."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Invalid
from jobmill.reports import competitors, contents, store
from jobmill.reports.comparison import build_comparison, compare
from jobmill.reports.report import ReportOptions
from jobmill.settings import Settings, split_list
from jobmill.web.auth import Recruiter
from jobmill.web.form import Fields, read_optional_whole_number
from jobmill.web.pages.reports import labels
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/reports")

PAGE_SIZE = 50
FORM_FIELDS = (
    "url",
    "runs",
    "prompts",
    "models",
    "budget",
    "days",
    "review",
    "site_only",
    "competitors",
)
Before = Annotated[int | None, Query(ge=1, le=MAX_ID)]
ReportNumber = Annotated[int, Query(ge=1, le=MAX_ID)]
SiteText = Annotated[str, Query(max_length=2_000)]


@router.get("")
async def show(page: Page, before: Before = None, site: SiteText = "") -> HTMLResponse:
    return await _render(page, {"url": site}, before=before)


@router.post("")
async def create(fields: Fields, visitor: Recruiter, page: Page) -> Response:
    """Store a report; a worker writes it."""
    try:
        options = read_options(fields, page.site_settings.settings)
        async with page.db.transaction() as tx:
            url = fields.get("url", "")
            id = await store.create(tx, url, options, by=visitor.actor.name)
            if sites := split_list(fields.get("competitors", "")):
                await competitors.create_reports(tx, id, sites, by=visitor.actor.name)
    except Invalid as error:
        return await _render(page, fields, error=error)
    return RedirectResponse(f"/reports/{id}", 303)


def read_options(fields: Mapping[str, str], settings: Settings) -> ReportOptions:
    runs = read_optional_whole_number(fields, "runs", say("Enter the number of runs."))
    prompts = read_optional_whole_number(fields, "prompts", say("Enter the number of questions."))
    days = read_optional_whole_number(fields, "days", say("Enter the number of days."))
    return ReportOptions(
        models=tuple(split_list(fields.get("models", "").strip())),
        runs=settings.report_runs if runs is None else runs,
        prompt_count=settings.report_prompts if prompts is None else prompts,
        review=fields.get("review") == "yes",
        site_only=fields.get("site_only") == "yes",
        budget=_read_dollars(fields.get("budget", "").strip()),
        repeat_every=dt.timedelta(days=days) if days else None,
    )


def _read_dollars(text: str) -> Decimal | None:
    if not text:
        return None
    try:
        dollars = Decimal(text)
    except InvalidOperation:
        dollars = Decimal("NaN")
    if not dollars.is_finite():
        raise Invalid(say("Enter the budget in US dollars, such as 0.50."))
    return dollars


async def _render(
    page: PageRenderer,
    form: Mapping[str, str],
    *,
    before: int | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        rows = await store.find(tx, before=before, limit=PAGE_SIZE + 1)
    last_id = rows[PAGE_SIZE - 1].id if len(rows) > PAGE_SIZE else None
    return page(
        "reports/page.html",
        topics=["reports"],
        rows=[(report, labels.describe_status(report)) for report in rows[:PAGE_SIZE]],
        next_url=last_id and f"/reports?before={last_id}",
        current_url="/reports" if before is None else f"/reports?before={before}",
        is_first=before is None,
        form={name: form.get(name, "") for name in FORM_FIELDS},
        runs=page.site_settings.settings.report_runs,
        prompts=page.site_settings.settings.report_prompts,
        error=error,
    )


@router.get("/compare")
async def show_comparison(first: ReportNumber, second: ReportNumber, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        reports = [await contents.read_contents(tx, id) for id in (first, second)]
        others = await store.find(tx, status="completed", limit=50)
    return page(
        "reports/compare.html",
        reports=[stored.report for stored in reports],
        sections=build_comparison(compare(*reports)),
        others=others,
    )
