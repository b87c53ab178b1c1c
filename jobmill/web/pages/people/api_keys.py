"""/people/keys: what programs show in place of a password."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Invalid
from jobmill.people import keys
from jobmill.web import html_errors
from jobmill.web.auth import Admin
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.pages.people.list_page import ROLES, read_name, read_role, show_once
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/people/keys")


@router.get("")
async def show(visitor: Admin) -> Response:
    """Keys stand beside people; who reloads the page of a new one comes here."""
    return RedirectResponse("/people", 303)


@router.get("/new")
async def ask(visitor: Admin, page: Page) -> HTMLResponse:
    return _form(page, {})


@router.post("")
async def add(visitor: Admin, form: Fields, db: Db, page: Page) -> Response:
    """Make a key, and show it this once."""
    try:
        name, role = read_name(form), read_role(form)
        async with db.transaction() as tx:
            made = await keys.add(tx, name, role)
    except Invalid as error:
        return _form(page, form, error)
    return show_once(page, say("A key for %(name)s", name=made.name), made.name, made.key, "key")


def _form(
    page: PageRenderer, form: Mapping[str, str], error: AppError | None = None
) -> HTMLResponse:
    return page(
        "people/new_key.html",
        html_errors.status_code(error) if error else 200,
        roles=ROLES,
        typed={"name": "", "role": "viewer", **form},
        error=str(error) if error else None,
    )


@router.get("/{key_id}/end")
async def ask_end(key_id: PathId, visitor: Admin, db: Db, page: Page) -> HTMLResponse:
    """What follows, before anything is done."""
    async with db.transaction() as tx:
        key = await keys.get(tx, key_id)
    return page("people/key.html", key=key)


@router.post("/{key_id}/end")
async def end(key_id: PathId, visitor: Admin, db: Db) -> Response:
    async with db.transaction() as tx:
        await keys.revoke(tx, key_id)
    return RedirectResponse("/people?did=key-ended", 303)
