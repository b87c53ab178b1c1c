"""/reports/{report_id}: one report with its evidence, and what a person can do with it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable
from typing import Annotated, Literal, TypeAlias, get_args

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.catalog import history
from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid, NotFound
from jobmill.outside.pdf_printing import print_pdf
from jobmill.pipelines import report as report_pipeline
from jobmill.reports import competitors, contents, export, recurring, store
from jobmill.reports.document import build_sections
from jobmill.reports.report import ReportPhase
from jobmill.settings import split_list
from jobmill.web import actor_labels, job_view
from jobmill.web.auth import Admin, Recruiter
from jobmill.web.confirmation import Confirmation
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields, read_optional_whole_number
from jobmill.web.pages.reports import labels
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.site_settings import CurrentSiteSettings
from jobmill.web.translations import say

router = APIRouter(prefix="/reports")

MAX_EVENTS = 30
MAX_ANSWERS = 100
ExportFormat: TypeAlias = Literal["md", "html", "json", "pdf"]
MEDIA_TYPES: dict[ExportFormat, str] = {
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "pdf": "application/pdf",
}
ChosenFormat = Annotated[ExportFormat, Query(alias="format")]


@router.get("/{report_id}")
async def show(report_id: PathId, page: Page) -> HTMLResponse:
    return await _render(page, report_id)


@router.post("/{report_id}/rerun")
async def rerun(report_id: PathId, fields: Fields, visitor: Recruiter, page: Page) -> Response:
    """Run one phase again."""
    phase = next((name for name in get_args(ReportPhase) if name == fields.get("phase")), None)

    async def work(tx: Tx) -> object:
        if phase is None:
            raise Invalid(say("Choose the step to run again."))
        return await store.rerun(tx, report_id, phase, by=visitor.actor.name)

    return await _change(page, report_id, work)


@router.post("/{report_id}/approve")
async def approve(report_id: PathId, visitor: Recruiter, page: Page) -> Response:
    """Let the questions run."""
    return await _change(
        page, report_id, lambda tx: store.approve(tx, report_id, by=visitor.actor.name)
    )


@router.post("/{report_id}/prompts")
async def edit_prompt(
    report_id: PathId, fields: Fields, visitor: Recruiter, page: Page
) -> Response:
    """Change the text of a question that has not run."""

    async def work(tx: Tx) -> object:
        key, text = fields.get("key", ""), fields.get("text", "")
        return await contents.edit_prompt(tx, report_id, key, text, by=visitor.actor.name)

    return await _change(page, report_id, work)


@router.post("/{report_id}/schedule")
async def set_schedule(
    report_id: PathId, fields: Fields, visitor: Recruiter, page: Page
) -> Response:
    """Repeat the report every few days; no number ends it."""

    async def work(tx: Tx) -> object:
        days = read_optional_whole_number(fields, "days", say("Enter the number of days."))
        every = dt.timedelta(days=days) if days else None
        return await recurring.set_schedule(tx, report_id, every, by=visitor.actor.name)

    return await _change(page, report_id, work)


@router.post("/{report_id}/competitors")
async def add_competitors(
    report_id: PathId, fields: Fields, visitor: Recruiter, page: Page
) -> Response:
    """Create reports about the sites of competitors."""

    async def work(tx: Tx) -> object:
        sites = split_list(fields.get("sites", ""))
        stored = await contents.read_contents(tx, report_id)
        located = await competitors.locate_competitors(tx, stored)
        sites += [rival.domain for rival in located if rival.domain and fields.get(rival.domain)]
        return await competitors.create_reports(tx, report_id, sites, by=visitor.actor.name)

    return await _change(page, report_id, work)


@router.get("/{report_id}/delete")
async def ask_before_deletion(report_id: PathId, visitor: Admin, page: Page) -> Response:
    async with page.db.transaction() as tx:
        report = await store.get(tx, report_id)
    confirmation = Confirmation(
        f"/reports/{report_id}/delete",
        f"/reports/{report_id}",
        say("Delete the report on %(company)s?", company=report.company),
        say("Delete report"),
        (say("Its findings, questions and answers are deleted. Its history is kept."),),
        danger=True,
    )
    return await _render(page, report_id, confirmation=confirmation)


@router.post("/{report_id}/delete")
async def delete(report_id: PathId, visitor: Admin, page: Page) -> Response:
    """Delete the report."""
    try:
        async with page.db.transaction() as tx:
            await report_pipeline.delete_report(tx, report_id, by=visitor.actor.name)
    except Conflict as error:
        return await _render(page, report_id, error=error)
    return RedirectResponse("/reports", 303)


@router.get("/{report_id}/export")
async def download(
    report_id: PathId,
    site_settings: CurrentSiteSettings,
    db: Db,
    file_format: ChosenFormat = "md",
) -> Response:
    """The report as a file."""
    async with db.transaction() as tx:
        stored = await contents.read_contents(tx, report_id)
    if file_format == "pdf":
        body = await print_pdf(export.to_html(stored), site_settings.settings.chromium)
    else:
        writers = {"md": export.to_markdown, "html": export.to_html, "json": export.to_json}
        body = writers[file_format](stored).encode()
    headers = {"Content-Disposition": f'attachment; filename="report-{report_id}.{file_format}"'}
    return Response(body, 200, headers, MEDIA_TYPES[file_format])


async def _change(page: PageRenderer, id: int, work: Callable[[Tx], Awaitable[object]]) -> Response:
    try:
        async with page.db.transaction() as tx:
            await work(tx)
    except (Conflict, Invalid) as error:
        return await _render(page, id, error=error)
    except NotFound as error:
        if error.what == "report":
            raise
        return await _render(page, id, error=error)
    return RedirectResponse(f"/reports/{id}", 303)


async def _render(
    page: PageRenderer,
    id: int,
    *,
    error: AppError | None = None,
    confirmation: Confirmation | None = None,
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        stored = await contents.read_contents(tx, id)
        previous = await store.find_previous(tx, stored.report)
        rivals = await competitors.locate_competitors(tx, stored)
        rival_reports = await competitors.find_reports(tx, id)
        logged = await history.find_events(tx, "report", id, limit=MAX_EVENTS)
        events = await actor_labels.name_actors(tx, logged, page.visitor)
    report = stored.report
    return page(
        "reports/report.html",
        topics=["reports"],
        report=report,
        url=job_view.web_url(report.site),
        status=labels.describe_status(report),
        steps=labels.list_steps(report),
        phases=labels.phase_names(),
        sections=build_sections(stored, with_texts=False),
        prompts=stored.next_prompts or stored.prompts,
        is_rerun=report.results_round is not None and report.status != "completed",
        rivals=rivals,
        rival_reports=[(rival, labels.describe_status(rival)) for rival in rival_reports],
        confirmation=confirmation,
        editable=report.status == "model-analysis" and not report.in_progress,
        answers=stored.answers[:MAX_ANSWERS],
        more_answers=max(len(stored.answers) - MAX_ANSWERS, 0),
        texts={prompt.prompt.key: prompt.prompt.text for prompt in stored.prompts},
        previous=previous,
        events=[(event.at, labels.describe_event(event)) for event in events[::-1]],
        error=error,
    )
