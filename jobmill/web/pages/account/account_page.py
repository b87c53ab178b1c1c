"""/account: change your password, and see where you are signed in."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Invalid, RateLimited, Unauthenticated
from jobmill.outside import budget_ledger
from jobmill.people import passwords, persons, second_factors, sessions
from jobmill.people.persons import Person
from jobmill.people.second_factors import SecondFactor
from jobmill.people.sessions import OpenSession
from jobmill.web import sign_in
from jobmill.web.account_holder import AccountHolder
from jobmill.web.auth import SESSION_COOKIE, SignedIn
from jobmill.web.budget_report import BudgetUsage
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import Fields
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.site_settings import SiteSettings
from jobmill.web.translations import say

router = APIRouter(prefix="/account")


@router.get("")
async def show(visitor: SignedIn, page: Page) -> Response:
    return await _render(page)


@router.post("/password")
async def change_password(person: AccountHolder, form: Fields, page: Page) -> Response:
    """Set a new password; all other sessions end, and this one gets a new key."""
    try:
        password = _read_new_password(form)
        await _check_current_password(page.request, page.db, person, form.get("old", ""))
        async with page.db.transaction() as tx:
            await persons.set_password(tx, person.email, password)
            key = await sessions.create_after_password_change(
                tx, person, **sign_in.describe_client(page.request)
            )
    except (Invalid, RateLimited) as error:
        return await _render(page, error)
    response = RedirectResponse("/account?did=password", 303)
    sign_in.set_session_cookie(page.request, response, key)
    return response


@router.post("/sessions/end")
async def end_other_sessions(request: Request, person: AccountHolder, db: Db) -> Response:
    async with db.transaction() as tx:
        await sessions.delete_all(tx, person.id, request.cookies.get(SESSION_COOKIE, ""))
    return RedirectResponse("/account?did=sessions", 303)


@router.post("/sessions/{session_id}/end")
async def end_session(session_id: PathId, person: AccountHolder, db: Db) -> Response:
    async with db.transaction() as tx:
        await sessions.delete_one(tx, person.id, session_id)
    return RedirectResponse("/account?did=session", 303)


async def _check_current_password(
    request: Request, db: RequestDatabase, person: Person, password: str
) -> None:
    try:
        await sign_in.check_password(request, db, person.email, password)
    except Unauthenticated as error:
        raise Invalid(say("That is not your current password.")) from error


def _read_new_password(form: Fields) -> str:
    if form.get("new", "") != form.get("again", ""):
        raise Invalid(say("The two new passwords do not match. Type the same password twice."))
    return form.get("new", "")


async def _render(page: PageRenderer, error: AppError | None = None) -> HTMLResponse:
    key = page.request.cookies.get(SESSION_COOKIE, "")
    person: Person | None = None
    open_sessions: list[OpenSession] = []
    factor: SecondFactor | None = None
    usage: BudgetUsage | None = None
    async with page.db.transaction() as tx:
        if session := await sessions.find(tx, key):
            person = await persons.get(tx, session.person_id)
            factor = await second_factors.find(tx, person.id)
            idle = page.site_settings.session_idle
            open_sessions = await sessions.find_open(tx, person.id, key, idle=idle)
            usage = await _read_usage(tx, person.id, page.site_settings)
    return page(
        "account/page.html",
        person=person,
        factor=factor,
        sessions=open_sessions,
        usage=usage,
        min_length=passwords.MIN_LENGTH,
        max_length=passwords.MAX_LENGTH,
        notice=_notices().get(page.did),
        error=error,
    )


async def _read_usage(tx: Tx, person_id: int, site_settings: SiteSettings) -> BudgetUsage | None:
    """What models cost today of the person's share; None if they have no share."""
    caps = (await site_settings.with_stored(tx)).caps
    for row in await budget_ledger.read_by_person(tx, person_id):
        if row.share:
            return BudgetUsage(float(row.spent), 0, float(row.share.in_dollars(caps.day)))
    return None


def _notices() -> Mapping[str, str]:
    return {
        "password": say("Password changed. You are signed out everywhere else."),
        "sessions": say("You are signed out everywhere else."),
        "session": say("That device is signed out."),
    }
