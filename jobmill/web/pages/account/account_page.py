"""/account: one's own password, and where one is signed in."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Conflict, Invalid, RateLimited, Unauthenticated
from jobmill.people import passwords, persons, sessions
from jobmill.people.persons import Person
from jobmill.people.sessions import OpenSession
from jobmill.web import html_errors, sign_in
from jobmill.web.auth import SESSION_COOKIE, Viewer
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import Fields
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/account")


@router.get("")
async def show(request: Request, visitor: Viewer, db: Db, page: Page, did: str = "") -> Response:
    return await _account(request, db, page, did=did)


@router.post("/password")
async def change_password(
    request: Request, visitor: Viewer, form: Fields, db: Db, page: Page
) -> Response:
    """Set a new one; every other session ends, and this one goes on under a new key."""
    try:
        person = await _myself(request, db)
        new = _twice(form)
        await _check_old(request, db, person, form.get("old", ""))
        async with db.transaction() as tx:
            await persons.set_password(tx, person.email, new)
            session = await sessions.create_after_password_change(tx, person)
    except (Invalid, Conflict, RateLimited) as error:
        return await _account(request, db, page, error=error)
    response = RedirectResponse("/account?did=password", 303)
    sign_in.set_session_cookie(request, response, session)
    return response


@router.post("/sessions/end")
async def end_others(request: Request, visitor: Viewer, db: Db, page: Page) -> Response:
    try:
        person = await _myself(request, db)
    except Conflict as error:
        return await _account(request, db, page, error=error)
    async with db.transaction() as tx:
        await sessions.delete_all(tx, person.id, except_id=request.cookies.get(SESSION_COOKIE, ""))
    return RedirectResponse("/account?did=sessions", 303)


async def _check_old(request: Request, db: RequestDatabase, person: Person, old: str) -> None:
    try:
        await sign_in.check_password(request, db, person.email, old)
    except Unauthenticated as error:
        raise Invalid(say("That is not your password of now.")) from error


def _twice(form: Fields) -> str:
    """What was typed as the new password, if it was typed alike both times."""
    if form.get("new", "") != form.get("again", ""):
        raise Invalid(say("The new password was not typed alike both times."))
    return form.get("new", "")


async def _myself(request: Request, db: RequestDatabase) -> Person:
    """Whose session this is; Conflict for those who need none, and for keys."""
    async with db.transaction() as tx:
        session = await sessions.find(tx, request.cookies.get(SESSION_COOKIE, ""))
        if session is None:
            raise Conflict(say("Nobody is signed in here, so there is no password to change."))
        return await persons.get(tx, session.person_id)


async def _account(
    request: Request,
    db: RequestDatabase,
    page: PageRenderer,
    *,
    did: str = "",
    error: AppError | None = None,
) -> HTMLResponse:
    own = request.cookies.get(SESSION_COOKIE, "")
    person: Person | None = None
    found: list[OpenSession] = []
    async with db.transaction() as tx:
        if session := await sessions.find(tx, own):
            person = await persons.get(tx, session.person_id)
            found = await sessions.find_open(tx, person.id, own)
    return page(
        "account/page.html",
        html_errors.status_code(error) if error else 200,
        person=person,
        sessions=found,
        shortest=passwords.MIN_LENGTH,
        longest=passwords.MAX_LENGTH,
        told=_told(did),
        error=str(error) if error else None,
    )


def _told(did: str) -> str:
    match did:
        case "password":
            return say(
                "Your password is changed. Wherever else you were signed in, you no longer are."
            )
        case "sessions":
            return say("You are signed in nowhere else now.")
        case _:
            return ""
