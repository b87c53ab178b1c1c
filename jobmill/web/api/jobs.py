"""/api/jobs: openings and their settings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from jobmill.db import Tx
from jobmill.hiring.actor import Actor
from jobmill.hiring.openings import applicant_lists, lifecycle
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening, OpeningTerms
from jobmill.web import consistent_reads
from jobmill.web.api.callers import ApiCaller, PublicCaller, RecruiterCaller, ViewerCaller
from jobmill.web.api.openapi import problems
from jobmill.web.api.pagination import AfterCursor, AfterId, Limit
from jobmill.web.api.schemas import (
    Job,
    JobChange,
    JobDetail,
    JobSettings,
    NewJob,
    RequestBody,
)
from jobmill.web.parameters import JobPathId, WholeNumber

router = APIRouter(prefix="/jobs", tags=["jobs"])


class CapacityBody(RequestBody):
    capacity: Annotated[WholeNumber, Field(ge=1, le=lifecycle.MAX_NUMBER, examples=[3])]


@router.get("", response_model=list[Job], responses=problems(429))
async def list_jobs(
    caller: PublicCaller, after: AfterId = 0, limit: Limit = applicant_lists.MAX_PAGE_SIZE
) -> Response:
    """Openings, oldest first. The public sees only open ones."""
    status = None if caller.visitor.may("viewer") else "open"
    async with caller.db.transaction() as tx:
        page = await applicant_lists.list_counts(tx, status=status, after=after, limit=limit + 1)
    more = page[limit - 1].id if len(page) > limit else None
    return caller.respond([Job.of(counts) for counts in page[:limit]], more)


@router.post("", response_model=Job, status_code=201)
async def create_job(body: NewJob, caller: RecruiterCaller) -> Response:
    """Create an opening; it takes applications at once."""
    defaults: dict[str, Any] = {"time_zone": caller.site_settings.settings.time_zone}
    terms = OpeningTerms(**defaults | body.terms())

    async def work(tx: Tx) -> applicant_lists.OpeningCounts:
        opening = await lifecycle.create(tx, terms, body.capacity, caller.actor)
        return await applicant_lists.get_counts(tx, opening.id)

    return await caller.run_once(work, to_schema=Job.of, status=201)


@router.get("/{jobId}", response_model=JobDetail)
async def show_job(
    job_id: JobPathId,
    caller: ViewerCaller,
    after: AfterCursor = None,
    limit: Limit = applicant_lists.MAX_PAGE_SIZE,
) -> Response:
    """An opening with its active applicants and its waitlist."""
    detail = await consistent_reads.read_opening(
        caller.db,
        job_id,
        lambda tx: applicant_lists.get_detail(tx, job_id, after=after, limit=limit),
    )
    job = JobDetail.of(
        detail.opening, active_applicants=detail.active, waitlist_applicants=detail.waiting
    )
    return caller.respond(job, detail.next)


@router.get("/{jobId}/settings", response_model=JobSettings)
async def show_job_settings(job_id: JobPathId, caller: ViewerCaller) -> Response:
    """All settings of an opening."""
    async with caller.db.transaction() as tx:
        opening = await openings.get(tx, job_id)
    openings.refuse_interview_time(opening)
    return caller.respond(JobSettings.of(opening))


@router.patch("/{jobId}/settings", response_model=JobSettings)
async def edit_job(job_id: JobPathId, body: JobChange, caller: RecruiterCaller) -> Response:
    """Change the given settings; open offers keep their deadline."""
    return await _change(
        caller, lambda tx: lifecycle.edit(tx, job_id, caller.actor, **body.terms())
    )


@router.post("/{jobId}/capacity", response_model=JobSettings)
async def change_capacity(
    job_id: JobPathId, body: CapacityBody, caller: RecruiterCaller
) -> Response:
    """Change the number of slots. New ones are offered at once; all applicants keep theirs."""

    async def work(tx: Tx) -> Opening:
        openings.refuse_interview_time(await openings.get(tx, job_id))
        return await lifecycle.set_capacity(tx, job_id, body.capacity, caller.actor)

    return await _change(caller, work)


@router.post("/{jobId}/pause", response_model=JobSettings)
async def pause_job(job_id: JobPathId, caller: RecruiterCaller) -> Response:
    """Close applications and stop offering slots automatically; open offers stay valid."""
    return await _change_status(caller, job_id, lifecycle.pause)


@router.post("/{jobId}/resume", response_model=JobSettings)
async def resume_job(job_id: JobPathId, caller: RecruiterCaller) -> Response:
    """Open applications again and offer free slots at once."""
    return await _change_status(caller, job_id, lifecycle.resume)


@router.post("/{jobId}/close", response_model=JobSettings)
async def close_job(job_id: JobPathId, caller: RecruiterCaller) -> Response:
    """Like pause, and unpublish the opening; current applications stay."""
    return await _change_status(caller, job_id, lifecycle.close)


@router.post("/{jobId}/reopen", response_model=JobSettings)
async def reopen_job(job_id: JobPathId, caller: RecruiterCaller) -> Response:
    """Open a closed opening again."""
    return await _change_status(caller, job_id, lifecycle.reopen)


async def _change_status(
    caller: ApiCaller, id: int, change: Callable[[Tx, int, Actor], Awaitable[Opening]]
) -> Response:
    return await _change(caller, lambda tx: change(tx, id, caller.actor))


async def _change(caller: ApiCaller, work: Callable[[Tx], Awaitable[Opening]]) -> Response:
    return await caller.run_once(work, to_schema=JobSettings.of)
