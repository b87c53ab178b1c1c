"""/sources/rotation/platforms: read limits of each platform."""

from __future__ import annotations

import os
from collections.abc import Mapping

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.boards.adapters import BY_NAME, PLATFORMS
from jobmill.errors import AppError, Invalid, NotFound
from jobmill.rotation import planner, platform_state, rotation_status
from jobmill.web.auth import Admin
from jobmill.web.form import Fields, read_optional_whole_number
from jobmill.web.pages.rotation import labels
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/sources/rotation/platforms")


@router.get("")
async def show(page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        limits = await rotation_status.platform_budgets(tx, await planner.clock(tx), os.environ)
    return page(
        "rotation/platforms.html",
        topics=["rotation"],
        limits=limits,
        unsupported=[platform for platform in PLATFORMS if platform.disabled],
        notice=say("Limits saved.") if page.did == "limited" else None,
        labels=labels,
    )


@router.get("/{name}")
async def edit(name: str, visitor: Admin, page: Page) -> HTMLResponse:
    _check_platform(name)
    async with page.db.transaction() as tx:
        state = (await platform_state.load_all(tx)).get(name)
    per_hour, per_day = (state.per_hour, state.per_day) if state else (None, None)
    form = {"per_hour": _format_limit(per_hour), "per_day": _format_limit(per_day)}
    return _render_form(page, name, form)


@router.post("/{name}")
async def save(name: str, visitor: Admin, form: Fields, page: Page) -> Response:
    _check_platform(name)
    message = say("A limit must be a whole number. Leave it empty for no limit.")
    try:
        per_hour = read_optional_whole_number(form, "per_hour", message)
        per_day = read_optional_whole_number(form, "per_day", message)
    except Invalid as error:
        return _render_form(page, name, {"per_hour": "", "per_day": "", **form}, error)
    async with page.db.transaction() as tx:
        actor = visitor.actor.name
        await platform_state.set_limits(tx, name, per_hour=per_hour, per_day=per_day, actor=actor)
    return RedirectResponse("/sources/rotation/platforms?did=limited", 303)


def _format_limit(limit: int | None) -> str:
    return "" if limit is None else str(limit)


def _check_platform(name: str) -> None:
    if name not in BY_NAME:
        raise NotFound("platform", name)


def _render_form(
    page: Page, name: str, form: Mapping[str, str], error: AppError | None = None
) -> HTMLResponse:
    return page("rotation/limits.html", name=name, form=form, error=error, labels=labels)
