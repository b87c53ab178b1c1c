"""Pause and resume steps, unblock tasks and clear alerts, each after a confirmation."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.queue import inspect, operator_actions
from jobmill.queue.alerts import clear_alert, list_alerts
from jobmill.web.auth import Admin
from jobmill.web.confirmation import Confirmation, read_reason
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.page_query import ShortText
from jobmill.web.pages.queue import overview_page
from jobmill.web.pages.queue.overview_page import Trackers
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/activity")

QUEUE = "/activity"
Name = Annotated[ShortText, Query(min_length=1)]


@router.get("/pause")
async def confirm_pause(
    phase: Name, visitor: Admin, page: Page, trackers: Trackers
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        confirmation = await _pause_confirmation(tx, phase, "")
    return await overview_page.render(page, trackers, confirmation=confirmation)


@router.post("/pause")
async def pause(visitor: Admin, form: Fields, page: Page, trackers: Trackers) -> Response:
    phase = form.get("phase", "")
    try:
        async with page.db.transaction() as tx:
            await operator_actions.pause_phase(tx, *_split(phase), read_reason(form, visitor))
    except Invalid as error:
        async with page.db.transaction() as tx:
            confirmation = await _pause_confirmation(tx, phase, form.get("reason", ""))
        return await overview_page.render(page, trackers, confirmation=confirmation, error=error)
    return _redirect("paused")


async def _pause_confirmation(tx: Tx, phase: str, reason: str) -> Confirmation:
    kind, _ = _split(phase)
    phases = [f"{kind}/{row.stage}" for row in await inspect.list_phases(tx) if row.kind == kind]
    if phase not in (kind, *phases) or not phases:
        raise NotFound("step", phase)
    return Confirmation(
        f"{QUEUE}/pause",
        QUEUE,
        say("Pause %(phase)s?", phase=phase),
        say("Pause"),
        [
            say("No new tasks start until you resume. Running tasks finish."),
            say("Waiting tasks stay in the queue, and new ones can be added."),
        ],
        phases=[
            *((name, say("Only %(phase)s", phase=name)) for name in phases if name == phase),
            (kind, say("All steps of %(kind)s", kind=kind)),
        ],
        chosen_phase=phase,
        reason=reason,
    )


@router.get("/resume")
async def confirm_resume(
    phase: Name, visitor: Admin, page: Page, trackers: Trackers
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        pauses = {_join(pause.kind, pause.stage): pause for pause in await inspect.list_pauses(tx)}
    if phase not in pauses:
        error = Conflict(say("%(phase)s is not paused.", phase=phase))
        return await overview_page.render(page, trackers, error=error)
    confirmation = Confirmation(
        f"{QUEUE}/resume",
        QUEUE,
        say("Resume %(phase)s?", phase=phase),
        say("Resume"),
        [
            say("Reason for the pause: %(reason)s", reason=pauses[phase].reason),
            say("Waiting tasks start as soon as a processor is free."),
        ],
        {"phase": phase},
    )
    return await overview_page.render(page, trackers, confirmation=confirmation)


@router.post("/resume")
async def resume(visitor: Admin, form: Fields, page: Page, trackers: Trackers) -> Response:
    try:
        async with page.db.transaction() as tx:
            await operator_actions.resume_phase(tx, *_split(form.get("phase", "")))
    except (Invalid, Conflict) as error:
        return await overview_page.render(page, trackers, error=error)
    return _redirect("resumed")


@router.get("/unblock")
async def confirm_unblock(on: Name, visitor: Admin, page: Page, trackers: Trackers) -> HTMLResponse:
    async with page.db.transaction() as tx:
        blocked = {resource.name: resource.count for resource in await inspect.count_blocked(tx)}
    if on not in blocked:
        return await overview_page.render(page, trackers, error=_nothing_blocked(on))
    confirmation = Confirmation(
        f"{QUEUE}/unblock",
        QUEUE,
        say("Is %(name)s available again?", name=on),
        say("Unblock tasks"),
        [
            say_many("%(n)s task continues.", "%(n)s tasks continue.", blocked[on]),
            say("If it is still missing, they are blocked again. No retry is used up."),
        ],
        {"on": on},
    )
    return await overview_page.render(page, trackers, confirmation=confirmation)


@router.post("/unblock")
async def unblock(visitor: Admin, form: Fields, page: Page, trackers: Trackers) -> Response:
    on = form.get("on", "")
    async with page.db.transaction() as tx:
        unblocked = await operator_actions.unblock_items(tx, on)
    if not unblocked:
        return await overview_page.render(page, trackers, error=_nothing_blocked(on))
    return _redirect("unblocked")


def _nothing_blocked(on: str) -> Conflict:
    return Conflict(say("No tasks are blocked on %(name)s anymore.", name=on))


@router.get("/alerts/{alert_id}/clear")
async def confirm_clear(
    alert_id: PathId, visitor: Admin, page: Page, trackers: Trackers
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        alerts = {alert.id: alert for alert in await list_alerts(tx)}
    if alert_id not in alerts:
        raise NotFound("active alert", alert_id)
    confirmation = Confirmation(
        f"{QUEUE}/alerts/{alert_id}/clear",
        QUEUE,
        say("Clear this alert?"),
        say("Clear alert"),
        [
            f"{alerts[alert_id].rule}: {alerts[alert_id].detail}",
            say("It is no longer shown. It comes back if the problem does."),
        ],
    )
    return await overview_page.render(page, trackers, confirmation=confirmation)


@router.post("/alerts/{alert_id}/clear")
async def clear(alert_id: PathId, visitor: Admin, db: Db) -> Response:
    async with db.transaction() as tx:
        if not await clear_alert(tx, alert_id):
            raise NotFound("active alert", alert_id)
    return _redirect("cleared")


def _redirect(did: str) -> RedirectResponse:
    return RedirectResponse(f"{QUEUE}?did={did}", 303)


def _split(phase: str) -> tuple[str, str | None]:
    kind, _, stage = phase.partition("/")
    return kind, stage or None


def _join(kind: str, stage: str) -> str:
    return f"{kind}/{stage}" if stage else kind
