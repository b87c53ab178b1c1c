"""/sources/rotation/reads: all scheduled reads, and one with its history, priority and status."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from jobmill.catalog import sources
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.rotation import (
    call_gaps,
    due_targets,
    planner,
    platform_state,
    rotation_status,
    target_overview,
    target_settings,
    targets,
)
from jobmill.rotation.target_overview import TargetCall
from jobmill.rotation.target_settings import TargetTiming
from jobmill.rotation.targets import PolicyName, Target, TargetStatus
from jobmill.settings import Settings
from jobmill.web import html_errors
from jobmill.web.auth import Admin
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import Fields, read_whole_number
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.rotation import labels
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page
from jobmill.web.site_settings import CurrentSiteSettings, SiteSettings
from jobmill.web.translations import say

router = APIRouter(prefix="/sources/rotation/reads")

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
async def show(
    query: Annotated[TargetListQuery, Query()],
    db: Db,
    page: Page,
    site_settings: CurrentSiteSettings,
) -> HTMLResponse:
    async with db.transaction() as tx:
        rows = await target_overview.list_targets(
            tx,
            await planner.clock(tx),
            await _policy(tx, site_settings.settings),
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


async def _policy(tx: Tx, settings: Settings) -> PolicyName:
    """The policy of the last run, or else of the settings."""
    return await rotation_status.last_policy(tx) or settings.rotation_policy


@dataclass(frozen=True, slots=True)
class TargetDetail:
    source: Source
    target: Target | None
    due_at: dt.datetime | None
    """None if it cannot be read until a person changes something."""
    why_not: str | None
    """Why its platform is not read now."""
    calls: list[TargetCall]
    expected: str

    @property
    def min_gap(self) -> float:
        """Seconds between two reads at least, by our rules, the platform's or as set."""
        return call_gaps.yield_gap(self.target).total_seconds() if self.target else 0.0


@router.get("/{source_id}")
async def show_detail(
    source_id: PathId, db: Db, page: Page, site_settings: CurrentSiteSettings, did: str = ""
) -> HTMLResponse:
    return await _render(db, page, site_settings, source_id, did=did)


async def _render(
    db: RequestDatabase,
    page: Page,
    site_settings: SiteSettings,
    id: int,
    *,
    did: str = "",
    error: AppError | None = None,
    form: Mapping[str, str] | None = None,
) -> HTMLResponse:
    async with db.transaction() as tx:
        now = await planner.clock(tx)
        detail = await _read(tx, id, now, await _policy(tx, site_settings.settings))
    return page(
        "rotation/target.html",
        html_errors.status_code(error),
        topics=["rotation"],
        detail=detail,
        now=now,
        notice=_notices().get(did),
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


async def _read(tx: Tx, id: int, now: dt.datetime, policy: PolicyName) -> TargetDetail:
    expected = await target_overview.call_values(tx, now, [id])
    source, target = await sources.get(tx, id), await targets.find(tx, id)
    room = await platform_state.remaining_calls(tx, now, os.environ)
    return TargetDetail(
        source,
        target,
        due_targets.target_due_at(target, policy, room, now) if target else None,
        room.unavailable.get(source.source_type),
        await target_overview.list_calls(tx, id),
        labels.describe_expected(expected.get(id)),
    )


def _notices() -> dict[str, str]:
    return {
        "pause": say("Paused. It is not read until you resume it."),
        "resume": say("Resumed."),
        "revive": say("Failures reset. It can be read again right away."),
        "settings": say("Schedule saved."),
    }


@router.post("/{source_id}/settings")
async def save_settings(
    source_id: PathId,
    form: Fields,
    visitor: Admin,
    db: Db,
    page: Page,
    site_settings: CurrentSiteSettings,
) -> Response:
    """Priority, minimum interval and call window."""
    message = say("The priority must be a whole number from 0 to 100.")
    try:
        priority = read_whole_number(form, "priority", message)
        timing = TargetTiming(
            labels.read_hours(form, "interval"), labels.read_hours(form, "window")
        )
        async with db.transaction() as tx:
            actor = visitor.actor.name
            await targets.sync_source(tx, source_id)
            target = await targets.get(tx, source_id, lock=True)
            # A slice keeps the priority of its searches until a person sets another one.
            if priority != target.priority:
                await target_settings.set_priority(tx, source_id, priority, actor=actor)
            await target_settings.set_timing(tx, source_id, timing, actor=actor)
    except (Invalid, Conflict) as error:
        return await _render(db, page, site_settings, source_id, error=error, form=form)
    return RedirectResponse(f"/sources/rotation/reads/{source_id}?did=settings", 303)


@router.post("/{source_id}/{change}")
async def apply_change(
    source_id: PathId,
    change: Change,
    visitor: Admin,
    db: Db,
    page: Page,
    site_settings: CurrentSiteSettings,
) -> Response:
    """Pause or resume it, or reset its failures."""
    try:
        async with db.transaction() as tx:
            await targets.sync_source(tx, source_id)
            await CHANGES[change](tx, source_id, actor=visitor.actor.name)
    except (Invalid, Conflict) as error:
        return await _render(db, page, site_settings, source_id, error=error)
    return RedirectResponse(f"/sources/rotation/reads/{source_id}?did={change}", 303)
