"""/sources/{source_id}: one source, and what a person has done to it."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.catalog import sources
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid, Unavailable
from jobmill.pipelines import preview
from jobmill.pipelines import source as running
from jobmill.queue import NewItem
from jobmill.web import task_progress
from jobmill.web.auth import Recruiter
from jobmill.web.confirmation import Confirmation
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import Fields
from jobmill.web.pages.sources import detail_page as source_page
from jobmill.web.pages.sources.approvals import UNSAID, reason
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/sources/{source_id}")

Change = Literal["disable", "reject"]
Watched = Annotated[int | None, Query(ge=1, le=MAX_ID)]
Done = Annotated[Literal["enabled", "disabled", "rejected"] | None, Query()]


@router.get("")
async def show(
    source_id: PathId, db: Db, page: Page, item: Watched = None, did: Done = None
) -> HTMLResponse:
    return await source_page.show(db, page, source_id, item=item, did=did)


@router.get("/change/{change}")
async def ask(
    source_id: PathId, change: Change, visitor: Recruiter, db: Db, page: Page
) -> HTMLResponse:
    """What follows, before anything is done."""
    async with db.transaction() as tx:
        source = await sources.get(tx, source_id)
    return await source_page.show(db, page, source_id, confirmation=_ask(source, change))


def _ask(source: Source, change: Change, typed: str = "") -> Confirmation:
    stays = say_many(
        "Its %(n)s open listing stays as it is, and is not looked at again.",
        "Its %(n)s open listings stay as they are, and are not looked at again.",
        source.open_listings,
    )
    kept = [stays] if source.open_listings else []
    if change == "disable":
        stops = say("It does not run until a person enables it again.")
        title, button, consequences = (
            say("Disable this source?"),
            say("Disable source"),
            [stops, *kept],
        )
    else:
        title, button = say("Reject this source?"), say("Reject source")
        consequences = [
            say("It does not run, and is not proposed again when somebody finds it."),
            *kept,
            say("It stays known, and can be enabled after all."),
        ]
    here = f"/sources/{source.id}"
    return Confirmation(
        f"{here}/change/{change}",
        here,
        title,
        button,
        consequences,
        reason=typed,
        reason_required=False,
        danger=True,
    )


@router.post("/change/{change}")
async def turn(
    source_id: PathId, change: Change, form: Fields, visitor: Recruiter, db: Db, page: Page
) -> Response:
    """Stop it, with the reason for those who read it later."""
    try:
        why = reason(form)
        async with db.transaction() as tx:
            if change == "disable":
                await sources.disable(tx, source_id, why or "by hand", actor=visitor.actor.name)
            else:
                await sources.reject(tx, source_id, why or UNSAID, actor=visitor.actor.name)
    except (Conflict, Invalid) as error:
        async with db.transaction() as tx:
            source = await sources.get(tx, source_id)
        again = _ask(source, change, form.get("reason", "")) if isinstance(error, Invalid) else None
        return await source_page.show(db, page, source_id, confirmation=again, error=error)
    return RedirectResponse(f"/sources/{source_id}?did={change.rstrip('e')}ed", 303)


@router.post("/enable")
async def enable(source_id: PathId, visitor: Recruiter, db: Db, page: Page) -> Response:
    """Let it run, from a clean start."""
    try:
        async with db.transaction() as tx:
            await sources.enable(tx, source_id, actor=visitor.actor.name)
    except Conflict as error:
        return await source_page.show(db, page, source_id, error=error)
    return RedirectResponse(f"/sources/{source_id}?did=enabled", 303)


@router.post("/run")
async def run(source_id: PathId, visitor: Recruiter, db: Db, page: Page) -> Response:
    """Leave a run to a worker, and watch it."""
    return await _start(db, page, source_id, running.work(source_id))


@router.post("/test")
async def test(source_id: PathId, visitor: Recruiter, db: Db, page: Page) -> Response:
    """Leave a test to a worker, and watch what it shows."""
    return await _start(db, page, source_id, preview.work(source_id))


async def _start(db: RequestDatabase, page: PageRenderer, id: int, new: NewItem) -> Response:
    try:
        async with db.transaction() as tx:
            item = await _submit(tx, id, new)
    except (Conflict, Unavailable) as error:
        return await source_page.show(db, page, id, error=error)
    return RedirectResponse(f"/sources/{id}?item={item}", 303)


async def _submit(tx: Tx, id: int, new: NewItem) -> int:
    source = await sources.get(tx, id)
    if source.status == "rejected" and new.kind == running.KIND:
        raise Conflict(say("It is rejected: enable it first."))
    return await task_progress.submit_or_join(tx, new)
