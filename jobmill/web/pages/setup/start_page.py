"""/setup: the steps of the setup, and where to continue."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.web.auth import Seeker
from jobmill.web.pages.setup.steps import list_steps, next_path, read_setup_status
from jobmill.web.shell import Page

router = APIRouter(prefix="/setup")


@router.get("")
async def show(visitor: Seeker, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        status = await read_setup_status(tx, page.site_settings, visitor)
    return page(
        "setup/page.html",
        status=status,
        steps=list_steps(status, "/setup"),
        next_path=next_path(status),
    )
