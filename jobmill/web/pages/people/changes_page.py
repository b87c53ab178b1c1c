"""/people/changes: who changed how this house is run."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from jobmill.people import changes
from jobmill.web.auth import Admin
from jobmill.web.dependencies import Db
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page

router = APIRouter(prefix="/people/changes")

A_PAGE = 50


@router.get("")
async def show(
    visitor: Admin,
    db: Db,
    page: Page,
    before: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None,
) -> HTMLResponse:
    async with db.transaction() as tx:
        found = await changes.find_recent(tx, before=before, limit=A_PAGE + 1)
    return page(
        "people/changes.html",
        changes=found[:A_PAGE],
        before=before,
        more=found[A_PAGE - 1].id if len(found) > A_PAGE else None,
    )
