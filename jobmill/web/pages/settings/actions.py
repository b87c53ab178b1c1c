"""/settings: save the basics; save, test and remove model keys."""

from __future__ import annotations

import contextlib

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.outside import model_check
from jobmill.outside.model_endpoint import KEY_VARIABLES
from jobmill.people import model_keys, stored_settings
from jobmill.web.auth import Admin
from jobmill.web.dependencies import Db, RawDb
from jobmill.web.form import Fields
from jobmill.web.pages.settings import basics_form, overview_page
from jobmill.web.pages.settings.overview_page import SettingsFeedback
from jobmill.web.password_prompt import ConfirmedAdmin, require_confirmed
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/settings")


@router.post("/basics")
async def save_basics(form: Fields, visitor: Admin, page: Page) -> Response:
    """Save the changed fields, all or none; those that change access need the password."""
    try:
        changes = basics_form.read_changes(form, overview_page.read_sources().origins)
        if stored_settings.ACCESS_SETTINGS & changes.keys():
            await require_confirmed(page.request, visitor, page.db)
        async with page.db.transaction() as tx:
            await stored_settings.save(tx, changes)
    except (Invalid, Conflict) as error:
        return await overview_page.render(page, SettingsFeedback(error=error, typed=form))
    return RedirectResponse(f"/settings?did={'saved' if changes else 'same'}#basics", 303)


@router.post("/model-key")
async def save_key(form: Fields, visitor: ConfirmedAdmin, page: Page) -> Response:
    """Store a key in place of a variable that is not set."""
    try:
        variable = _read_variable(form.get("variable", ""))
        async with page.db.transaction() as tx:
            await model_keys.save(tx, variable, form.get("key", ""))
    except Invalid as error:
        return await overview_page.render(page, SettingsFeedback(error=error))
    # From the setup, the next step is the test there.
    if form.get("back") == "setup":
        return RedirectResponse("/setup/model", 303)
    return RedirectResponse("/settings?did=key#model-keys", 303)


@router.post("/model-key/remove")
async def remove_key(form: Fields, visitor: ConfirmedAdmin, db: Db) -> Response:
    variable = _read_variable(form.get("variable", ""))
    # If another admin removed it, it is gone, as asked.
    with contextlib.suppress(NotFound):
        async with db.transaction() as tx:
            await model_keys.remove(tx, variable)
    return RedirectResponse("/settings?did=key-removed#model-keys", 303)


@router.post("/model-test")
async def test_models(visitor: Admin, page: Page, database: RawDb) -> HTMLResponse:
    """Ask every model a minimal question, which costs a little money."""
    async with page.db.transaction() as tx:
        current = await page.site_settings.with_stored(tx)
    trials = await model_check.check_models(database, current.settings, current.environ)
    return await overview_page.render(page, SettingsFeedback(trials=trials))


def _read_variable(name: str) -> str:
    if name not in KEY_VARIABLES.values():
        raise Invalid(say("Choose the provider of the key."))
    return name
