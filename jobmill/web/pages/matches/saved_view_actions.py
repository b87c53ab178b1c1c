"""/matches/views: keeping filters under a name, and letting go of them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import RedirectResponse

from jobmill.errors import Conflict, Invalid
from jobmill.matching import profiles, saved_views
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.pages.matches import list_page
from jobmill.web.pages.matches.inbox_query import Inbox
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page

router = APIRouter(prefix="/matches/views")


@router.post("")
async def save(
    asked: Annotated[Inbox, Query()], form: Fields, visitor: Recruiter, db: Db, page: Page
) -> Response:
    """Keep the filters of the address under the name that was typed."""
    name = form.get("name", "")
    try:
        async with db.transaction() as tx:
            version = await profiles.get(tx, asked.profile)
            await saved_views.save(
                tx, version.profile_id, name, asked.filters, actor=visitor.actor.name
            )
    except (Invalid, Conflict) as error:
        return await list_page.draw(db, page, asked, name=name, error=error)
    return RedirectResponse(asked.without("after").url("/matches"), 303)


@router.post("/{view_id}/remove")
async def remove(
    view_id: PathId, asked: Annotated[Inbox, Query()], visitor: Recruiter, db: Db
) -> Response:
    async with db.transaction() as tx:
        version = await profiles.get(tx, asked.profile)
        gone = await saved_views.remove(tx, version.profile_id, view_id, actor=visitor.actor.name)
    return RedirectResponse(Inbox(profile=asked.profile).url("/matches", gone=gone.id), 303)


@router.post("/{view_id}/restore")
async def restore(
    view_id: PathId, asked: Annotated[Inbox, Query()], visitor: Recruiter, db: Db, page: Page
) -> Response:
    """Undo a removal."""
    try:
        async with db.transaction() as tx:
            version = await profiles.get(tx, asked.profile)
            view = await saved_views.restore(tx, version.profile_id, view_id)
    except Conflict as error:
        return await list_page.draw(db, page, asked, error=error)
    return RedirectResponse(Inbox.of(view.filters, asked.profile).url("/matches"), 303)
