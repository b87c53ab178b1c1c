"""/api/saved-views: filters of the matches under a name."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from jobmill.catalog.posting import Arrangement
from jobmill.db import Tx
from jobmill.matching import profiles, saved_views
from jobmill.matching.matches import Status
from jobmill.matching.saved_views import (
    MAX_NAME_LENGTH,
    MAX_WORDS_LENGTH,
    InboxFilters,
    SavedView,
)
from jobmill.web.api.callers import SeekerCaller
from jobmill.web.api.openapi import problems
from jobmill.web.api.pagination import ProfileParameter
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db
from jobmill.web.parameters import PLAIN_TEXT, OutputTime, PathId, WholeNumber

router = APIRouter(prefix="/saved-views", tags=["saved views"])


class NewSavedView(RequestBody):
    name: Annotated[
        str, Field(min_length=1, max_length=MAX_NAME_LENGTH, examples=["Remote"]), PLAIN_TEXT
    ]
    status: Status | None = None
    min_score: Annotated[WholeNumber, Field(ge=0, le=100)] | None = None
    arrangement: Arrangement | None = None
    words: Annotated[str, Field(max_length=MAX_WORDS_LENGTH), PLAIN_TEXT] | None = None
    newest: bool = False
    """The newest matches first instead of the best."""


class SavedViewRecord(Schema):
    id: Annotated[int, Field(examples=[1])]
    name: str
    status: Status | None
    min_score: int | None
    arrangement: Arrangement | None
    words: str | None
    newest: bool
    created_at: OutputTime
    removed_at: OutputTime | None


class SavedViewList(Schema):
    items: list[SavedViewRecord]


@router.get("", response_model=SavedViewList, responses=problems(404))
async def list_saved_views(caller: SeekerCaller, profile: ProfileParameter = None) -> Response:
    """The saved views of a profile."""
    async with caller.db.transaction() as tx:
        version = await profiles.get(tx, profile or None, owner=caller.owner)
        views = await saved_views.find_all(tx, version.profile_id)
    return caller.respond(SavedViewList.of(items=views))


@router.post("", response_model=SavedViewRecord, status_code=201, responses=problems(404))
async def create_saved_view(
    body: NewSavedView, caller: SeekerCaller, profile: ProfileParameter = None
) -> Response:
    """Save filters of the matches under a name."""
    filters = InboxFilters(
        body.status, body.min_score, body.arrangement, body.words or None, newest=body.newest
    )

    async def work(tx: Tx) -> SavedView:
        version = await profiles.get(tx, profile or None, owner=caller.owner)
        return await saved_views.save(
            tx, version.profile_id, body.name, filters, actor=caller.actor.name
        )

    return await caller.run_once(work, to_schema=SavedViewRecord.of, status=201)


@router.delete("/{view_id}", status_code=204)
async def remove_saved_view(
    view_id: PathId, visitor: Seeker, db: Db, profile: ProfileParameter = None
) -> None:
    """Remove a view; it can be restored for 7 days."""
    async with db.transaction() as tx:
        version = await profiles.get(tx, profile or None, owner=visitor.owner)
        await saved_views.remove(tx, version.profile_id, view_id, actor=visitor.actor.name)


@router.post("/{view_id}/restore", response_model=SavedViewRecord)
async def restore_saved_view(
    view_id: PathId, caller: SeekerCaller, profile: ProfileParameter = None
) -> Response:
    """Undo the removal of a view."""

    async def work(tx: Tx) -> SavedView:
        version = await profiles.get(tx, profile or None, owner=caller.owner)
        return await saved_views.restore(tx, version.profile_id, view_id)

    return await caller.run_once(work, to_schema=SavedViewRecord.of)
