"""/people/{person_id}: one person, and what an admin changes of them."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.people import passwords, persons, sessions
from jobmill.people.persons import Person
from jobmill.web import html_errors
from jobmill.web.auth import SESSION_COOKIE, Admin, Visitor
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import Fields
from jobmill.web.pages.people.list_page import ROLES, read_password, read_role, show_once
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/people/{person_id}")


@router.get("")
async def show(
    person_id: PathId, request: Request, visitor: Admin, db: Db, page: Page, did: str = ""
) -> HTMLResponse:
    return await _page(request, db, page, person_id, did=did)


@router.post("/role")
async def set_role(
    person_id: PathId, request: Request, visitor: Admin, form: Fields, db: Db, page: Page
) -> Response:
    try:
        role = read_role(form)
        async with db.transaction() as tx:
            person = await _present(tx, person_id)
            if role != "admin":
                await persons.require_other_admin(tx, person_id)
            await persons.set_role(tx, person.email, role)
    except (Invalid, Conflict) as error:
        return await _page(request, db, page, person_id, error=error)
    # Who is no admin any more may not see where they came from.
    away = role != "admin" and _is(visitor, person_id)
    return RedirectResponse("/account" if away else f"/people/{person_id}?did=role", 303)


@router.post("/password")
async def set_password(
    person_id: PathId, request: Request, visitor: Admin, form: Fields, db: Db, page: Page
) -> Response:
    """Give them a new one; a password that we made is shown this once."""
    try:
        password = read_password(form)
        async with db.transaction() as tx:
            person = await _present(tx, person_id)
            await persons.set_password(tx, person.email, password)
    except (Invalid, Conflict) as error:
        return await _page(request, db, page, person_id, error=error)
    if form.get("how") == "generate":
        title = say("%(name)s has a new password", name=person.name)
        return show_once(page, title, person.email, password)
    return RedirectResponse(f"/people/{person_id}?did=password", 303)


@router.post("/sessions/end")
async def end_sessions(person_id: PathId, request: Request, visitor: Admin, db: Db) -> Response:
    """Sign them out everywhere; who does it to themselves stays here."""
    async with db.transaction() as tx:
        await sessions.delete_all(tx, person_id, except_id=request.cookies.get(SESSION_COOKIE, ""))
    return RedirectResponse(f"/people/{person_id}?did=sessions", 303)


@router.get("/end")
async def ask_end(
    person_id: PathId, request: Request, visitor: Admin, db: Db, page: Page
) -> HTMLResponse:
    """What follows, before anything is done."""
    return await _page(request, db, page, person_id, ask=True)


@router.post("/end")
async def end(person_id: PathId, request: Request, visitor: Admin, db: Db, page: Page) -> Response:
    try:
        async with db.transaction() as tx:
            person = await _present(tx, person_id)
            await persons.require_other_admin(tx, person_id)
            await persons.deactivate(tx, person.email)
    except Conflict as error:
        return await _page(request, db, page, person_id, error=error)
    return RedirectResponse("/people?did=ended", 303)


async def _present(tx: Tx, id: int) -> Person:
    """One who may sign in; Conflict for one who ended."""
    person = await persons.get(tx, id)
    if person.ended_at:
        raise Conflict(say("They ended already. Add them anew to let them in again."))
    return person


def _is(visitor: Visitor, id: int) -> bool:
    return visitor.actor.name == f"person:{id}"


async def _page(
    request: Request,
    db: RequestDatabase,
    page: PageRenderer,
    id: int,
    *,
    ask: bool = False,
    did: str = "",
    error: AppError | None = None,
) -> HTMLResponse:
    async with db.transaction() as tx:
        person = await persons.get(tx, id)
        found = await sessions.find_open(tx, id, request.cookies.get(SESSION_COOKIE, ""))
    return page(
        "people/person.html",
        html_errors.status_code(error) if error else 200,
        person=person,
        sessions=found,
        roles=ROLES,
        ask=ask and person.ended_at is None,
        shortest=passwords.MIN_LENGTH,
        longest=passwords.MAX_LENGTH,
        told=_told(did),
        error=str(error) if error else None,
    )


def _told(did: str) -> str:
    match did:
        case "role":
            return say("The role is changed, from their next request on.")
        case "password":
            return say("The password is changed, and they are signed out everywhere.")
        case "sessions":
            return say("They are signed out everywhere else.")
        case _:
            return ""
