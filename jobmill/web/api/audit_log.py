"""/api/jobs/{jobId}/events and /verify: the audit log, explanations and verification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from jobmill.db import Tx
from jobmill.hiring.audit_log import events, explanations, verification
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.records import openings
from jobmill.hiring.transitions import ApplicationStatus, EventType
from jobmill.web import consistent_reads
from jobmill.web.api.callers import PublicCaller, ViewerCaller
from jobmill.web.api.pagination import AfterId, PageLimit, PageOfItems
from jobmill.web.api.schemas import Schema
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.dependencies import Db
from jobmill.web.fairness_exports import Exports
from jobmill.web.parameters import DIGITS_ONLY, MAX_ID, JobPathId, OutputTime
from jobmill.web.rate_limits import Public

router = APIRouter(prefix="/jobs/{jobId}", tags=["log"])

LOG_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/jsonl": {"schema": {"type": "string", "examples": ["{}"]}}}}
}
PathSeq = Annotated[int, Path(ge=1, le=MAX_ID, examples=[1]), DIGITS_ONLY]


class LogEvent(Schema):
    seq: int
    id: int
    application_id: int | None
    """Null: an event of the opening itself."""
    event_type: Annotated[EventType, Field(validation_alias="type")]
    from_status: ApplicationStatus | None
    to_status: ApplicationStatus | None
    metadata: Mapping[str, Any]
    why: Mapping[str, Any]
    actor: str
    note: str | None
    created_at: OutputTime


class LogPage(PageOfItems):
    items: list[LogEvent]


class Ahead(Schema):
    count: int
    first: list[int]
    """The ids of the first few applications."""


class Explanation(Schema):
    job_id: Annotated[int, Field(validation_alias="opening_id")]
    seq: int
    event_type: Annotated[EventType, Field(validation_alias="type")]
    application_id: int | None
    rule: str | None
    cause: int | None
    """The event that freed the slot."""
    ahead: Ahead
    """Applications that waited before this one."""
    actor: Annotated[str, Field(validation_alias="by")]
    created_at: Annotated[OutputTime, Field(validation_alias="at")]
    sentences: list[str]


class LogHead(Schema):
    seq: int
    hash: str


class LogFault(Schema):
    seq: int | None
    what: str


class Verification(Schema):
    job_id: Annotated[int, Field(examples=[1])]
    ok: Annotated[bool, Field(examples=[True])]
    events: int
    head: LogHead
    """The end of the log. Kept elsewhere, it reveals whether the complete log was rewritten."""
    faults: list[LogFault]


class FairnessProof(Schema):
    job_id: Annotated[int, Field(examples=[1])]
    head: LogHead
    """The end of the public log. A later log must contain it."""


@router.get("/events", response_model=LogPage)
async def list_events(
    job_id: JobPathId, caller: ViewerCaller, after: AfterId = 0, limit: PageLimit = 100
) -> Response:
    """All events, in order."""

    async def work(tx: Tx) -> list[AuditEvent]:
        await openings.get(tx, job_id)
        return await events.find_by_opening(tx, job_id, after=after, limit=limit + 1)

    page = await consistent_reads.read_opening(caller.db, job_id, work)
    return caller.respond_page(LogPage, page, limit, "seq")


@router.get("/events/{seq}/why", response_model=Explanation)
async def explain_event(job_id: JobPathId, seq: PathSeq, caller: ViewerCaller) -> Response:
    """Why an event happened: which slot, which rule, and which applications were ahead."""
    async with caller.db.transaction(LONG_TIMEOUT) as tx:
        return caller.respond(Explanation.of(await explanations.explain_event(tx, job_id, seq)))


@router.get("/verify", response_model=Verification)
async def verify_log(job_id: JobPathId, caller: ViewerCaller) -> Response:
    """Whether the log is unchanged and agrees with the tables."""
    report = await consistent_reads.read_opening(
        caller.db, job_id, lambda tx: verification.verify_log(tx, job_id), time_limit=LONG_TIMEOUT
    )
    return caller.respond(Verification.of(report, job_id=report.opening_id, ok=not report.faults))


@router.get("/fairness", response_model=FairnessProof)
async def show_fairness_proof(
    job_id: JobPathId, caller: PublicCaller, exports: Exports
) -> Response:
    """The end of the public log, if the company publishes it; needs no role."""
    head = await exports.read(caller.db, job_id, lambda tx: exports.heads.find(tx, job_id))
    return caller.respond(FairnessProof.of(job_id=job_id, head=head))


@router.get("/fairness/log", response_class=Response, responses=LOG_ANSWER)
async def download_fairness_log(
    job_id: JobPathId, visitor: Public, db: Db, exports: Exports
) -> StreamingResponse:
    """The public log as JSON lines, for `verify_fairness.py`; needs no role."""
    return await exports.respond(db, job_id)
