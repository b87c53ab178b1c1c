"""/api/reports: website reports."""

from __future__ import annotations

import dataclasses
import datetime as dt
from decimal import Decimal
from typing import Annotated, Any, cast

from fastapi import APIRouter, Path, Query, Response
from pydantic import BeforeValidator, Field
from pydantic.alias_generators import to_camel

from jobmill.db import Tx
from jobmill.pipelines import report as report_pipeline
from jobmill.reports import comparison, contents, recurring, store
from jobmill.reports import competitors as rivals
from jobmill.reports.report import Report, ReportContents, ReportOptions, ReportPhase, ReportStatus
from jobmill.web.api.callers import RecruiterCaller, ViewerCaller
from jobmill.web.api.pagination import AfterId, Limit
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Admin
from jobmill.web.dependencies import Db
from jobmill.web.parameters import DIGITS_ONLY, MAX_ID, PLAIN_TEXT, OutputTime, PathId

router = APIRouter(prefix="/reports", tags=["reports"])

MAX_PAGE_SIZE = 100
Number = Annotated[int, Field(strict=True, ge=1, le=store.MAX_NUMBER)]
SiteText = Annotated[str, Field(min_length=1, max_length=2_000), PLAIN_TEXT]
ModelText = Annotated[str, Field(max_length=200), PLAIN_TEXT]
PromptKey = Annotated[str, Path(alias="key", min_length=1, max_length=200), PLAIN_TEXT]
OtherId = Annotated[
    int, Query(alias="with", ge=1, le=MAX_ID, description="Id of the other report."), DIGITS_ONLY
]


def _camelize(value: object) -> object:
    """Data classes as JSON objects with names in camelCase."""
    if dataclasses.is_dataclass(value):
        parts = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {to_camel(name): _camelize(part) for name, part in parts.items()}
    if isinstance(value, list | tuple):
        return [_camelize(part) for part in cast("list[object]", value)]
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value


Objects = Annotated[list[dict[str, Any]], BeforeValidator(_camelize)]


class NewReport(RequestBody):
    url: Annotated[
        str, Field(min_length=1, max_length=2_000, examples=["https://example.org"]), PLAIN_TEXT
    ]
    """The website of the company."""
    models: Annotated[tuple[ModelText, ...], Field(max_length=10)] = ()
    """Models such as `anthropic:MODEL`; empty: those of the settings."""
    runs: Number | None = None
    """How often each question is asked; null: by the settings."""
    prompts: Number | None = None
    """How many questions are asked; null: by the settings."""
    review: bool = False
    """Whether a person approves the questions before they run."""
    site_only: bool = False
    """Whether only the website is analyzed."""
    budget: Annotated[float, Field(ge=0, le=store.MAX_BUDGET, allow_inf_nan=False)] | None = None
    """The most that its answers may cost, in US dollars."""
    repeat_days: Annotated[int, Field(strict=True, ge=1, le=3_650)] | None = None
    """Repeat it at this interval."""
    competitors: Annotated[tuple[SiteText, ...], Field(max_length=rivals.MAX_AT_ONCE)] = ()
    """Websites of competitors, to analyze them for comparison."""


class CompetitorSites(RequestBody):
    sites: Annotated[
        tuple[SiteText, ...],
        Field(min_length=1, max_length=rivals.MAX_AT_ONCE, examples=[["example.org"]]),
    ]


class RerunBody(RequestBody):
    phase: Annotated[ReportPhase, Field(examples=["website-analysis"])]


class PromptText(RequestBody):
    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=contents.MAX_PROMPT_LENGTH,
            examples=["Which employers in Oslo publish their pay?"],
        ),
        PLAIN_TEXT,
    ]


class ReportRecord(Schema):
    id: int
    site: str
    company_id: int | None
    company: str
    status: ReportStatus
    in_progress: bool
    awaits_approval: bool
    reason: str | None
    """Why it failed."""
    note: str | None
    """Why it waits."""
    models: list[str]
    runs: int
    prompt_count: int
    review: bool
    site_only: bool
    limits: list[str]
    """What the report cannot say."""
    previous_id: int | None
    competitor_of: int | None
    """The report that it is compared with."""
    created_at: OutputTime
    completed_at: OutputTime | None


class CompetitorReports(Schema):
    reports: list[ReportRecord]


class ReportDetail(Schema):
    report: ReportRecord
    findings: Annotated[dict[str, Any] | None, BeforeValidator(_camelize)]
    """What the website tells candidates; null before it was analyzed."""
    prompts: Objects
    answers: Objects
    scores: Objects
    recommendations: Objects
    next_prompts: Objects
    """The questions of a rerun that has not completed; the other parts are those of the round before."""


class ComparisonRecord(Schema):
    first_id: Annotated[int, Field(examples=[1])]
    second_id: int
    same_site: bool
    numbers: Objects
    changes: Objects
    """What changed on the site; empty for different sites."""
    only_first: list[str]
    """Questions that only the first site answers; empty for the same site."""
    only_second: list[str]


@router.get("", response_model=list[ReportRecord])
async def list_reports(
    caller: ViewerCaller, after: AfterId = 0, limit: Limit = MAX_PAGE_SIZE
) -> Response:
    """Reports, newest first; `after` is the id of the last report of the previous page."""
    async with caller.db.transaction() as tx:
        rows = await store.find(tx, before=after or None, limit=limit + 1)
    more = rows[limit - 1].id if len(rows) > limit else None
    return caller.respond([ReportRecord.of(report) for report in rows[:limit]], more)


@router.post("", response_model=ReportRecord, status_code=201)
async def create_report(body: NewReport, caller: RecruiterCaller) -> Response:
    """Create a report. The record is there at once; a worker writes the report."""
    settings = caller.site_settings.settings
    options = ReportOptions(
        models=body.models,
        runs=settings.report_runs if body.runs is None else body.runs,
        prompt_count=settings.report_prompts if body.prompts is None else body.prompts,
        review=body.review,
        site_only=body.site_only,
        budget=None if body.budget is None else Decimal(str(body.budget)),
        repeat_every=dt.timedelta(days=body.repeat_days) if body.repeat_days else None,
    )

    async def work(tx: Tx) -> Report:
        id = await store.create(tx, body.url, options, by=caller.actor.name)
        if body.competitors:
            await rivals.create_reports(tx, id, body.competitors, by=caller.actor.name)
        return await store.get(tx, id)

    return await caller.run_once(work, to_schema=ReportRecord.of, status=201)


@router.get("/{report_id}", response_model=ReportDetail)
async def show_report(report_id: PathId, caller: ViewerCaller) -> Response:
    """A report with its findings, questions, answers, scores and recommendations."""
    async with caller.db.transaction() as tx:
        return caller.respond(ReportDetail.of(await contents.read_contents(tx, report_id)))


@router.post("/{report_id}/rerun", response_model=ReportRecord)
async def rerun_report(report_id: PathId, body: RerunBody, caller: RecruiterCaller) -> Response:
    """Run one phase again and keep what the others stored."""
    return await caller.run_once(
        lambda tx: store.rerun(tx, report_id, body.phase, by=caller.actor.name),
        to_schema=ReportRecord.of,
    )


@router.post("/{report_id}/approve", response_model=ReportRecord)
async def approve_report(report_id: PathId, caller: RecruiterCaller) -> Response:
    """Let the questions run of a report that was created with `review`."""

    async def work(tx: Tx) -> Report:
        await store.approve(tx, report_id, by=caller.actor.name)
        return await store.get(tx, report_id)

    return await caller.run_once(work, to_schema=ReportRecord.of)


class ReportSchedule(RequestBody):
    repeat_days: Annotated[int, Field(strict=True, ge=1, le=3_650, examples=[30])] | None
    """Null: do not repeat it."""


@router.post("/{report_id}/schedule", response_model=ReportRecord)
async def schedule_report(
    report_id: PathId, body: ReportSchedule, caller: RecruiterCaller
) -> Response:
    """Write a report again after this many days, and every time after that."""
    every = None if body.repeat_days is None else dt.timedelta(days=body.repeat_days)
    return await caller.run_once(
        lambda tx: recurring.set_schedule(tx, report_id, every, by=caller.actor.name),
        to_schema=ReportRecord.of,
    )


@router.post("/{report_id}/prompts/{key}", response_model=ReportDetail)
async def edit_report_prompt(
    report_id: PathId, key: PromptKey, body: PromptText, caller: RecruiterCaller
) -> Response:
    """Change the text of a question that has not run."""

    async def work(tx: Tx) -> ReportContents:
        await contents.edit_prompt(tx, report_id, key, body.text, by=caller.actor.name)
        return await contents.read_contents(tx, report_id)

    return await caller.run_once(work, to_schema=ReportDetail.of)


@router.get("/{report_id}/compare", response_model=ComparisonRecord)
async def compare_report(report_id: PathId, other: OtherId, caller: ViewerCaller) -> Response:
    """Compare a report with an earlier one, or with that of a competitor."""
    async with caller.db.transaction() as tx:
        first = await contents.read_contents(tx, report_id)
        second = await contents.read_contents(tx, other)
    return caller.respond(ComparisonRecord.of(comparison.compare(first, second)))


@router.post("/{report_id}/competitors", response_model=CompetitorReports)
async def add_competitors(
    report_id: PathId, body: CompetitorSites, caller: RecruiterCaller
) -> Response:
    """Create a report about the site of each competitor; returns all reports of competitors."""

    async def work(tx: Tx) -> list[Report]:
        await rivals.create_reports(tx, report_id, body.sites, by=caller.actor.name)
        return await rivals.find_reports(tx, report_id)

    return await caller.run_once(
        work, to_schema=lambda reports: CompetitorReports.of(reports=reports)
    )


@router.delete("/{report_id}", status_code=204)
async def delete_report(report_id: PathId, visitor: Admin, db: Db) -> None:
    """Delete a report with its questions and answers."""
    async with db.transaction() as tx:
        await report_pipeline.delete_report(tx, report_id, by=visitor.actor.name)
