"""/sources/new: add a source by its web address, with a preview of what is recognized."""

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
from jobmill.web import source_secrets, task_progress
from jobmill.web.auth import Admin, Visitor
from jobmill.web.dependencies import RequestDatabase
from jobmill.web.form import Fields
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.task_progress import TaskProgress

router = APIRouter(prefix="/sources/new")

WatchedItem = Annotated[int | None, Query(ge=1, le=MAX_ID)]
MAX_URL_LENGTH = 2_000


@dataclass(frozen=True, slots=True)
class SourceForm:
    url: str = ""
    company: str = ""
    enable: bool = False

    @classmethod
    def from_fields(cls, fields: Fields) -> SourceForm:
        company = fields.get("company", "").strip()
        return cls(_with_scheme(fields.get("url", "")), company, fields.get("enable") == "yes")


@dataclass(frozen=True, slots=True)
class Recognition:
    """What the address alone tells; nothing is fetched for it."""

    board: DetectedBoard | None
    platform: str
    unsupported: str | None
    """Why the platform cannot be read, if it cannot."""
    existing: Source | None


@router.get("")
async def show(
    visitor: Admin,
    page: Page,
    url: Annotated[str, Query(max_length=MAX_URL_LENGTH)] = "",
    company: Annotated[str, Query(max_length=300)] = "",
    item: WatchedItem = None,
) -> HTMLResponse:
    form = SourceForm(_with_scheme(url), company.strip())
    if not form.url:
        return await _render(page, form, item=item)
    try:
        urls.parse(form.url)
        async with page.db.transaction() as tx:
            recognition = await _recognize(tx, form.url)
    except Invalid as error:
        return await _render(page, form, error=error)
    return await _render(page, form, recognition=recognition)


@router.post("")
async def add(fields: Fields, visitor: Admin, page: Page) -> Response:
    """Submit the discovery of the source, and show its progress."""
    form = SourceForm.from_fields(fields)
    try:
        new = _discovery_item(form, visitor)
        async with page.db.transaction() as tx:
            item = await task_progress.submit_or_join(tx, new)
    except (Conflict, Invalid, Unavailable) as error:
        return await _render(page, form, error=error)
    return RedirectResponse(f"/sources/new?item={item}", 303)


def _discovery_item(form: SourceForm, visitor: Visitor) -> NewItem:
    config: dict[str, Any] = {"url": form.url, "company_name": form.company or None}
    return discovery.new_item(
        discovery.parse_config(config),
        via="user_submission",
        approved=form.enable,
        by=visitor.actor.name,
    )


def _with_scheme(url: str) -> str:
    """People may type an address without https://."""
    url = url.strip()
    return f"https://{url}" if url and "://" not in url else url


async def _recognize(tx: Tx, url: str) -> Recognition:
    board = detection.detect_likeliest_board(url)
    if board is None:
        return Recognition(None, "", None, await sources.find_by_url(tx, url))
    platform = BY_NAME.get(board.platform)
    existing = await sources.find_by_board(tx, board.platform, board.token) if board.token else None
    title = platform.title if platform else board.platform
    return Recognition(board, title, platform.disabled if platform else None, existing)


async def _render(
    page: PageRenderer,
    form: SourceForm,
    *,
    recognition: Recognition | None = None,
    item: int | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    progress, created = await _read_progress(page.db, item) if item else (None, None)
    return page(
        "sources/new.html",
        topics=["queue"] if progress else [],
        form=form,
        recognition=recognition,
        progress=progress,
        created=created,
        hide_secrets=source_secrets.hide_secrets,
        current_url=f"/sources/new?item={item}",
        error=error,
    )


async def _read_progress(
    db: RequestDatabase, item: int
) -> tuple[TaskProgress | None, Source | None]:
    """The progress of the discovery, and the source that it created."""

    def is_discovery(candidate: Item) -> bool:
        return candidate.kind == discovery.KIND

    async with db.transaction() as tx:
        progress = await task_progress.read_progress(tx, item, is_discovery)
        id = progress.item.data.get("source_id") if progress else None
        matching = await sources.find(tx, id=id, limit=1) if isinstance(id, int) else []
    return progress, matching[0] if matching else None
