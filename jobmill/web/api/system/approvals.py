"""/api/approvals: job boards and sources that wait for a decision."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BeforeValidator, Field

from jobmill.catalog import approvals
from jobmill.catalog.approvals import Approval
from jobmill.catalog.companies import Confidence
from jobmill.db import Tx
from jobmill.pipelines import approval
from jobmill.pipelines.approval import ApprovalResult
from jobmill.web import source_secrets
from jobmill.web.api.callers import AdminCaller
from jobmill.web.api.pagination import CursorPage, RowLimit
from jobmill.web.api.schemas import Schema
from jobmill.web.api.system.sources import SourceReasonBody
from jobmill.web.parameters import OutputTime

router = APIRouter(prefix="/approvals", tags=["approvals"])

REF = r"^(?:board|source):[0-9]{1,12}$"
RefPath = Annotated[str, Path(pattern=REF, examples=["board:1"])]
After = Annotated[str | None, Query(pattern=REF)]


class ApprovalItem(Schema):
    ref: Annotated[str, Field(examples=["board:1"]), BeforeValidator(str)]
    state: Literal["waiting", "approved", "rejected"]
    name: str
    company_id: int | None
    company: str | None
    platform: str | None
    url: Annotated[
        str | None, BeforeValidator(lambda url: url and source_secrets.hide_secrets(url))
    ]
    confidence: Confidence | None
    evidence: str | None
    tested_at: OutputTime | None
    detail: str | None
    since: OutputTime


class ApprovalList(CursorPage):
    items: list[ApprovalItem]


class ApprovalAnswer(Schema):
    ref: Annotated[str, Field(examples=["board:1"])]
    state: str
    name: str
    task_id: Annotated[int | None, Field(validation_alias="item")]
    """The first run of the source."""
    note: str


@router.get("", response_model=ApprovalList)
async def list_approvals(
    caller: AdminCaller, after: After = None, limit: RowLimit = 50
) -> Response:
    """What waits for a decision."""
    async with caller.db.transaction() as tx:
        start = approvals.parse_ref(after) if after else None
        rows: list[Approval] = await approvals.find(tx, after=start, limit=limit + 1)
    next = str(rows[limit - 1].ref) if len(rows) > limit else None
    return caller.respond(ApprovalList.of(items=rows[:limit], next=next))


@router.get("/{ref}", response_model=ApprovalItem)
async def show_approval(ref: RefPath, caller: AdminCaller) -> Response:
    """A board or a source, and whether it was approved."""
    async with caller.db.transaction() as tx:
        return caller.respond(ApprovalItem.of(await approvals.get(tx, approvals.parse_ref(ref))))


@router.post("/{ref}/approve", response_model=ApprovalAnswer)
async def approve_board(ref: RefPath, caller: AdminCaller) -> Response:
    """Approve it, and queue its first run."""
    return await caller.run_once(
        lambda tx: approval.approve(tx, approvals.parse_ref(ref), actor=caller.actor.name),
        to_schema=ApprovalAnswer.of,
    )


@router.post("/{ref}/reject", response_model=ApprovalAnswer)
async def reject_board(ref: RefPath, body: SourceReasonBody, caller: AdminCaller) -> Response:
    """Reject it; it is not suggested again."""

    async def work(tx: Tx) -> ApprovalResult:
        reason = body.reason.strip() or "not wanted"
        return await approval.reject(tx, approvals.parse_ref(ref), reason, actor=caller.actor.name)

    return await caller.run_once(work, to_schema=ApprovalAnswer.of)
