"""/people/keys: create and revoke API keys."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import get_args

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Invalid, NotFound
from jobmill.people import keys, persons
from jobmill.people.keys import Scope
from jobmill.people.persons import Person
from jobmill.web.auth import Admin
from jobmill.web.confirmation import Confirmation
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields, read_optional_whole_number
from jobmill.web.pages.people.list_page import read_name, render_form, show_secret
from jobmill.web.parameters import PathId
from jobmill.web.password_prompt import ConfirmedAdmin
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/people/keys")


@router.get("")
async def show(visitor: Admin) -> Response:
    """Keys are listed with the people; a reload after creating a key leads here."""
    return RedirectResponse("/people", 303)


SCOPES: tuple[Scope, ...] = get_args(Scope)
LIFETIMES = (30, 90, 365)
"""Days."""


@router.get("/new")
async def show_key_form(visitor: Admin, page: Page) -> HTMLResponse:
    owner = visitor.actor.name.partition("person:")[2]
    return await _render_key_form(page, {"owner": owner})


@router.post("")
async def create_key(visitor: ConfirmedAdmin, form: Fields, page: Page) -> Response:
    """Create a key and show it once."""
    try:
        name, scope = read_name(form), _read_scope(form)
        owner_id, lifetime = _read_owner(form), _read_lifetime(form)
        async with page.db.transaction() as tx:
            new_key = await keys.add(tx, name, scope, owner_id=owner_id, lifetime=lifetime)
    except (Invalid, NotFound) as error:
        return await _render_key_form(page, form, error)
    title = say("API key created: %(name)s", name=new_key.name)
    return show_secret(page, title, new_key.name, new_key.key, "key")


def _read_scope(form: Mapping[str, str]) -> Scope:
    scope = form.get("scope")
    if scope not in SCOPES:
        raise Invalid(say("Choose what the key may do."))
    return scope


def _read_owner(form: Mapping[str, str]) -> int | None:
    return read_optional_whole_number(form, "owner", say("Choose an owner from the list."))


def _read_lifetime(form: Mapping[str, str]) -> dt.timedelta | None:
    days = form.get("days", "")
    if days == "never":
        return None
    if days not in map(str, LIFETIMES):
        raise Invalid(say("Choose when the key expires."))
    return dt.timedelta(days=int(days))


async def _render_key_form(
    page: PageRenderer, form: Mapping[str, str], error: AppError | None = None
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        owners: list[Person] = [
            person for person in await persons.find_all(tx) if not person.ended_at
        ]
    return render_form(
        page,
        "people/new_key.html",
        {"name": "", "scope": "read", "owner": "", "days": "90", **form},
        error,
        scopes=SCOPES,
        lifetimes=LIFETIMES,
        owners=owners,
    )


@router.get("/{key_id}/end")
async def confirm_revoke(key_id: PathId, visitor: Admin, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
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
