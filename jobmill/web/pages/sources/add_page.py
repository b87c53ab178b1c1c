"""/sources/new: from an address to a source, with what was understood of it on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.boards import detection
from jobmill.boards.adapters import BY_NAME
from jobmill.boards.url_detection import DetectedBoard
from jobmill.catalog import sources, urls
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid, Unavailable
from jobmill.pipelines import discovery
from jobmill.queue import NewItem
from jobmill.queue.inspect import Item
from jobmill.web import html_errors, task_progress
from jobmill.web.auth import Recruiter, Visitor
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import Fields
from jobmill.web.pages.sources import labels
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.task_progress import TaskProgress

router = APIRouter(prefix="/sources/new")

Watched = Annotated[int | None, Query(ge=1, le=MAX_ID)]
LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class Typed:
    """What somebody wants to be added."""

    url: str = ""
    company: str = ""
    enable: bool = False

    @classmethod
    def of(cls, form: Fields) -> Typed:
        company = form.get("company", "").strip()
        return cls(_address(form.get("url", "")), company, form.get("enable") == "yes")


@dataclass(frozen=True, slots=True)
class Understood:
    """What the address alone tells: nothing was fetched."""

    found: DetectedBoard | None
    platform: str
    off: str | None
    """Why it is not read, if it is not."""
    known: Source | None


@router.get("")
async def show(
    visitor: Recruiter,
    db: Db,
    page: Page,
    url: Annotated[str, Query(max_length=LONGEST)] = "",
    company: Annotated[str, Query(max_length=300)] = "",
    item: Watched = None,
) -> HTMLResponse:
    typed = Typed(_address(url), company.strip())
    if not typed.url:
        return await _show(db, page, typed, item=item)
    try:
        urls.parse(typed.url)
        async with db.transaction() as tx:
            understood = await _understand(tx, typed.url)
    except Invalid as error:
        return await _show(db, page, typed, error=error)
    return await _show(db, page, typed, understood=understood)


@router.post("")
async def add(form: Fields, visitor: Recruiter, db: Db, page: Page) -> Response:
    """Leave it to a worker to recognise it, try it and keep it, and watch that."""
    typed = Typed.of(form)
    try:
        new = _work(typed, visitor)
        async with db.transaction() as tx:
            item = await task_progress.submit_or_join(tx, new)
    except (Conflict, Invalid, Unavailable) as error:
        return await _show(db, page, typed, error=error)
    return RedirectResponse(f"/sources/new?item={item}", 303)


def _work(typed: Typed, visitor: Visitor) -> NewItem:
    config: dict[str, Any] = {"url": typed.url, "company_name": typed.company or None}
    by = visitor.actor.name
    return discovery.work(
        discovery.parse(config), via="user_submission", approved=typed.enable, by=by
    )


def _address(typed: str) -> str:
    """An address may be given without https://."""
    typed = typed.strip()
    return f"https://{typed}" if typed and "://" not in typed else typed


async def _understand(tx: Tx, url: str) -> Understood:
    found = detection.detect(url)
    if found is None:
        return Understood(None, "", None, await sources.find_by_url(tx, url))
    platform = BY_NAME.get(found.platform)
    known = await sources.find_by_board(tx, found.platform, found.token) if found.token else None
    title = platform.title if platform else found.platform
    return Understood(found, title, platform.disabled if platform else None, known)


async def _show(
    db: RequestDatabase,
    page: PageRenderer,
    typed: Typed,
    *,
    understood: Understood | None = None,
    item: int | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    watched, made = await _watched(db, item) if item else (None, None)
    return page(
        "sources/new.html",
        html_errors.status_code(error) if error else 200,
        topics=["queue"] if watched else [],
        typed=typed,
        understood=understood,
        progress=watched,
        made=made,
        mask=labels.mask,
        current_url=f"/sources/new?item={item}",
        error=str(error) if error else None,
    )


async def _watched(db: RequestDatabase, item: int) -> tuple[TaskProgress | None, Source | None]:
    """How far it is, and the source that came of it."""

    def fits(one: Item) -> bool:
        return one.kind == discovery.KIND

    async with db.transaction() as tx:
        watched = await task_progress.read_progress(tx, item, fits)
        id = watched.item.data.get("source_id") if watched else None
        found = await sources.find(tx, id=id, limit=1) if isinstance(id, int) else []
    return watched, found[0] if found else None
