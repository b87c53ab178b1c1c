"""/jobs/added: what people added by URL or text, what became of it, and what could not be read."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.catalog import submissions
from jobmill.catalog.submissions import Submission
from jobmill.errors import AppError, Invalid, Unavailable
from jobmill.pipelines import submission
from jobmill.web import job_view, task_progress
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/jobs/added")

PAGE_SIZE = 100
StateFilter = Annotated[Literal["waiting", "done", "unknown"] | None, Query()]


@router.get("")
async def show_all(visitor: Seeker, page: Page, state: StateFilter = None) -> HTMLResponse:
    return await _render(page, state=state)


@router.post("")
async def add(fields: Fields, visitor: Seeker, page: Page) -> Response:
    """Record what was entered, start reading it, and show its progress."""
    text = fields.get("what", "")
    try:
        entered = await submission.read_input(text)
        async with page.db.transaction() as tx:
            added = await submission.submit(
                tx,
                entered,
                owner=visitor.owner,
                profile_id=await submission.default_profile_id(tx, owner=visitor.owner),
                may_enable=visitor.may_change("system"),
                by=visitor.actor.name,
            )
    except (Invalid, Unavailable) as error:
        return await _render(page, text=text, error=error)
    return RedirectResponse(f"/jobs/added/{added.id}", 303)


async def _render(
    page: PageRenderer,
    *,
    state: Literal["waiting", "done", "unknown"] | None = None,
    text: str = "",
    error: AppError | None = None,
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        rows = await submissions.find(tx, owner=page.visitor.owner, state=state, limit=PAGE_SIZE)
    return page(
        "listings/added.html",
        topics=["queue"],
        rows=rows,
        state=state,
        what=text,
        describe=describe_state,
        web_url=job_view.web_url,
        error=error,
    )


@router.get("/{submission_id}")
async def show(submission_id: PathId, visitor: Seeker, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        row = await submissions.get(tx, submission_id, owner=visitor.owner)
        progress = None
        if row.item_id:
            progress = await task_progress.read_progress(tx, row.item_id, lambda _: True)
    return page(
        "listings/added_detail.html",
        topics=["queue"],
        row=row,
        state=describe_state(row),
        progress=progress if row.state == "waiting" else None,
        current_url=f"/jobs/added/{row.id}",
        url=job_view.web_url(row.url or ""),
    )


@router.post("/{submission_id}/retry")
async def retry(submission_id: PathId, visitor: Seeker, db: Db) -> Response:
    """Read it again."""
    async with db.transaction() as tx:
        await submission.retry(
            tx,
            submission_id,
            owner=visitor.owner,
            may_enable=visitor.may_change("system"),
            by=visitor.actor.name,
        )
    return RedirectResponse(f"/jobs/added/{submission_id}", 303)


def describe_state(row: Submission) -> str:
    if row.state == "waiting":
        return say("Being read")
    if row.state == "unknown":
        return say("Could not be read")
    return say("Added")
