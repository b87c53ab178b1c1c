"""/documents: all documents, and writing those of the best matches in one go."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.documents import store
from jobmill.matching import profiles
from jobmill.pipelines import documents as document_pipeline
from jobmill.web import job_view, task_progress
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.documents import labels
from jobmill.web.pages.documents.model_access import find_model_access
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/documents")

PAGE_SIZE = 50


class DocumentsQuery(PageQuery):
    profile: ShortText | None = None
    queued: Annotated[int, Query(ge=0, le=1000)] | None = None
    """How many matches were queued last."""
    after: Annotated[int, Query(ge=1, le=MAX_ID)] | None = None
    """The last document of the previous page."""


@router.get("")
async def show(
    query: Annotated[DocumentsQuery, Query()], visitor: Seeker, page: Page
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        version = await job_view.find_profile(tx, query.profile, visitor.owner)
        if version is None:
            return page("matches/no_profile.html", heading=say("Documents"))
        best = await document_pipeline.find_best(tx, version.profile_id)
        written = await store.find_all(
            tx, owner=visitor.owner, before=query.after, limit=PAGE_SIZE + 1
        )
        progress = [
            (
                match,
                all((await store.find_ids(tx, match.id)).values()),
                await document_pipeline.is_being_written(tx, match.id, version.profile_id),
            )
            for match in best
        ]
        access = await find_model_access(tx, page.site_settings)
    return page(
        "documents/page.html",
        topics=["matches", "queue"],
        query=query,
        version=version,
        progress=progress,
        busy=sum(is_busy for _, _, is_busy in progress),
        done=sum(has_documents for _, has_documents, _ in progress),
        documents=written[:PAGE_SIZE],
        next_url=query.url("/documents", after=written[PAGE_SIZE - 1].id, queued=None)
        if len(written) > PAGE_SIZE
        else None,
        access=access,
        labels=labels,
        current_url=query.url("/documents"),
    )


@router.post("/best")
async def write_best(form: Fields, visitor: Seeker, db: Db) -> Response:
    """Queue the documents of the best matches."""
    async with db.transaction() as tx:
        version = await profiles.get(tx, form.get("profile") or None, owner=visitor.owner)
        items = await document_pipeline.list_best_items(
            tx,
            version.profile_id,
            reword=form.get("reword") == "yes",
            actor=visitor.actor.name,
        )
        queued = {await task_progress.submit_or_join(tx, item) for item in items}
    query = DocumentsQuery(profile=form.get("profile") or None, queued=len(queued))
    return RedirectResponse(query.url("/documents"), 303)
