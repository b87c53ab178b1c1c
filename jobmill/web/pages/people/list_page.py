"""/people: people and API keys, the form for a new person, and the history of administrative changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Conflict, Invalid
from jobmill.people import changes, keys, passwords, persons, sessions
from jobmill.people.persons import Role
from jobmill.web.auth import Admin
from jobmill.web.dependencies import no_store
from jobmill.web.form import Fields
from jobmill.web.parameters import MAX_ID
from jobmill.web.password_prompt import ConfirmedAdmin
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/people")

ROLES: tuple[Role, ...] = get_args(Role)
MAX_NAME_LENGTH = 200
MAX_CHANGES = 5
"""Changes on this page; /people/changes has all."""
CHANGES_PAGE_SIZE = 50


@router.get("")
async def show(visitor: Admin, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        people = await persons.find_all(tx)
        all_keys = await keys.find_all(tx)
        idle = page.site_settings.session_idle
        open_sessions = await sessions.find_open(tx, idle=idle)
        recent_changes = await changes.find_recent(tx, limit=MAX_CHANGES)
    return page(
        "people/page.html",
        people=[person for person in people if not person.ended_at],
        deactivated=[person for person in people if person.ended_at],
        keys=[key for key in all_keys if key.is_active],
        ended_keys=[key for key in all_keys if not key.is_active],
        session_counts=Counter(session.person_id for session in open_sessions),
        changes=recent_changes,
        notice=_notices().get(page.did),
    )


def _notices() -> Mapping[str, str]:
    return {
        "added": say("Person added. They can sign in now."),
        "ended": say("Access removed. The person is signed out and their API keys are revoked."),
        "key-ended": say("Key revoked."),
    }


@router.get("/changes")
async def show_changes(
    visitor: Admin, page: Page, before: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None
) -> HTMLResponse:
    limit = CHANGES_PAGE_SIZE
    async with page.db.transaction() as tx:
        rows = await changes.find_recent(tx, before=before, limit=limit + 1)
    next_before = rows[limit - 1].id if len(rows) > limit else None
    return page("people/changes.html", changes=rows[:limit], before=before, next_before=next_before)


@router.get("/new")
async def show_form(visitor: Admin, page: Page) -> HTMLResponse:
    return _render_form(page, {})


@router.post("")
async def add(visitor: ConfirmedAdmin, form: Fields, page: Page) -> Response:
    """Add a person; a generated password is shown once."""
    try:
        name, role = read_name(form), read_role(form)
        password = read_password(form)
        async with page.db.transaction() as tx:
            person = await persons.add(tx, name, form.get("email", ""), role, password)
    except (Invalid, Conflict) as error:
        return _render_form(page, form, error)
    if form.get("how") == "generate":
        title = say("%(name)s can sign in now", name=person.name)
        return show_secret(page, title, person.email, password)
    return RedirectResponse("/people?did=added", 303)


def _render_form(
    page: PageRenderer, form: Mapping[str, str], error: AppError | None = None
) -> HTMLResponse:
    return render_form(
        page,
        "people/new.html",
        {"name": "", "email": "", "role": "viewer", "how": "generate", **form},
        error,
        min_length=passwords.MIN_LENGTH,
        max_length=passwords.MAX_LENGTH,
    )


def render_form(
    page: PageRenderer,
    template: str,
    form: Mapping[str, str],
    error: AppError | None,
    **values: Any,
) -> HTMLResponse:
    """A form for a new person or key, with the error if it was refused."""
    return page(
        template,
        roles=ROLES,
        form=form,
        error=error,
        **values,
    )


def read_name(form: Mapping[str, str]) -> str:
    """The name of a person or a key."""
    name = form.get("name", "")
    if len(name) > MAX_NAME_LENGTH:
        raise Invalid(say("The name can have up to %(n)s characters.", n=MAX_NAME_LENGTH))
    return name


def read_role(form: Mapping[str, str]) -> Role:
    role = form.get("role")
    if role not in ROLES:
        raise Invalid(say("Choose a role: viewer, recruiter or admin."))
    return role


def read_password(form: Mapping[str, str]) -> str:
    """A generated password, or the one that was typed twice."""
    if form.get("how") == "generate":
        return passwords.generate()
    if form.get("password", "") != form.get("again", ""):
        raise Invalid(say("The two passwords do not match. Type the same password twice."))
    return form.get("password", "")


def show_secret(
    page: PageRenderer, title: str, owner: str, secret: str, kind: str = "password"
) -> HTMLResponse:
    """A page with a new password or key, which no cache may store."""
    return no_store(page("people/secret.html", title=title, owner=owner, secret=secret, kind=kind))
