"""/api/rotation: which sources are read next, the last run, schedules and limits."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from jobmill.boards.adapters import BY_NAME
from jobmill.db import Tx
from jobmill.errors import NotFound
from jobmill.pipelines import rotation
from jobmill.rotation import (
    due_targets,
    planner,
    platform_state,
    rotation_status,
    target_overview,
    target_settings,
    targets,
)
from jobmill.rotation.target_settings import TargetTiming
from jobmill.rotation.targets import TargetKind, TargetStatus
from jobmill.web import target_detail, task_progress
from jobmill.web.api.callers import AdminCaller
from jobmill.web.api.openapi import problems
from jobmill.web.api.pagination import AfterId, PageOfItems, RowLimit
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.api.system.searches import Hours, OptionalHours, from_hours
from jobmill.web.api.system.sources import TaskAnswer
from jobmill.web.page_query import ShortText
from jobmill.web.parameters import DIGITS_ONLY, OutputTime, PathId, WholeNumber
from jobmill.web.site_settings import SiteSettings
from jobmill.web.target_detail import TargetChange

router = APIRouter(prefix="/rotation", tags=["rotation"])

LOOK_AHEAD = {
    "now": dt.timedelta(),
    "day": dt.timedelta(days=1),
    "week": dt.timedelta(days=7),
}
SPANS = {
    "day": dt.timedelta(days=1),
    "week": dt.timedelta(days=7),
    "month": dt.timedelta(days=30),
}
Name = Annotated[str, Path(max_length=60, examples=["greenhouse"])]


class TargetItem(Schema):
    source_id: Annotated[int, Field(validation_alias="source", examples=[1])]
    name: str
    platform: str
    kind: TargetKind
    status: TargetStatus
    priority: int
    due_at: OutputTime | None
    """Null if it is not read until a person changes something."""
    last_success_at: OutputTime | None
    new_jobs_last: int | None
    fail_count: int
    queued: bool


class DueTargetItem(TargetItem):
    expected_new: float | None = None
    """New jobs that a read now is expected to find."""


class DueTargets(Schema):
    items: list[DueTargetItem]
    next_due_at: OutputTime | None
    """When the next read is due, if none is now."""
    unavailable: dict[str, str]
    """Why a platform is not read now."""


class TargetList(PageOfItems):
    items: list[TargetItem]


class TargetCallItem(Schema):
    called_at: OutputTime
    answer: Annotated[str, Field(examples=["ok"])]
    detail: str | None
    requests: int
    result_count: int
    new: int
    duplicates: int
    run_id: int | None


class TargetRecord(Schema):
    source_id: Annotated[int, Field(examples=[1])]
    name: str
    platform: str
    status: TargetStatus | None
    """Null if it is not in the rotation."""
    priority: int | None
    interval_hours: OptionalHours
    """As set for this source; null: the default."""
    window_hours: OptionalHours
    due_at: OutputTime | None
    unavailable: str | None
    """Why its platform is not read now."""
    expected_new: float | None
    calls: list[TargetCallItem]


class ScheduleBody(RequestBody):
    priority: Annotated[WholeNumber, Field(ge=0, le=targets.MAX_PRIORITY, examples=[50])]
    interval_hours: Hours | None = None
    window_hours: Hours | None = None


class RunReportRecord(Schema):
    run: Annotated[int, Field(examples=[1])]
    trigger: str
    policy: str
    started_at: OutputTime
    chosen: int
    called: int
    waiting: int
    requests: int
    new: int
    duplicates: int
    unchanged: int
    failures: int
    limited: int
    skipped: dict[str, Any]


class PlatformItem(Schema):
    platform: Annotated[str, Field(examples=["greenhouse"])]
    per_hour: int | None
    per_day: int | None
    left: int | None
    """Reads left now; null: no limit."""
    why: str | None
    """Why it is not read now."""


class PlatformList(Schema):
    items: list[PlatformItem]


class PlatformLimits(RequestBody):
    """Null: no limit."""

    per_hour: Annotated[WholeNumber, Field(ge=0, le=1_000_000)] | None = None
    per_day: Annotated[WholeNumber, Field(ge=0, le=1_000_000, examples=[500])] | None = None


class PlatformYieldItem(Schema):
    platform: Annotated[str, Field(examples=["greenhouse"])]
    calls: int
    results: int
    new: int
    duplicates: int
    wasted: int
    failed: int
    requests: int
    new_per_call: float


class YieldReport(Schema):
    platforms: list[PlatformYieldItem]


@router.get("/due", response_model=DueTargets)
async def list_due_targets(
    caller: AdminCaller,
    platform: ShortText | None = None,
    ahead: Literal["now", "day", "week"] = "now",
    limit: RowLimit = 25,
) -> Response:
    """The reads that a run would start, most valuable first."""
    async with caller.db.transaction() as tx:
        at = await planner.clock(tx)
        request = rotation.request_like_last_run(
            caller.site_settings.settings, await rotation_status.last_policy(tx)
        )
        if platform:
            request = replace(request, platforms=[platform])
        due = await due_targets.list_due(
            tx, request, at, os.environ, ahead=LOOK_AHEAD[ahead], limit=limit
        )
        expected = await target_overview.call_values(tx, at, [row.source for row in due.targets])
        next_at = (
            None if due.targets else await due_targets.next_due_at(tx, request, at, os.environ)
        )
    items = [
        DueTargetItem.of(row, expected_new=expected.get(row.source)) for row in due.targets[:limit]
    ]
    schema = DueTargets(items=items, next_due_at=next_at, unavailable=dict(due.unavailable))
    return caller.respond(schema)


@router.post("/run", response_model=TaskAnswer)
async def run_rotation(caller: AdminCaller) -> Response:
    """Start a run, or return the one that is live already."""

    async def work(tx: Tx) -> TaskAnswer:
        return TaskAnswer(task_id=await task_progress.submit_or_join(tx, rotation.new_item()))

    return await caller.run_once(work)


@router.get("/report", response_model=RunReportRecord, responses=problems(404, 409))
async def show_rotation_report(
    caller: AdminCaller, run: Annotated[int | None, Query(ge=1, le=10**12), DIGITS_ONLY] = None
) -> Response:
    """What a run did; default: the last run. 409 before the first run."""
    async with caller.db.transaction() as tx:
        return caller.respond(RunReportRecord.of(await rotation_status.run_report(tx, run)))


@router.get("/targets", response_model=TargetList)
async def list_targets(
    caller: AdminCaller,
    status: TargetStatus | None = None,
    platform: ShortText | None = None,
    after: AfterId = 0,
    limit: RowLimit = 50,
) -> Response:
    """All scheduled reads, by source."""
    async with caller.db.transaction() as tx:
        rows = await target_overview.list_targets(
            tx,
            await planner.clock(tx),
            await target_detail.find_policy(tx, caller.site_settings.settings),
            os.environ,
            status=status,
            platform=platform or None,
            after=after,
            limit=limit + 1,
        )
    return caller.respond_page(TargetList, rows, limit, "source")


async def _read(tx: Tx, id: int, site_settings: SiteSettings) -> TargetRecord:
    policy = await target_detail.find_policy(tx, site_settings.settings)
    detail = await target_detail.read_target_detail(tx, id, await planner.clock(tx), policy)
    target = detail.target
    return TargetRecord.of(
        detail,
        source_id=detail.source.id,
        name=detail.source.name,
        platform=detail.source.source_type,
        status=target.status if target else None,
        priority=target.priority if target else None,
        interval_hours=target.own_interval if target else None,
        window_hours=target.own_window if target else None,
        unavailable=detail.why_not,
        expected_new=detail.expected,
    )


@router.get("/targets/{source_id}", response_model=TargetRecord)
async def show_target(source_id: PathId, caller: AdminCaller) -> Response:
    """A scheduled read with its history."""
    async with caller.db.transaction() as tx:
        return caller.respond(await _read(tx, source_id, caller.site_settings))


@router.put("/targets/{source_id}", response_model=TargetRecord)
async def set_target_schedule(
    source_id: PathId, body: ScheduleBody, caller: AdminCaller
) -> Response:
    """Set the priority, the least interval and the call window."""
    timing = TargetTiming(from_hours(body.interval_hours), from_hours(body.window_hours))

    async def work(tx: Tx) -> TargetRecord:
        actor = caller.actor.name
        await target_settings.save_schedule(tx, source_id, body.priority, timing, actor=actor)
        return await _read(tx, source_id, caller.site_settings)

    return await caller.run_once(work)


@router.post("/targets/{source_id}/{change}", response_model=TargetRecord)
async def change_target(source_id: PathId, change: TargetChange, caller: AdminCaller) -> Response:
    """Pause or resume a scheduled read, or reset its failures (`revive`)."""

    async def work(tx: Tx) -> TargetRecord:
        await target_detail.change_status(tx, source_id, change, actor=caller.actor.name)
        return await _read(tx, source_id, caller.site_settings)

    return await caller.run_once(work)


@router.get("/platforms", response_model=PlatformList)
async def list_platforms(caller: AdminCaller) -> Response:
    """The read limits of each platform, and what is left of them."""
    async with caller.db.transaction() as tx:
        return caller.respond(await _read_platforms(tx))


async def _read_platforms(tx: Tx) -> PlatformList:
    rows = await rotation_status.platform_budgets(tx, await planner.clock(tx), os.environ)
    return PlatformList.of(items=rows)


@router.put("/platforms/{name}", response_model=PlatformList)
async def set_platform_limits(name: Name, body: PlatformLimits, caller: AdminCaller) -> Response:
    """Set how often a platform may be read per hour and per day."""
    if name not in BY_NAME:
        raise NotFound("platform", name)

    async def work(tx: Tx) -> PlatformList:
        await platform_state.set_limits(
            tx, name, per_hour=body.per_hour, per_day=body.per_day, actor=caller.actor.name
        )
        return await _read_platforms(tx)

    return await caller.run_once(work)


@router.get("/yield", response_model=YieldReport)
async def show_yield(caller: AdminCaller, of: Literal["day", "week", "month"] = "day") -> Response:
    """New jobs per read by platform, in the last day, week or month."""
    async with caller.db.transaction() as tx:
        rows = await rotation_status.yield_by_platform(tx, await planner.clock(tx), SPANS[of])
    return caller.respond(YieldReport.of(platforms=rows))
