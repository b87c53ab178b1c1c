"""/rotation/platforms: how many calls each takes, and how many it may."""

from __future__ import annotations

import os

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.boards.adapters import BY_NAME, PLATFORMS
from jobmill.errors import AppError, Invalid, NotFound
from jobmill.rotation import planner, platform_state, rotation_status
from jobmill.web import html_errors
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields, read_optional_whole_number
from jobmill.web.pages.rotation import labels
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/rotation/platforms")


@router.get("")
async def show(db: Db, page: Page, did: str = "") -> HTMLResponse:
    async with db.transaction() as tx:
        found = await rotation_status.platform_budgets(tx, await planner.clock(tx), os.environ)
    told = say("The limits are changed.") if did == "limited" else None
    return page(
        "rotation/platforms.html",
        topics=["rotation"],
        spaces=found,
        off=[one for one in PLATFORMS if one.disabled],
        told=told,
        labels=labels,
    )


@router.get("/{name}")
async def edit(name: str, visitor: Recruiter, db: Db, page: Page) -> HTMLResponse:
    _known(name)
    async with db.transaction() as tx:
        standing = (await platform_state.load_all(tx)).get(name)
    hour, day = (standing.per_hour, standing.per_day) if standing else (None, None)
    return _form(page, name, _shown(hour), _shown(day))


@router.post("/{name}")
async def save(name: str, visitor: Recruiter, form: Fields, db: Db, page: Page) -> Response:
    _known(name)
    otherwise = say("A limit is a whole number; leave it empty for none.")
    try:
        hour, day = (
            read_optional_whole_number(form, "per_hour", otherwise),
            read_optional_whole_number(form, "per_day", otherwise),
        )
    except Invalid as error:
        typed = form.get("per_hour", ""), form.get("per_day", "")
        return _form(page, name, *typed, error=error)
    async with db.transaction() as tx:
        by = visitor.actor.name
        await platform_state.set_limits(tx, name, per_hour=hour, per_day=day, actor=by)
    return RedirectResponse("/rotation/platforms?did=limited", 303)


def _shown(limit: int | None) -> str:
    return "" if limit is None else str(limit)


def _known(name: str) -> None:
    if name not in BY_NAME:
        raise NotFound("platform", name)


def _form(
    page: Page, name: str, per_hour: str, per_day: str, error: AppError | None = None
) -> HTMLResponse:
    status = html_errors.status_code(error) if error else 200
    typed = {"per_hour": per_hour, "per_day": per_day}
    return page("rotation/limits.html", status, name=name, typed=typed, error=error, labels=labels)
