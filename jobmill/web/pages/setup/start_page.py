"""/setup: what is done, and where one goes on."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.web.dependencies import Db
from jobmill.web.pages.setup import steps
from jobmill.web.shell import Page
from jobmill.web.site_settings import CurrentSiteSettings

router = APIRouter(prefix="/setup")


@router.get("")
async def show(db: Db, page: Page, site_settings: CurrentSiteSettings) -> HTMLResponse:
    async with db.transaction() as tx:
        standing = await steps.read(tx, site_settings)
    return page(
        "setup/page.html",
        standing=standing,
        steps=steps.line(standing, "/setup"),
        goes_on=steps.next_path(standing),
    )
