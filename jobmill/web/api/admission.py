"""Review, lottery and stages: decisions on applications."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field, StrictBool

from jobmill.db import Tx
from jobmill.errors import NotFound
from jobmill.hiring.admission import decisions, lottery
from jobmill.hiring.admission.lottery import LotteryProof
from jobmill.hiring.openings import review_list
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applications import Application
from jobmill.hiring.stages import stage_board, stage_moves
from jobmill.hiring.stages.stage_board import StageColumn
from jobmill.hiring.transitions import ApplicationStatus
from jobmill.web import consistent_reads
from jobmill.web.api.applications import Reason
from jobmill.web.api.callers import PublicCaller, RecruiterCaller, ViewerCaller
from jobmill.web.api.openapi import problems
from jobmill.web.api.pagination import AFTER_TEXT, PageLimit
from jobmill.web.api.schemas import RequestBody, Schema, StageItem
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.parameters import ApplicationPathId, JobPathId, OutputTime, WholeNumber

router = APIRouter(tags=["admission"])

DRAW_CACHE_SECONDS = 3_600

ReviewCursor = Annotated[str | None, Query(max_length=30, description=AFTER_TEXT)]


class ReviewItem(Schema):
    application_id: Annotated[int, Field(examples=[12])]
    applicant_id: int
    applicant_name: str
    applicant_email: str
    applied_at: OutputTime
    score: int | None
    unconfirmed: bool
    """Whether the applicant has yet to confirm the address."""


class ReviewItems(Schema):
    items: list[ReviewItem]
    next: str | None
    """The `after` of the next page, as in the Link header; null on the last page."""


class AcceptBody(RequestBody):
    reason: Reason | None = None


class RejectBody(RequestBody):
    reason: Reason | None = None
    """Kept in the audit log."""
    tell_reason: StrictBool = False
    """Whether the applicant is told the reason."""


class ScoreBody(RequestBody):
    score: Annotated[WholeNumber, Field(ge=0, le=decisions.MAX_SCORE, examples=[80])] | None
    """Null removes the score."""


class StageMoveBody(RejectBody):
    from_stage: Annotated[str, Field(max_length=40, examples=["screen"])]
    """The stage that you saw: the move is refused if the application is in another one."""
    to_stage: Annotated[str, Field(max_length=40, examples=["interview"])]


class DecidedApplication(Schema):
    application_id: Annotated[int, Field(examples=[12])]
    applicant_id: int
    job_id: int
    status: ApplicationStatus
    queue_position: int | None
    score: int | None
    stage: str | None
    """The key of the stage; null: the first stage."""


class LotteryItem(Schema):
    job_id: Annotated[int, Field(validation_alias="opening_id")]
    commitment: Annotated[str, Field(examples=["9f86d081884c7d65…"])]
    """SHA-256 of the seed, in the log since before the first entry."""
    opened_at: OutputTime
    drawn_at: OutputTime | None
    seed: str | None
    """Null until the draw."""
    entries: int | None
    """How many took part; null until the draw."""
    entries_digest: str | None
    """SHA-256 of the sorted numbers of the entries, one per line."""
    order: list[int]
    """The entries by SHA-256(seed followed by the number), as they were drawn.

    The number of an entry is that of the event with which the person applied.
    """
    removed: list[int]
    """Entries that the company removed before the draw."""


class StagePerson(Schema):
    application_id: Annotated[int, Field(examples=[12])]
    applicant_id: int
    applicant_name: str
    moved_at: OutputTime


class StageGroup(Schema):
    stage: StageItem
    count: int
    people: list[StagePerson]
    """The longest in the stage first."""


class StageBoard(Schema):
    job_id: int
    stages: list[StageGroup]


@router.get("/jobs/{jobId}/review", response_model=ReviewItems)
async def list_in_review(
    job_id: JobPathId, caller: ViewerCaller, after: ReviewCursor = None, limit: PageLimit = 100
) -> Response:
    """Applications in review, in the order in which they would be accepted."""
    page = await consistent_reads.read_opening(
        caller.db,
        job_id,
        lambda tx: review_list.list_in_review(tx, job_id, after=after, limit=limit),
    )
    return caller.respond(ReviewItems.of(items=page.rows, next=page.next), page.next)


@router.post("/applications/{applicationId}/accept", response_model=DecidedApplication)
async def accept(
    application_id: ApplicationPathId, caller: RecruiterCaller, body: AcceptBody | None = None
) -> Response:
    """Accept an application in review: it joins the waitlist, and free slots are offered at once."""
    reason = body.reason if body else None

    async def work(tx: Tx) -> tuple[Application, int | None]:
        accepted = await decisions.accept(tx, application_id, caller.actor, reason=reason)
        return accepted, await applications.find_position(tx, accepted)

    return await caller.run_once(work, to_schema=lambda accepted: _decided(*accepted))


@router.post("/applications/{applicationId}/reject", response_model=DecidedApplication)
async def reject(
    application_id: ApplicationPathId, caller: RecruiterCaller, body: RejectBody | None = None
) -> Response:
    """Reject an application in review, which ends it."""
    rejection = body or RejectBody()
    return await caller.run_once(
        lambda tx: decisions.reject(
            tx,
            application_id,
            caller.actor,
            reason=rejection.reason,
            tell_reason=rejection.tell_reason,
        ),
        to_schema=_decided,
    )


@router.post("/applications/{applicationId}/score", response_model=DecidedApplication)
async def score(
    application_id: ApplicationPathId, body: ScoreBody, caller: RecruiterCaller
) -> Response:
    """Score an application in review."""
    return await caller.run_once(
        lambda tx: decisions.score(tx, application_id, body.score, caller.actor), to_schema=_decided
    )


@router.post("/applications/{applicationId}/stage", response_model=DecidedApplication)
async def move_stage(
    application_id: ApplicationPathId, body: StageMoveBody, caller: RecruiterCaller
) -> Response:
    """Move an active application to another stage; one of the kind `rejected` ends it."""
    return await caller.run_once(
        lambda tx: stage_moves.move_to_stage(
            tx,
            application_id,
            body.to_stage,
            caller.actor,
            seen=body.from_stage,
            reason=body.reason,
            tell_reason=body.tell_reason,
        ),
        to_schema=_decided,
    )


def _decided(application: Application, position: int | None = None) -> DecidedApplication:
    return DecidedApplication.of(
        application,
        application_id=application.id,
        job_id=application.opening_id,
        queue_position=position,
    )


@router.post("/jobs/{jobId}/draw", response_model=LotteryItem)
async def draw(job_id: JobPathId, caller: RecruiterCaller) -> Response:
    """Draw the order of all entries, once; free slots are offered at once."""
    return await caller.run_once(
        lambda tx: lottery.draw(tx, job_id, caller.actor),
        to_schema=LotteryItem.of,
        time_limit=LONG_TIMEOUT,
    )


@router.get("/jobs/{jobId}/lottery", response_model=LotteryItem, responses=problems(429))
async def show_lottery(job_id: JobPathId, caller: PublicCaller) -> Response:
    """The commitment of a lottery and, after the draw, everything needed to recompute it."""
    async with caller.db.transaction() as tx:
        proof = await require_proof(tx, job_id)
    response = caller.respond(LotteryItem.of(proof))
    if proof.drawn_at:
        # A draw never changes; only a new lottery replaces it.
        response.headers["Cache-Control"] = f"public, max-age={DRAW_CACHE_SECONDS}"
    return response


async def require_proof(tx: Tx, opening_id: int, *, limit: int | None = None) -> LotteryProof:
    """The last lottery, with the first `limit` drawn entries; raises NotFound."""
    proof = await lottery.find_proof(tx, opening_id, limit=limit)
    if proof is None:
        raise NotFound("lottery of opening", opening_id)
    return proof


@router.get("/jobs/{jobId}/stages", response_model=StageBoard)
async def show_stages(job_id: JobPathId, caller: ViewerCaller, limit: PageLimit = 100) -> Response:
    """The stages with at most `limit` people each."""
    columns = await consistent_reads.read_opening(caller.db, job_id, read_columns(job_id, limit))
    return caller.respond(StageBoard.of(job_id=job_id, stages=columns))


def read_columns(opening_id: int, limit: int) -> Callable[[Tx], Awaitable[list[StageColumn]]]:
    async def read(tx: Tx) -> list[StageColumn]:
        return await stage_board.read_board(tx, await openings.get(tx, opening_id), limit=limit)

    return read
