"""/activity/tasks/{id}: one task, its timeline and data; retry or cancel it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Conflict, Invalid
from jobmill.queue import ItemId, operator_actions
from jobmill.web import job_view, private_tasks
from jobmill.web.auth import Admin, Visitor
from jobmill.web.confirmation import Confirmation, read_reason
from jobmill.web.dependencies import RequestDatabase
from jobmill.web.form import Fields
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.private_tasks import MAX_EVENTS, ItemDetail
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/activity/tasks/{item_id}")

Change = Literal["retry", "cancel"]
ALLOWED_STATUSES: Mapping[Change, tuple[str, ...]] = {
    "retry": ("FAILED", "SKIPPED", "FILTERED"),
    "cancel": ("PENDING", "BLOCKED"),
}

MAX_DATA_LENGTH = 50_000

RELATED_PATHS = {
    "listing": "/jobs",
    "source": "/sources",
    "company": "/companies",
    "opening": "/hiring",
}


class RelatedPage(NamedTuple):
    name: str
    id: int
    path: str


@router.get("")
async def show(item_id: PathId, visitor: Admin, page: Page) -> HTMLResponse:
    return await _render(page, await _read(page.db, item_id, visitor))


@router.get("/{change}")
async def confirm_change(
    item_id: PathId, change: Change, visitor: Admin, page: Page
) -> HTMLResponse:
    detail = await _read(page.db, item_id, visitor)
    status = detail.item.status
    if status not in ALLOWED_STATUSES[change]:
        error = Conflict(say("This task is %(status)s now.", status=status.lower()))
        return await _render(page, detail, error=error)
    return await _render(page, detail, confirmation=_confirmation(detail, change))


@router.post("/{change}")
async def apply_change(
    item_id: PathId, change: Change, visitor: Admin, form: Fields, page: Page
) -> Response:
    id = ItemId(item_id)
    try:
        async with page.db.transaction() as tx:
            if change == "retry":
                await operator_actions.retry_item(tx, id, f"by {visitor.name}")
            else:
                await operator_actions.cancel_item(tx, id, read_reason(form, visitor))
    except (Invalid, Conflict) as error:
        detail = await _read(page.db, item_id, visitor)
        can_repeat = isinstance(error, Invalid) and detail.item.status in ALLOWED_STATUSES[change]
        confirmation = _confirmation(detail, change, form.get("reason", "")) if can_repeat else None
        return await _render(page, detail, confirmation=confirmation, error=error)
    return RedirectResponse(f"/activity/tasks/{item_id}?did={change}", 303)


async def _read(db: RequestDatabase, item_id: int, visitor: Visitor) -> ItemDetail:
    async with db.transaction() as tx:
        return await private_tasks.read_detail(tx, item_id, visitor)


async def _render(
    page: PageRenderer,
    detail: ItemDetail,
    *,
    confirmation: Confirmation | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    item = detail.item
    data = format_data(item.data)
    allowed = [change for change, statuses in ALLOWED_STATUSES.items() if item.status in statuses]
    return page(
        "queue/item.html",
        topics=["queue"],
        detail=detail,
        item=item,
        changes=allowed,
        related=related_pages(item.data),
        url=job_view.web_url(str(item.data.get("url") or item.key)),
        data=data[:MAX_DATA_LENGTH],
        is_truncated=len(data) > MAX_DATA_LENGTH,
        max_events=MAX_EVENTS,
        confirmation=confirmation,
        notice=_notices().get(page.did),
        error=error,
    )


def _notices() -> Mapping[str, str]:
    return {
        "retry": say("The task is back in the queue and runs when a processor is free."),
        "cancel": say("Task cancelled."),
    }


def _confirmation(detail: ItemDetail, change: Change, reason: str = "") -> Confirmation:
    item = detail.item
    item_url = f"/activity/tasks/{item.id}"
    if change == "retry":
        step = f"{item.kind}/{item.stage}"
        consequences = [
            say("It runs again from the step where it stopped (%(step)s).", step=step),
            say("Its history is kept. The step may repeat work that it already did."),
        ]
        title, button = say("Retry this task?"), say("Retry task")
        return Confirmation(f"{item_url}/retry", item_url, title, button, consequences)
    consequences = [say("It is marked as skipped and does not run. You can retry it later.")]
    if detail.waiting:
        sentence = say_many(
            "%(n)s task that is waiting for it continues without it.",
            "%(n)s tasks that are waiting for it continue without it.",
            detail.waiting,
        )
        consequences.append(sentence)
    return Confirmation(
        f"{item_url}/cancel",
        item_url,
        say("Cancel this task?"),
        say("Cancel task"),
        consequences,
        reason=reason,
        danger=True,
        cancel_label=say("Keep task"),
    )


def related_pages(data: Mapping[str, Any]) -> list[RelatedPage]:
    """Links to the records with ids in the data of a task."""
    names = {
        "listing": say("Job"),
        "source": say("Source"),
        "company": say("Company"),
        "opening": say("Opening"),
    }
    pages: list[RelatedPage] = []
    for noun, path in RELATED_PATHS.items():
        values = (data.get(noun), data.get(f"{noun}_id"))
        ids = {value for value in values if type(value) is int and 0 < value <= MAX_ID}
        pages += [RelatedPage(names[noun], id, f"{path}/{id}") for id in sorted(ids)]
    return pages


def format_data(data: Mapping[str, Any]) -> str:
    """Indented JSON with invisible and direction-changing characters escaped."""
    lines = json.dumps(data, indent=2, ensure_ascii=False).splitlines()
    return "\n".join(
        "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
        for line in lines
    )
