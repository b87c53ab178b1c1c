"""/sources/rotation/reads: all scheduled reads, and one with its history, priority and status."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from jobmill.errors import AppError, Conflict, Invalid
from jobmill.rotation import (
    planner,
    target_overview,
    target_settings,
)
from jobmill.rotation.target_settings import TargetTiming
from jobmill.rotation.targets import Target, TargetStatus
from jobmill.web import target_detail
from jobmill.web.auth import Admin
from jobmill.web.form import Fields, read_whole_number
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.rotation import labels
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page
from jobmill.web.target_detail import TargetChange
from jobmill.web.translations import say

router = APIRouter(prefix="/sources/rotation/reads")

PAGE_SIZE = 50


class TargetListQuery(PageQuery):
    status: TargetStatus | None = None
    platform: ShortText | None = None
    after: Annotated[int, Field(ge=0, le=MAX_ID)] = 0


@router.get("")
async def show(query: Annotated[TargetListQuery, Query()], page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        rows = await target_overview.list_targets(
            tx,
            await planner.clock(tx),
            await target_detail.find_policy(tx, page.site_settings.settings),
            os.environ,
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
        next_url=query.url("/sources/rotation/reads", after=shown[-1].source) if has_more else None,
        first_url=query.without("after").url("/sources/rotation/reads"),
        labels=labels,
    )


@router.get("/{source_id}")
async def show_detail(source_id: PathId, page: Page) -> HTMLResponse:
    return await _render(page, source_id)


async def _render(
    page: Page, id: int, *, error: AppError | None = None, form: Mapping[str, str] | None = None
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        now = await planner.clock(tx)
        detail = await target_detail.read_target_detail(
            tx, id, now, await target_detail.find_policy(tx, page.site_settings.settings)
        )
    return page(
        "rotation/target.html",
        topics=["rotation"],
        detail=detail,
        now=now,
        notice=_notices().get(page.did),
        error=error,
        form=_to_form(detail.target) | dict(form or {}),
        labels=labels,
    )


def _to_form(target: Target | None) -> dict[str, str]:
    if target is None:
        return {}
    return {
        "priority": str(target.priority),
        "interval": labels.format_hours(target.own_interval),
        "window": labels.format_hours(target.own_window),
    }


def _notices() -> dict[str, str]:
    return {
        "pause": say("Paused. It is not read until you resume it."),
        "resume": say("Resumed."),
        "revive": say("Failures reset. It can be read again right away."),
        "settings": say("Schedule saved."),
    }


@router.post("/{source_id}/settings")
async def save_settings(source_id: PathId, form: Fields, visitor: Admin, page: Page) -> Response:
    """Priority, minimum interval and call window."""
    message = say("The priority must be a whole number from 0 to 100.")
    try:
        priority = read_whole_number(form, "priority", message)
        timing = TargetTiming(
            labels.read_hours(form, "interval"), labels.read_hours(form, "window")
        )
        async with page.db.transaction() as tx:
            actor = visitor.actor.name
            await target_settings.save_schedule(tx, source_id, priority, timing, actor=actor)
    except (Invalid, Conflict) as error:
        return await _render(page, source_id, error=error, form=form)
    return RedirectResponse(f"/sources/rotation/reads/{source_id}?did=settings", 303)


@router.post("/{source_id}/{change}")
async def apply_change(
    source_id: PathId, change: TargetChange, visitor: Admin, page: Page
) -> Response:
    """Pause or resume it, or reset its failures."""
    try:
        async with page.db.transaction() as tx:
            await target_detail.change_status(tx, source_id, change, actor=visitor.actor.name)
    except (Invalid, Conflict) as error:
        return await _render(page, source_id, error=error)
    return RedirectResponse(f"/sources/rotation/reads/{source_id}?did={change}", 303)
