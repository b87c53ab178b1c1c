"""/matches/views: save the filters of the inbox as a named view, remove and restore views."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import RedirectResponse

from jobmill.errors import Conflict, Invalid
from jobmill.matching import profiles, saved_views
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.pages.matches import list_page
from jobmill.web.pages.matches.inbox_query import InboxQuery
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page

router = APIRouter(prefix="/matches/views")

ViewQuery = Annotated[InboxQuery, Query()]


@router.post("")
async def save(query: ViewQuery, form: Fields, visitor: Seeker, page: Page) -> Response:
    """Save the filters of the query under the name from the form."""
    name = form.get("name", "")
    try:
        async with page.db.transaction() as tx:
            version = await profiles.get(tx, query.profile, owner=visitor.owner)
            await saved_views.save(
                tx, version.profile_id, name, query.filters, actor=visitor.actor.name
            )
    except (Invalid, Conflict) as error:
        return await list_page.render(page, query, view_name=name, error=error)
    return RedirectResponse(query.without("after").url("/matches"), 303)


@router.post("/{view_id}/remove")
async def remove(view_id: PathId, query: ViewQuery, visitor: Seeker, db: Db) -> Response:
    async with db.transaction() as tx:
        version = await profiles.get(tx, query.profile, owner=visitor.owner)
        view = await saved_views.remove(tx, version.profile_id, view_id, actor=visitor.actor.name)
    return RedirectResponse(InboxQuery(profile=query.profile).url("/matches", gone=view.id), 303)


@router.post("/{view_id}/restore")
async def restore(view_id: PathId, query: ViewQuery, visitor: Seeker, page: Page) -> Response:
    """Undo the removal of a view."""
    try:
        async with page.db.transaction() as tx:
            version = await profiles.get(tx, query.profile, owner=visitor.owner)
            view = await saved_views.restore(tx, version.profile_id, view_id)
    except Conflict as error:
        return await list_page.render(page, query, error=error)
    return RedirectResponse(
        InboxQuery.from_filters(view.filters, query.profile).url("/matches"), 303
    )
