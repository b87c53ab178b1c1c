"""/rotation/reads: all scheduled reads, and one with its history, priority and status."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from jobmill.boards.adapters import BY_NAME
from jobmill.catalog import sources
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.rotation import planner, target_overview, targets
from jobmill.rotation.policies import yield_model
from jobmill.rotation.target_overview import TargetCall
from jobmill.rotation.targets import Target, TargetStatus
from jobmill.web import html_errors
from jobmill.web.auth import Admin
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import Fields, read_whole_number
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.rotation import labels
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/rotation/reads")

PAGE_SIZE = 50
Change = Literal["pause", "resume", "revive"]
CHANGES: Mapping[Change, Callable[..., Awaitable[Target]]] = {
    "pause": targets.pause,
    "resume": targets.resume,
    "revive": targets.revive,
}


class TargetListQuery(PageQuery):
    status: TargetStatus | None = None
    platform: ShortText | None = None
    after: Annotated[int, Field(ge=0, le=MAX_ID)] = 0


@router.get("")
async def show(query: Annotated[TargetListQuery, Query()], db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        rows = await target_overview.list_targets(
            tx,
            status=query.status,
            platform=query.platform,
            after=query.after,
            limit=PAGE_SIZE + 1,
        )
    shown, has_more = rows[:PAGE_SIZE], len(rows) > PAGE_SIZE
    return page(
        "rotation/targets.html",
        query=query,
        targets=shown,
        next_url=query.url("/rotation/reads", after=shown[-1].source) if has_more else None,
        first_url=query.without("after").url("/rotation/reads"),
        labels=labels,
    )


@dataclass(frozen=True, slots=True)
class TargetDetail:
    source: Source
    target: Target | None
    calls: list[TargetCall]
    expected: str

    @property
    def min_gap(self) -> float:
        """Seconds between two reads at least, by our rules or those of the platform."""
        platform = BY_NAME.get(self.source.source_type)
        every = platform.min_interval.total_seconds() if platform and platform.min_interval else 0
        return max(yield_model.YieldRules().gaps[self.target.kind], every) if self.target else every


@router.get("/{source_id}")
async def show_detail(source_id: PathId, db: Db, page: Page, did: str = "") -> HTMLResponse:
    return await _render(db, page, source_id, did=did)


async def _render(
    db: RequestDatabase,
    page: Page,
    id: int,
    *,
    did: str = "",
    error: AppError | None = None,
    priority: str | None = None,
) -> HTMLResponse:
    async with db.transaction() as tx:
        now = await planner.clock(tx)
        detail = await _read(tx, id, now)
    return page(
        "rotation/target.html",
        html_errors.status_code(error),
        topics=["rotation"],
        detail=detail,
        now=now,
        notice=_notices().get(did),
        error=error,
        priority=priority,
        labels=labels,
    )


async def _read(tx: Tx, id: int, now: dt.datetime) -> TargetDetail:
    expected = await target_overview.call_values(tx, now, [id])
    return TargetDetail(
        await sources.get(tx, id),
        await targets.find(tx, id),
        await target_overview.list_calls(tx, id),
        labels.describe_expected(expected.get(id)),
    )


def _notices() -> dict[str, str]:
    return {
        "pause": say("Paused. It is not read until you resume it."),
        "resume": say("Resumed."),
        "revive": say("Failures reset. It can be read again right away."),
        "priority": say("Priority saved."),
    }


@router.post("/{source_id}/priority")
async def set_priority(
    source_id: PathId, form: Fields, visitor: Admin, db: Db, page: Page
) -> Response:
    message = say("The priority must be a whole number of 0 or more.")
    try:
        priority = read_whole_number(form, "priority", message)
        async with db.transaction() as tx:
            await targets.sync_source(tx, source_id)
            await target_overview.set_priority(tx, source_id, priority, actor=visitor.actor.name)
    except (Invalid, Conflict) as error:
        return await _render(db, page, source_id, error=error, priority=form.get("priority", ""))
    return RedirectResponse(f"/rotation/reads/{source_id}?did=priority", 303)


@router.post("/{source_id}/{change}")
async def apply_change(
    source_id: PathId, change: Change, visitor: Admin, db: Db, page: Page
) -> Response:
    """Pause or resume it, or reset its failures."""
    try:
        async with db.transaction() as tx:
            await targets.sync_source(tx, source_id)
            await CHANGES[change](tx, source_id, actor=visitor.actor.name)
    except (Invalid, Conflict) as error:
        return await _render(db, page, source_id, error=error)
    return RedirectResponse(f"/rotation/reads/{source_id}?did={change}", 303)
