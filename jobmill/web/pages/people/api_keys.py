"""/people/keys: create and revoke API keys."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Invalid
from jobmill.people import keys
from jobmill.web.auth import Admin
from jobmill.web.confirmation import Confirmation
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.pages.people.list_page import read_name, read_role, render_form, show_secret
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/people/keys")


@router.get("")
async def show(visitor: Admin) -> Response:
    """Keys are listed with the people; a reload after creating a key leads here."""
    return RedirectResponse("/people", 303)


@router.get("/new")
async def show_key_form(visitor: Admin, page: Page) -> HTMLResponse:
    return _render_key_form(page, {})


@router.post("")
async def create_key(visitor: Admin, form: Fields, db: Db, page: Page) -> Response:
    """Create a key and show it once."""
    try:
        name, role = read_name(form), read_role(form)
        async with db.transaction() as tx:
            new_key = await keys.add(tx, name, role)
    except Invalid as error:
        return _render_key_form(page, form, error)
    title = say("API key created: %(name)s", name=new_key.name)
    return show_secret(page, title, new_key.name, new_key.key, "key")


def _render_key_form(
    page: PageRenderer, form: Mapping[str, str], error: AppError | None = None
) -> HTMLResponse:
    return render_form(page, "people/new_key.html", {"name": "", "role": "viewer", **form}, error)


@router.get("/{key_id}/end")
async def confirm_revoke(key_id: PathId, visitor: Admin, db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        key = await keys.get(tx, key_id)
    confirmation = Confirmation(
        f"/people/keys/{key_id}/end",
        "/people",
        say("Revoke this key?"),
        say("Revoke key"),
        [
            say("Requests with this key are refused from now on. This cannot be undone."),
            say("What was done with it stays in the history."),
        ],
        danger=True,
    )
    return page("people/key.html", key=key, confirmation=confirmation)


@router.post("/{key_id}/end")
async def revoke(key_id: PathId, visitor: Admin, db: Db) -> Response:
    async with db.transaction() as tx:
        await keys.revoke(tx, key_id)
    return RedirectResponse("/people?did=key-ended", 303)
