"""/setup/model: whether a language model is available, which is optional."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.outside import model_check
from jobmill.outside.model_check import ModelTrial
from jobmill.web.auth import Admin
from jobmill.web.dependencies import RawDb
from jobmill.web.pages.settings.overview_page import read_model_keys
from jobmill.web.pages.setup.steps import MODEL, list_steps, read_setup_status
from jobmill.web.shell import Page, PageRenderer

router = APIRouter(prefix=MODEL)


@router.get("")
async def show(visitor: Admin, page: Page) -> HTMLResponse:
    return await _render(page)


@router.post("")
async def check(visitor: Admin, page: Page, database: RawDb) -> HTMLResponse:
    """Ask every model a minimal question, which costs a little money."""
    async with page.db.transaction() as tx:
        current = await page.site_settings.with_stored(tx)
    trials = await model_check.check_models(database, current.settings, current.environ)
    return await _render(page, trials)


async def _render(page: PageRenderer, trials: Sequence[ModelTrial] = ()) -> HTMLResponse:
    async with page.db.transaction() as tx:
        status = await read_setup_status(tx, page.site_settings, page.visitor)
        keys = await read_model_keys(tx, page.site_settings.environ)
        site_settings = await page.site_settings.with_stored(tx)
    return page(
        "setup/model.html",
        steps=list_steps(status, MODEL),
        models=[(tier, model_check.key_variable(tier.model)) for tier in site_settings.tiers],
        has_models=status.has_models,
        caps=site_settings.caps,
        trials=trials,
        keys=keys,
    )
