"""/people/changes: the history of administrative changes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from jobmill.people import changes
from jobmill.web.auth import Admin
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page

router = APIRouter(prefix="/people/changes")

PAGE_SIZE = 50


@router.get("")
async def show(
    visitor: Admin, page: Page, before: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        rows = await changes.find_recent(tx, before=before, limit=PAGE_SIZE + 1)
    return page(
        "people/changes.html",
        changes=rows[:PAGE_SIZE],
        before=before,
        next_before=rows[PAGE_SIZE - 1].id if len(rows) > PAGE_SIZE else None,
    )
