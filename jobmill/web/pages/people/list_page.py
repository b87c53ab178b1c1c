"""/people: the list, and a new person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import get_args

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Conflict, Invalid
from jobmill.people import changes, keys, passwords, persons, sessions
from jobmill.people.persons import Role
from jobmill.web import html_errors
from jobmill.web.auth import Admin
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/people")

ROLES: tuple[Role, ...] = get_args(Role)
LONGEST_NAME = 200
LAST = 5
"""Changes that are shown beside the people; the others have a page."""


@router.get("")
async def show(visitor: Admin, db: Db, page: Page, did: str = "") -> HTMLResponse:
    async with db.transaction() as tx:
        people = await persons.find_all(tx)
        found = await keys.find_all(tx)
        signed_in = Counter(one.person_id for one in await sessions.find_open(tx))
        last = await changes.find_recent(tx, limit=LAST)
    return page(
        "people/page.html",
        people=[one for one in people if not one.ended_at],
        gone=[one for one in people if one.ended_at],
        keys=[one for one in found if not one.ended_at],
        ended_keys=[one for one in found if one.ended_at],
        signed_in=signed_in,
        changes=last,
        told=_told(did),
    )


def _told(did: str) -> str:
    match did:
        case "added":
            return say("They may sign in now.")
        case "ended":
            return say("They are signed out everywhere and can no longer sign in.")
        case "key-ended":
            return say("The key opens nothing any more.")
        case _:
            return ""


@router.get("/new")
async def ask(visitor: Admin, page: Page) -> HTMLResponse:
    return _form(page, {})


@router.post("")
async def add(visitor: Admin, form: Fields, db: Db, page: Page) -> Response:
    """Let somebody sign in; a password that we made is shown this once."""
    try:
        name, role = read_name(form), read_role(form)
        password = read_password(form)
        async with db.transaction() as tx:
            made = await persons.add(tx, name, form.get("email", ""), role, password)
    except (Invalid, Conflict) as error:
        return _form(page, form, error)
    if form.get("how") == "generate":
        return show_once(
            page, say("%(name)s may sign in now", name=made.name), made.email, password
        )
    return RedirectResponse("/people?did=added", 303)


def _form(
    page: PageRenderer, form: Mapping[str, str], error: AppError | None = None
) -> HTMLResponse:
    return page(
        "people/new.html",
        html_errors.status_code(error) if error else 200,
        roles=ROLES,
        typed={"name": "", "email": "", "role": "viewer", "how": "generate", **form},
        shortest=passwords.MIN_LENGTH,
        longest=passwords.MAX_LENGTH,
        error=str(error) if error else None,
    )


def read_name(form: Mapping[str, str]) -> str:
    """What somebody or something is called."""
    name = form.get("name", "")
    if len(name) > LONGEST_NAME:
        raise Invalid(say("A name has %(n)s characters at most.", n=LONGEST_NAME))
    return name


def read_role(form: Mapping[str, str]) -> Role:
    role = form.get("role")
    if role not in ROLES:
        raise Invalid(say("Choose a role: viewer, recruiter or admin."))
    return role


def read_password(form: Mapping[str, str]) -> str:
    """A new one of ours, or what was typed alike both times."""
    if form.get("how") == "generate":
        return passwords.generate()
    if form.get("password", "") != form.get("again", ""):
        raise Invalid(say("The password was not typed alike both times."))
    return form.get("password", "")


def show_once(
    page: PageRenderer, title: str, whose: str, secret: str, kind: str = "password"
) -> HTMLResponse:
    """A secret that nobody, and no cache, shows again."""
    response = page("people/once.html", title=title, whose=whose, secret=secret, kind=kind)
    response.headers["Cache-Control"] = "no-store"
    return response
