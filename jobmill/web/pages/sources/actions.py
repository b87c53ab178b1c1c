"""Enable, disable, reject, run and test a source."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.catalog import sources
from jobmill.catalog.sources import Source
from jobmill.errors import Conflict, Invalid, Unavailable
from jobmill.pipelines import preview
from jobmill.pipelines import source as source_pipeline
from jobmill.queue import NewItem
from jobmill.web import task_progress
from jobmill.web.auth import Admin
from jobmill.web.confirmation import Confirmation, read_optional_reason
from jobmill.web.form import Fields
from jobmill.web.pages.sources import detail_page
from jobmill.web.pages.sources.approvals import DEFAULT_REASON
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/sources/{source_id}")

Change = Literal["disable", "reject"]


@router.get("/change/{change}")
async def confirm_change(
    source_id: PathId, change: Change, visitor: Admin, page: Page
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        source = await sources.get(tx, source_id)
    confirmation = _confirmation(source, change)
    return await detail_page.render(page, source_id, confirmation=confirmation)


def _confirmation(source: Source, change: Change, reason: str = "") -> Confirmation:
    listings = say_many(
        "Its %(n)s open job stays in the catalog but is no longer updated.",
        "Its %(n)s open jobs stay in the catalog but are no longer updated.",
        source.open_listings,
    )
    listing_note = [listings] if source.open_listings else []
    if change == "disable":
        title, button = say("Disable this source?"), say("Disable source")
        consequences = [say("It does not run until someone enables it again."), *listing_note]
    else:
        title, button = say("Reject this source?"), say("Reject source")
        consequences = [
            say("It does not run and will not be suggested again."),
            *listing_note,
            say("You can enable it later."),
        ]
    source_url = f"/sources/{source.id}"
    return Confirmation(
        f"{source_url}/change/{change}",
        source_url,
        title,
        button,
        consequences,
        reason=reason,
        reason_required=False,
        danger=True,
    )


@router.post("/change/{change}")
async def apply_change(
    source_id: PathId, change: Change, form: Fields, visitor: Admin, page: Page
) -> Response:
    actor = visitor.actor.name
    try:
        reason = read_optional_reason(form)
        async with page.db.transaction() as tx:
            if change == "disable":
                await sources.disable(tx, source_id, reason or "by hand", actor=actor)
            else:
                await sources.reject(tx, source_id, reason or DEFAULT_REASON, actor=actor)
    except (Conflict, Invalid) as error:
        async with page.db.transaction() as tx:
            source = await sources.get(tx, source_id)
        confirmation = (
            _confirmation(source, change, form.get("reason", ""))
            if isinstance(error, Invalid)
            else None
        )
        return await detail_page.render(page, source_id, confirmation=confirmation, error=error)
    return RedirectResponse(f"/sources/{source_id}?did={change.rstrip('e')}ed", 303)


@router.post("/enable")
async def enable(source_id: PathId, visitor: Admin, page: Page) -> Response:
    try:
        async with page.db.transaction() as tx:
            await sources.enable(tx, source_id, actor=visitor.actor.name)
    except Conflict as error:
        return await detail_page.render(page, source_id, error=error)
    return RedirectResponse(f"/sources/{source_id}?did=enabled", 303)


@router.post("/run")
async def run(source_id: PathId, visitor: Admin, page: Page) -> Response:
    return await _submit(page, source_id, source_pipeline.new_item(source_id))


@router.post("/test")
async def test(source_id: PathId, visitor: Admin, page: Page) -> Response:
    return await _submit(page, source_id, preview.new_item(source_id))


async def _submit(page: PageRenderer, id: int, new: NewItem) -> Response:
    """Submit a run or a test, and show its progress on the page."""
    try:
        async with page.db.transaction() as tx:
            item = await task_progress.submit_for_source(tx, id, new)
    except (Conflict, Unavailable) as error:
        return await detail_page.render(page, id, error=error)
    return RedirectResponse(f"/sources/{id}?item={item}", 303)
