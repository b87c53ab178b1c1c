"""/queue/items/{id}: all there is to know about an item, and what can be done to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.queue import ItemId, inspect, operator_actions
from jobmill.queue.inspect import Item, ItemEvent
from jobmill.web import confirmation, html_errors, job_view
from jobmill.web.auth import Recruiter
from jobmill.web.confirmation import Confirmation
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import Fields
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/queue/items/{item_id}")

Change = Literal["retry", "cancel"]
FROM: Mapping[Change, tuple[str, ...]] = {
    "retry": ("FAILED", "SKIPPED", "FILTERED"),
    "cancel": ("PENDING", "BLOCKED"),
}
"""What an item has to be for it."""

EVENTS = 300
CHARACTERS = 50_000
"""Of its data, so many are shown."""

THINGS = {
    "listing": "/listings",
    "source": "/sources",
    "company": "/companies",
    "opening": "/hiring",
}


class Thing(NamedTuple):
    name: str
    number: int
    path: str


@dataclass(frozen=True, slots=True)
class Story:
    item: Item
    events: list[ItemEvent]
    waiting: int


@router.get("")
async def show(item_id: PathId, db: Db, page: Page, did: str = "") -> HTMLResponse:
    return await _render(page, await _read(db, item_id), did=did)


@router.get("/{change}")
async def ask_change(
    item_id: PathId, change: Change, visitor: Recruiter, db: Db, page: Page
) -> HTMLResponse:
    story = await _read(db, item_id)
    if story.item.status not in FROM[change]:
        return await _render(page, story, error=_too_late(story.item))
    return await _render(page, story, asked=_ask(story, change))


@router.post("/{change}")
async def turn(
    item_id: PathId, change: Change, visitor: Recruiter, form: Fields, db: Db, page: Page
) -> Response:
    id = ItemId(item_id)
    try:
        async with db.transaction() as tx:
            if change == "retry":
                await operator_actions.retry_item(tx, id, f"by {visitor.name}")
            else:
                await operator_actions.cancel_item(tx, id, confirmation.read_reason(form, visitor))
    except (Invalid, Conflict) as error:
        story = await _read(db, item_id)
        again = isinstance(error, Invalid) and story.item.status in FROM[change]
        asked = _ask(story, change, form.get("reason", "")) if again else None
        return await _render(page, story, asked=asked, error=error)
    return RedirectResponse(f"/queue/items/{item_id}?did={change}", 303)


async def _read(db: RequestDatabase, id: int) -> Story:
    async with db.transaction() as tx:
        return await _story(tx, ItemId(id))


async def _story(tx: Tx, id: ItemId) -> Story:
    return Story(
        await inspect.get_item(tx, id),
        await inspect.list_events(tx, id, limit=EVENTS),
        await inspect.count_waiting_for(tx, id),
    )


async def _render(
    page: PageRenderer,
    story: Story,
    *,
    did: str = "",
    asked: Confirmation | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    item = story.item
    data = written(item.data)
    return page(
        "queue/item.html",
        html_errors.status_code(error) if error else 200,
        topics=["queue"],
        story=story,
        item=item,
        changes=[change for change, statuses in FROM.items() if item.status in statuses],
        things=things(item.data),
        url=job_view.web_url(str(item.data.get("url") or item.key)),
        data=data[:CHARACTERS],
        cut=len(data) > CHARACTERS,
        most=EVENTS,
        confirmation=asked,
        told=_done().get(did),
        error=str(error) if error else None,
    )


def _done() -> Mapping[str, str]:
    return {
        "retry": say("It was put back, and runs when a processor is free."),
        "cancel": say("It is cancelled."),
    }


def _too_late(item: Item) -> Conflict:
    return Conflict(say("This item is %(status)s by now.", status=item.status.lower()))


def _ask(story: Story, change: Change, typed: str = "") -> Confirmation:
    item = story.item
    here = f"/queue/items/{item.id}"
    if change == "retry":
        stage = f"{item.kind}/{item.stage}"
        sentences = [
            say("It runs again from where it ended, %(stage)s, when a processor is free.", stage=stage),
            say("What it did before is kept in its timeline, and a stage may do it a second time."),
        ]  # fmt: skip
        title, button = say("Put this item back?"), say("Put it back")
        return Confirmation(f"{here}/retry", here, title, button, sentences)
    sentences = [say("It ends as skipped, and does not run. It can be put back later.")]
    if story.waiting:
        words = ("%(n)s item waits for it, and goes on without it.", "%(n)s items wait for it, and go on without it.")  # fmt: skip
        sentences.append(say_many(*words, story.waiting))
    title, button = say("Cancel this item?"), say("Cancel it")
    return Confirmation(f"{here}/cancel", here, title, button, sentences, reason=typed, danger=True)


def things(data: Mapping[str, Any]) -> list[Thing]:
    """What an item is about, where its data gives the number of something that has a page."""
    names = {
        "listing": say("Listing"),
        "source": say("Source"),
        "company": say("Company"),
        "opening": say("Opening"),
    }
    found: list[Thing] = []
    for noun, path in THINGS.items():
        given = (data.get(noun), data.get(f"{noun}_id"))
        numbers = {one for one in given if type(one) is int and 0 < one <= MAX_ID}
        found += [Thing(names[noun], one, f"{path}/{one}") for one in sorted(numbers)]
    return found


def written(data: Mapping[str, Any]) -> str:
    """Data for reading; what would not be seen, or would turn the line around, is spelled out."""
    lines = json.dumps(data, indent=2, ensure_ascii=False).splitlines()
    return "\n".join(
        "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in line)
        for line in lines
    )
