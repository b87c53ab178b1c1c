"""/setup/model: whether a language model helps, which is never needed."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.outside import model_check
from jobmill.outside.model_check import ModelTrial
from jobmill.web.auth import Admin, Recruiter
from jobmill.web.dependencies import Db, RawDb, RequestDatabase
from jobmill.web.pages.setup import steps
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.site_settings import CurrentSiteSettings, SiteSettings

router = APIRouter(prefix="/setup/model")


@router.get("")
async def show(
    visitor: Recruiter, db: Db, page: Page, site_settings: CurrentSiteSettings
) -> HTMLResponse:
    return await _show(db, page, site_settings)


@router.post("")
async def check(
    visitor: Admin, db: Db, page: Page, site_settings: CurrentSiteSettings, database: RawDb
) -> HTMLResponse:
    """Ask each model the smallest question there is, which costs money."""
    tried = await model_check.check_models(database, site_settings.settings, site_settings.environ)
    return await _show(db, page, site_settings, tried)


async def _show(
    db: RequestDatabase,
    page: PageRenderer,
    site_settings: SiteSettings,
    tried: Sequence[ModelTrial] = (),
) -> HTMLResponse:
    async with db.transaction() as tx:
        standing = await steps.read(tx, site_settings)
    return page(
        "setup/model.html",
        standing=standing,
        steps=steps.line(standing, "/setup/model"),
        seats=[(seat, model_check.key_variable(seat.model)) for seat in site_settings.seats],
        some=standing.models,
        caps=site_settings.caps,
        tried=tried,
    )
