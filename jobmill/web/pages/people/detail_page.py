"""/people/{person_id}: one person, their role, password and sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Conflict, Invalid
from jobmill.matching import job_search_erasure, profiles
from jobmill.outside import budget_ledger
from jobmill.people import keys, passwords, persons, second_factors, sessions
from jobmill.people.keys import ApiKey
from jobmill.people.persons import Person
from jobmill.people.sessions import OpenSession
from jobmill.web.api.system import people
from jobmill.web.auth import SESSION_COOKIE, Admin, Visitor
from jobmill.web.confirmation import Confirmation
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.pages.people.list_page import ROLES, read_password, read_role, show_secret
from jobmill.web.parameters import PathId
from jobmill.web.password_prompt import ConfirmedAdmin
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/people/{person_id}")

ERASE_SECONDS = 60


@router.get("")
async def show(person_id: PathId, visitor: Admin, page: Page) -> HTMLResponse:
    return await _render(page, person_id)


@router.post("/role")
async def set_role(
    person_id: PathId, visitor: ConfirmedAdmin, form: Fields, page: Page
) -> Response:
    try:
        role = read_role(form)
        async with page.db.transaction() as tx:
            await people.change_role(tx, person_id, role)
    except (Invalid, Conflict) as error:
        return await _render(page, person_id, error=error)
    # After giving up their own role, admins may no longer see this page.
    lost_access = role != "admin" and _is_self(visitor, person_id)
    return RedirectResponse("/account" if lost_access else f"/people/{person_id}?did=role", 303)


@router.post("/password")
async def set_password(
    person_id: PathId, visitor: ConfirmedAdmin, form: Fields, page: Page
) -> Response:
    """Set a password; a generated one is shown once."""
    try:
        password = read_password(form)
        async with page.db.transaction() as tx:
            person = await people.get_active(tx, person_id)
            await persons.set_password(tx, person.email, password)
    except (Invalid, Conflict) as error:
        return await _render(page, person_id, error=error)
    if form.get("how") == "generate":
        title = say("New password for %(name)s", name=person.name)
        return show_secret(page, title, person.email, password)
    return RedirectResponse(f"/people/{person_id}?did=password", 303)


@router.post("/sessions/end")
async def end_sessions(person_id: PathId, request: Request, visitor: Admin, db: Db) -> Response:
    """Sign the person out everywhere, except in the browser that sends this request."""
    async with db.transaction() as tx:
        await sessions.delete_all(tx, person_id, request.cookies.get(SESSION_COOKIE, ""))
    return RedirectResponse(f"/people/{person_id}?did=sessions", 303)


@router.post("/sessions/{session_id}/end")
async def end_session(person_id: PathId, session_id: PathId, visitor: Admin, db: Db) -> Response:
    async with db.transaction() as tx:
        await sessions.delete_one(tx, person_id, session_id)
    return RedirectResponse(f"/people/{person_id}?did=session", 303)


@router.post("/two-factor/reset")
async def reset_second_factor(person_id: PathId, visitor: ConfirmedAdmin, db: Db) -> Response:
    """For people without their phone and their recovery codes."""
    async with db.transaction() as tx:
        await persons.get(tx, person_id)
        await second_factors.reset(tx, person_id)
    return RedirectResponse(f"/people/{person_id}?did=two-factor", 303)


@router.post("/budget")
async def set_budget_share(person_id: PathId, visitor: Admin, form: Fields, page: Page) -> Response:
    try:
        share = budget_ledger.parse_share(form.get("share", ""))
        async with page.db.transaction() as tx:
            person = await people.get_active(tx, person_id)
            await budget_ledger.set_share(tx, person.id, share)
    except (Invalid, Conflict) as error:
        return await _render(page, person_id, error=error)
    return RedirectResponse(f"/people/{person_id}?did=budget", 303)


@router.get("/erase-search")
async def confirm_erase(person_id: PathId, visitor: Admin, page: Page) -> HTMLResponse:
    return await _render(page, person_id, erase=True)


@router.post("/erase-search")
async def erase_search(person_id: PathId, visitor: ConfirmedAdmin, db: Db) -> Response:
    async with db.transaction(ERASE_SECONDS) as tx:
        await persons.get(tx, person_id)
        await job_search_erasure.erase_search(tx, person_id)
    return RedirectResponse(f"/people/{person_id}?did=erased", 303)


@router.get("/end")
async def confirm_remove(person_id: PathId, visitor: Admin, page: Page) -> HTMLResponse:
    return await _render(page, person_id, confirm=True)


@router.post("/end")
async def remove_access(person_id: PathId, visitor: ConfirmedAdmin, page: Page) -> Response:
    try:
        async with page.db.transaction() as tx:
            await people.remove_access(tx, person_id)
    except Conflict as error:
        return await _render(page, person_id, error=error)
    return RedirectResponse("/people?did=ended", 303)


def _is_self(visitor: Visitor, id: int) -> bool:
    return visitor.actor.name == f"person:{id}"


async def _render(
    page: PageRenderer,
    id: int,
    *,
    confirm: bool = False,
    erase: bool = False,
    error: AppError | None = None,
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        person = await persons.get(tx, id)
        factor = await second_factors.find(tx, id)
        own_keys = await keys.find_active_of(tx, id)
        current_key = page.request.cookies.get(SESSION_COOKIE, "")
        idle = page.site_settings.session_idle
        open_sessions = await sessions.find_open(tx, id, current_key, idle=idle)
        share = await budget_ledger.find_share(tx, id)
        profile_count = len(await profiles.find_all(tx, owner=id))
    is_self = _is_self(page.visitor, id)
    shows_confirmation = confirm and person.ended_at is None
    return page(
        "people/person.html",
        person=person,
        is_self=is_self,
        sessions=open_sessions,
        roles=ROLES,
        confirmation=_confirm_erasure(person)
        if erase
        else _confirmation(person, open_sessions, own_keys, is_self)
        if shows_confirmation
        else None,
        erasing=erase,
        share=str(share or "").removeprefix("$"),
        profile_count=profile_count,
        keys=own_keys,
        factor=factor,
        min_length=passwords.MIN_LENGTH,
        max_length=passwords.MAX_LENGTH,
        notice=_notices().get(page.did),
        error=error,
    )


def _confirmation(
    person: Person,
    open_sessions: Sequence[OpenSession],
    own_keys: Sequence[ApiKey],
    is_self: bool,
) -> Confirmation:
    signed_out = (
        say("This is your own account: you are signed out immediately.")
        if is_self
        else say_many(
            "%(n)s session ends immediately.", "%(n)s sessions end immediately.", len(open_sessions)
        )
    )
    return Confirmation(
        f"/people/{person.id}/end",
        f"/people/{person.id}",
        say("Remove access for %(name)s?", name=person.name),
        say("Remove access"),
        [
            signed_out,
            say("They can no longer sign in. What they did stays in the history."),
            *_key_consequences(own_keys),
            say("Keys of other owners keep working. Also revoke those that this person knows."),
        ],
        danger=True,
    )


def _confirm_erasure(person: Person) -> Confirmation:
    return Confirmation(
        f"/people/{person.id}/erase-search",
        f"/people/{person.id}",
        say("Erase the job search of %(name)s?", name=person.name),
        say("Erase job search"),
        [
            say("Their profiles, matches, notes, saved views and added jobs are deleted for good."),
            say("Jobs and companies stay: everyone here shares them. The account stays, too."),
        ],
        danger=True,
    )


def _key_consequences(own_keys: Sequence[ApiKey]) -> list[str]:
    if not own_keys:
        return []
    names = ", ".join(key.name for key in own_keys)
    return [say("Their API keys are revoked: %(names)s.", names=names)]


def _notices() -> Mapping[str, str]:
    return {
        "role": say("Role saved. It applies from this person's next request."),
        "password": say("Password saved. The person is signed out everywhere."),
        "sessions": say("Signed out everywhere else."),
        "two-factor": say("Two-factor authentication is off for this person."),
        "session": say("That device is signed out."),
        "budget": say("Budget share saved. It applies from the next model call."),
        "erased": say("Job search erased."),
    }
