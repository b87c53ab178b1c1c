"""/api/tasks and /api/work-queue: the work queue, its tasks, pauses and alerts."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import Field, StringConstraints

from jobmill.db import Tx
from jobmill.errors import Conflict, NotFound
from jobmill.queue import ItemId, inspect, lineage, operator_actions, overview, search
from jobmill.queue.alerts import clear_alert
from jobmill.queue.items import Status
from jobmill.queue.search import ItemFilter
from jobmill.web import private_tasks
from jobmill.web.api.callers import AdminCaller
from jobmill.web.api.openapi import problems
from jobmill.web.api.pagination import AfterId, PageOfItems, RowLimit
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Admin, Visitor
from jobmill.web.dependencies import Db
from jobmill.web.page_query import ShortText
from jobmill.web.parameters import PLAIN_TEXT, OutputTime, PathId

router = APIRouter(tags=["tasks"])

SCAN_LIMIT = 100_000
"""Ids that one page searches at most, so that a rare status does not scan the whole table."""
MAX_LINEAGE = 500

About = Annotated[
    Annotated[str, StringConstraints(max_length=2_000, pattern=r"^[^\x00]*$")] | None,
    Query(description="The exact subject of a task, such as a URL."),
]
PhaseName = Annotated[str, Field(min_length=1, max_length=100), PLAIN_TEXT]
Reason = Annotated[str, Field(min_length=1, max_length=500), PLAIN_TEXT]


class TaskItem(Schema):
    id: Annotated[int, Field(examples=[1])]
    kind: Annotated[str, Field(examples=["listing"])]
    stage: str
    about: Annotated[str, Field(validation_alias="key")]
    """Its subject, such as a URL; hidden if it is part of another person's job search."""
    status: Status
    priority: int
    tracking_id: UUID
    """Of its lineage: all tasks that came from one submission."""
    parent_id: int | None
    retry_count: int
    attempts: int
    available_at: OutputTime | None
    blocked_on: str | None
    message: str | None
    error: Annotated[str | None, Field(validation_alias="error_text")]
    created_at: OutputTime
    updated_at: OutputTime
    finished_at: OutputTime | None


class TaskList(PageOfItems):
    items: list[TaskItem]


class TaskEventItem(Schema):
    id: Annotated[int, Field(examples=[1])]
    at: OutputTime
    what: str
    was: Status | None
    became: Status | None
    stage: str | None
    note: str | None


class TaskRecord(TaskItem):
    data: dict[str, Any]
    """Empty if it is part of another person's job search."""
    waiting_for_it: int = 0
    events: list[TaskEventItem] = Field(default_factory=list[TaskEventItem])


class TaskLineage(Schema):
    tracking_id: UUID
    items: list[TaskItem]
    """At most 500, oldest first."""


class CancelTaskBody(RequestBody):
    reason: Annotated[Reason, Field(examples=["Not needed"])]


class PhaseItem(Schema):
    kind: Annotated[str, Field(examples=["listing"])]
    stage: str
    pending: int
    later: int
    processing: int
    blocked: int
    oldest_seconds: float | None
    capacity: int
    paused: str | None
    """Why it is paused."""


class WorkerItem(Schema):
    id: Annotated[int, Field(examples=[1])]
    name: str
    started_at: OutputTime
    alive: bool


class AlertItem(Schema):
    id: Annotated[int, Field(examples=[1])]
    rule: str
    subject: str
    detail: str
    raised_at: OutputTime


class BlockedItem(Schema):
    name: Annotated[str, Field(examples=["budget"])]
    """The resource that tasks wait for."""
    count: int


class PauseItem(Schema):
    kind: Annotated[str, Field(examples=["listing"])]
    stage: str
    """Empty: all stages of the kind."""
    reason: str
    paused_at: OutputTime


class WorkQueue(Schema):
    phases: list[PhaseItem]
    workers: list[WorkerItem]
    alerts: list[AlertItem]
    pauses: list[PauseItem]
    blocked: list[BlockedItem]


class PauseBody(RequestBody):
    kind: Annotated[PhaseName, Field(examples=["listing"])]
    stage: PhaseName | None = None
    """Null: all stages of the kind."""
    reason: Reason


class ResumeBody(RequestBody):
    kind: Annotated[PhaseName, Field(examples=["listing"])]
    stage: PhaseName | None = None


class UnblockBody(RequestBody):
    resource: Annotated[PhaseName, Field(examples=["budget"])]


class Unblocked(Schema):
    count: Annotated[int, Field(examples=[3])]


@router.get("/tasks", response_model=TaskList)
async def list_tasks(
    caller: AdminCaller,
    status: Status | None = None,
    kind: ShortText | None = None,
    about: About = None,
    after: AfterId = 0,
    limit: RowLimit = 50,
) -> Response:
    """Tasks, newest first. A page may be short or empty although `next` leads to further ones."""
    filter = ItemFilter(status, kind or None, about or None)
    async with caller.db.transaction() as tx:
        page = await search.search_items(
            tx, filter, before=after or None, limit=limit, reach=SCAN_LIMIT, with_data=False
        )
        items = await private_tasks.redact_items(tx, page.items, caller.visitor)
    return caller.respond(TaskList.of(items=items, next=page.next))


@router.get("/tasks/{item_id}", response_model=TaskRecord)
async def show_task(item_id: PathId, caller: AdminCaller) -> Response:
    """A task with its data and its timeline."""
    async with caller.db.transaction() as tx:
        return caller.respond(await _read(tx, item_id, caller.visitor))


async def _read(tx: Tx, item_id: int, visitor: Visitor) -> TaskRecord:
    detail = await private_tasks.read_detail(tx, item_id, visitor)
    return TaskRecord.of(detail.item, waiting_for_it=detail.waiting, events=detail.events)


@router.post("/tasks/{item_id}/retry", response_model=TaskRecord)
async def retry_task(item_id: PathId, caller: AdminCaller) -> Response:
    """Run a finished task again from the step where it stopped."""

    async def work(tx: Tx) -> TaskRecord:
        await operator_actions.retry_item(tx, ItemId(item_id), f"by {caller.visitor.name}")
        return await _read(tx, item_id, caller.visitor)

    return await caller.run_once(work)


@router.post("/tasks/{item_id}/cancel", response_model=TaskRecord)
async def cancel_task(item_id: PathId, body: CancelTaskBody, caller: AdminCaller) -> Response:
    """End a waiting task as skipped."""

    async def work(tx: Tx) -> TaskRecord:
        await operator_actions.cancel_item(
            tx, ItemId(item_id), _signed(body.reason, caller.visitor)
        )
        return await _read(tx, item_id, caller.visitor)

    return await caller.run_once(work)


def _signed(reason: str, visitor: Visitor) -> str:
    return reason if visitor.local else f"{reason} ({visitor.name})"


@router.get("/lineages/{tracking_id}", response_model=TaskLineage)
async def show_lineage(tracking_id: UUID, caller: AdminCaller) -> Response:
    """All tasks that came from one submission."""
    async with caller.db.transaction() as tx:
        items = await lineage.read_lineage(tx, tracking_id, limit=MAX_LINEAGE, with_data=False)
        if not items:
            raise NotFound("lineage", tracking_id)
        items = await private_tasks.redact_items(tx, items, caller.visitor)
    ordered = sorted(items, key=lambda item: item.id)
    return caller.respond(TaskLineage.of(tracking_id=tracking_id, items=ordered))


async def _read_queue(tx: Tx) -> WorkQueue:
    current = await overview.read_overview(tx)
    pauses, blocked = await inspect.list_pauses(tx), await inspect.count_blocked(tx)
    return WorkQueue.of(current, pauses=pauses, blocked=blocked)


@router.get("/work-queue", response_model=WorkQueue)
async def show_work_queue(caller: AdminCaller) -> Response:
    """How much work waits at each step, the workers, alerts, pauses and what tasks wait for."""
    async with caller.db.transaction() as tx:
        return caller.respond(await _read_queue(tx))


@router.post("/work-queue/pause", response_model=WorkQueue, responses=problems(404))
async def pause_step(body: PauseBody, caller: AdminCaller) -> Response:
    """Start no new tasks of a step; running ones finish."""

    async def work(tx: Tx) -> WorkQueue:
        phases = {(phase.kind, phase.stage) for phase in await inspect.list_phases(tx)}
        stages = {stage for kind, stage in phases if kind == body.kind}
        if not stages or (body.stage and body.stage not in stages):
            raise NotFound("step", "/".join(filter(None, [body.kind, body.stage])))
        reason = _signed(body.reason, caller.visitor)
        await operator_actions.pause_phase(tx, body.kind, body.stage, reason)
        return await _read_queue(tx)

    return await caller.run_once(work)


@router.post("/work-queue/resume", response_model=WorkQueue)
async def resume_step(body: ResumeBody, caller: AdminCaller) -> Response:
    """End the pause of a step."""

    async def work(tx: Tx) -> WorkQueue:
        await operator_actions.resume_phase(tx, body.kind, body.stage)
        return await _read_queue(tx)

    return await caller.run_once(work)


@router.post("/work-queue/unblock", response_model=Unblocked)
async def unblock_tasks(body: UnblockBody, caller: AdminCaller) -> Response:
    """Let the tasks continue that wait for a resource."""

    async def work(tx: Tx) -> Unblocked:
        count = await operator_actions.unblock_items(tx, body.resource)
        if not count:
            raise Conflict(f"No tasks are waiting for {body.resource}.")
        return Unblocked(count=count)

    return await caller.run_once(work)


@router.delete("/work-queue/alerts/{alert_id}", status_code=204)
async def clear_queue_alert(alert_id: PathId, visitor: Admin, db: Db) -> None:
    """Clear an alert; it comes back if the problem does."""
    async with db.transaction() as tx:
        if not await clear_alert(tx, alert_id):
            raise NotFound("active alert", alert_id)
