"""/api/submissions: add any URL or pasted text, and follow what becomes of it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from jobmill.catalog import submissions
from jobmill.catalog.submissions import Submission, SubmissionKind, SubmissionState
from jobmill.db import Tx
from jobmill.extract.pasted_text import MAX_LENGTH
from jobmill.pipelines import submission
from jobmill.web.api.callers import SeekerCaller
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.parameters import PLAIN_TEXT, OutputTime, PathId

router = APIRouter(prefix="/submissions", tags=["submissions"])

MAX_LISTED = 100


class NewSubmission(RequestBody):
    input: Annotated[
        str,
        Field(min_length=1, max_length=MAX_LENGTH, examples=["https://jobs.example.com/baker"]),
        PLAIN_TEXT,
    ]
    """The URL of a job, a job board, a careers page or a company, or the text of a job."""
    force: bool = False
    """Keep a job as a match whatever its score."""


class SubmissionRecord(Schema):
    id: int
    url: str | None
    """Null for a pasted text."""
    kind: SubmissionKind
    state: SubmissionState
    """`unknown` if it could not be read."""
    reason: str | None
    partial: dict[str, Any]
    """What was read of a job that is unknown."""
    item_id: int | None
    listing_id: int | None
    source_id: int | None
    company_id: int | None
    submitted_at: OutputTime


class SubmissionList(Schema):
    items: list[SubmissionRecord]


State = Annotated[SubmissionState | None, Query()]


@router.get("", response_model=SubmissionList)
async def list_submissions(caller: SeekerCaller, state: State = None) -> Response:
    """What you added, newest first; at most 100."""
    async with caller.db.transaction() as tx:
        rows = await submissions.find(tx, owner=caller.owner, state=state, limit=MAX_LISTED)
    return caller.respond(SubmissionList.of(items=rows))


@router.post("", response_model=SubmissionRecord, status_code=201)
async def create_submission(body: NewSubmission, caller: SeekerCaller) -> Response:
    """Add any URL or the text of a job. The record is there at once; a worker reads the rest."""
    entered = await submission.read_input(body.input)

    async def work(tx: Tx) -> Submission:
        return await submission.submit(
            tx,
            entered,
            owner=caller.owner,
            profile_id=await submission.default_profile_id(tx, owner=caller.owner),
            force=body.force,
            may_enable=caller.visitor.may_change("system"),
            by=caller.actor.name,
        )

    return await caller.run_once(work, to_schema=SubmissionRecord.of, status=201)


@router.get("/{submission_id}", response_model=SubmissionRecord)
async def show_submission(submission_id: PathId, caller: SeekerCaller) -> Response:
    """What became of a submission."""
    async with caller.db.transaction() as tx:
        record = await submissions.get(tx, submission_id, owner=caller.owner)
    return caller.respond(SubmissionRecord.of(record))


@router.post("/{submission_id}/retry", response_model=SubmissionRecord)
async def retry_submission(submission_id: PathId, caller: SeekerCaller) -> Response:
    """Read it again."""
    return await caller.run_once(
        lambda tx: submission.retry(
            tx,
            submission_id,
            owner=caller.owner,
            may_enable=caller.visitor.may_change("system"),
            by=caller.actor.name,
        ),
        to_schema=SubmissionRecord.of,
    )
