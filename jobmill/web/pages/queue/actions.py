"""What is done to phases, blocks and alerts: each is asked for with what follows."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.queue import inspect, operator_actions
from jobmill.queue.alerts import clear_alert, list_alerts
from jobmill.web import confirmation
from jobmill.web.auth import Recruiter
from jobmill.web.confirmation import Confirmation
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.page_query import ShortText
from jobmill.web.pages.queue import overview_page
from jobmill.web.pages.queue.overview_page import Speed
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/queue")

HOME = "/queue"
Name = Annotated[ShortText, Query(min_length=1)]


@router.get("/pause")
async def ask_pause(
    phase: Name, visitor: Recruiter, db: Db, page: Page, rates: Speed
) -> HTMLResponse:
    async with db.transaction() as tx:
        asked = await _pausing(tx, phase, "")
    return await overview_page.render(db, page, rates, confirmation=asked)


@router.post("/pause")
async def pause(visitor: Recruiter, form: Fields, db: Db, page: Page, rates: Speed) -> Response:
    phase = form.get("phase", "")
    try:
        async with db.transaction() as tx:
            await operator_actions.pause_phase(
                tx, *_phase(phase), confirmation.read_reason(form, visitor)
            )
    except Invalid as error:
        async with db.transaction() as tx:
            asked = await _pausing(tx, phase, form.get("reason", ""))
        return await overview_page.render(db, page, rates, confirmation=asked, error=error)
    return _back("paused")


async def _pausing(tx: Tx, phase: str, typed: str) -> Confirmation:
    kind, _ = _phase(phase)
    mine = [one for one in await inspect.list_phases(tx) if one.kind == kind]
    names = [f"{kind}/{one.stage}" for one in mine]
    if phase not in (kind, *names) or not mine:
        raise NotFound("phase", phase)
    return Confirmation(
        f"{HOME}/pause",
        HOME,
        say("Pause %(phase)s?", phase=phase),
        say("Pause it"),
        [say("Nothing more of it is started until it is resumed; what runs now goes on."),
         say("What waits stays where it is, and more may join it.")],
        phases=[*((name, say("only %(phase)s", phase=name)) for name in names if name == phase),
                 (kind, say("all of %(kind)s", kind=kind))],
        chosen_phase=phase,
        reason=typed,
    )  # fmt: skip


@router.get("/resume")
async def ask_resume(
    phase: Name, visitor: Recruiter, db: Db, page: Page, rates: Speed
) -> HTMLResponse:
    async with db.transaction() as tx:
        pauses = {_name(one.kind, one.stage): one for one in await inspect.list_pauses(tx)}
    if phase not in pauses:
        error = Conflict(say("%(phase)s is not paused.", phase=phase))
        return await overview_page.render(db, page, rates, error=error)
    asked = Confirmation(
        f"{HOME}/resume",
        HOME,
        say("Let %(phase)s go on?", phase=phase),
        say("Resume it"),
        [say("It was paused for this: %(reason)s", reason=pauses[phase].reason),
         say("What waits is started as soon as a processor is free.")],
        {"phase": phase},
    )  # fmt: skip
    return await overview_page.render(db, page, rates, confirmation=asked)


@router.post("/resume")
async def resume(visitor: Recruiter, form: Fields, db: Db, page: Page, rates: Speed) -> Response:
    try:
        async with db.transaction() as tx:
            await operator_actions.resume_phase(tx, *_phase(form.get("phase", "")))
    except (Invalid, Conflict) as error:
        return await overview_page.render(db, page, rates, error=error)
    return _back("resumed")


@router.get("/unblock")
async def ask_unblock(
    on: Name, visitor: Recruiter, db: Db, page: Page, rates: Speed
) -> HTMLResponse:
    async with db.transaction() as tx:
        blocks = {one.name: one.count for one in await inspect.count_blocked(tx)}
    if on not in blocks:
        return await overview_page.render(db, page, rates, error=_nothing(on))
    asked = Confirmation(
        f"{HOME}/unblock",
        HOME,
        say("Is %(name)s there again?", name=on),
        say("Let them go on"),
        [say_many("%(n)s item goes on.", "%(n)s items go on.", blocks[on]),
         say("If it is still missing, they are blocked again; no try is lost by it.")],
        {"on": on},
    )  # fmt: skip
    return await overview_page.render(db, page, rates, confirmation=asked)


@router.post("/unblock")
async def unblock(visitor: Recruiter, form: Fields, db: Db, page: Page, rates: Speed) -> Response:
    on = form.get("on", "")
    async with db.transaction() as tx:
        freed = await operator_actions.unblock_items(tx, on)
    if not freed:
        return await overview_page.render(db, page, rates, error=_nothing(on))
    return _back("unblocked")


def _nothing(on: str) -> Conflict:
    return Conflict(say("Nothing is blocked on %(name)s any more.", name=on))


@router.get("/alerts/{alert_id}/clear")
async def ask_clear(
    alert_id: PathId, visitor: Recruiter, db: Db, page: Page, rates: Speed
) -> HTMLResponse:
    async with db.transaction() as tx:
        alerts = {one.id: one for one in await list_alerts(tx)}
    if alert_id not in alerts:
        raise NotFound("standing alert", alert_id)
    asked = Confirmation(
        f"{HOME}/alerts/{alert_id}/clear",
        HOME,
        say("Have you seen to this alert?"),
        say("Clear it"),
        [f"{alerts[alert_id].rule}: {alerts[alert_id].detail}",
         say("It is no longer shown. It comes back if its cause does.")],
    )  # fmt: skip
    return await overview_page.render(db, page, rates, confirmation=asked)


@router.post("/alerts/{alert_id}/clear")
async def clear(alert_id: PathId, visitor: Recruiter, db: Db) -> Response:
    async with db.transaction() as tx:
        if not await clear_alert(tx, alert_id):
            raise NotFound("standing alert", alert_id)
    return _back("cleared")


def _back(did: str) -> RedirectResponse:
    return RedirectResponse(f"{HOME}?did={did}", 303)


def _phase(name: str) -> tuple[str, str | None]:
    kind, _, stage = name.partition("/")
    return kind, stage or None


def _name(kind: str, stage: str) -> str:
    return f"{kind}/{stage}" if stage else kind
