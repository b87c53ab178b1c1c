"""/rotation/searches: what is looked for at sites that gather postings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.boards import api_keys
from jobmill.boards.adapters import PLATFORMS
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.rotation import searches
from jobmill.rotation.searches import SavedSearch
from jobmill.web import html_errors
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields, read_whole_number
from jobmill.web.pages.rotation import labels
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/rotation/searches")

LONGEST = 200
BLANK = {"platform": "", "keywords": "", "locations": "", "priority": "50"}


@router.get("")
async def show(db: Db, page: Page, did: str = "") -> HTMLResponse:
    async with db.transaction() as tx:
        found = await searches.list_all(tx)
    return page("rotation/searches.html", searches=found, told=told(did), labels=labels)


def told(did: str) -> str | None:
    return {
        "added": say("The search is kept; each pair of words and place takes its turn."),
        "saved": say("The search is changed."),
        "on": say("The search is on."),
        "off": say("The search is off; its slices rest unless another search wants them."),
        "removed": say("The search is gone. The listings that it found stay."),
    }.get(did)


@router.get("/new")
async def add(visitor: Recruiter, page: Page) -> HTMLResponse:
    return _form(page, BLANK)


@router.post("/new")
async def keep(visitor: Recruiter, form: Fields, db: Db, page: Page) -> Response:
    try:
        wanted, priority = _read(form)
        async with db.transaction() as tx:
            await searches.add(tx, *wanted, priority=priority)
    except (Invalid, Conflict) as error:
        return _form(page, BLANK | dict(form), error=error)
    return _back("added")


@router.get("/{search_id}")
async def edit(search_id: PathId, visitor: Recruiter, db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        search = await searches.get(tx, search_id)
    return _form(page, _write(search), search)


@router.post("/{search_id}")
async def save(search_id: PathId, visitor: Recruiter, form: Fields, db: Db, page: Page) -> Response:
    async with db.transaction() as tx:
        search = await searches.get(tx, search_id)
    try:
        wanted, priority = _read(form)
        async with db.transaction() as tx:
            await searches.replace_search(tx, search_id, *wanted, priority=priority)
    except (Invalid, Conflict) as error:
        return _form(page, BLANK | dict(form), search, error)
    return _back("saved")


@router.get("/{search_id}/remove")
async def ask(search_id: PathId, visitor: Recruiter, db: Db, page: Page) -> HTMLResponse:
    """What would follow, before anything is done."""
    async with db.transaction() as tx:
        search = await searches.get(tx, search_id)
        own = await searches.count_exclusive_slices(tx, search_id)
    return page("rotation/remove.html", search=search, own=own, labels=labels)


@router.post("/{search_id}/remove")
async def remove(search_id: PathId, visitor: Recruiter, db: Db) -> Response:
    async with db.transaction() as tx:
        await searches.remove(tx, search_id)
    return _back("removed")


@router.post("/{search_id}/{turn}")
async def switch(
    search_id: PathId, turn: Literal["on", "off"], visitor: Recruiter, db: Db
) -> Response:
    async with db.transaction() as tx:
        await searches.update_search(tx, search_id, enabled=turn == "on")
    return _back(turn)


def _back(did: str) -> Response:
    return RedirectResponse(f"/rotation/searches?did={did}", 303)


def _form(
    page: Page,
    typed: Mapping[str, str],
    search: SavedSearch | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    status = html_errors.status_code(error) if error else 200
    return page(
        "rotation/search.html",
        status,
        search=search,
        typed=typed,
        error=error,
        platforms=searchable(),
        labels=labels,
    )


def searchable() -> list[tuple[str, str]]:
    """Platforms that take words, and what each still needs."""
    return [
        (one.name, f"{one.title} ({say('needs a key')})" if unset else one.title)
        for one in PLATFORMS
        if not one.inventory and not one.disabled and "keywords" in one.config.model_fields
        for unset in [api_keys.missing(one, None, os.environ)]
    ]


def _read(form: Fields) -> tuple[tuple[str, list[str], list[str]], int]:
    """Where, what and in which places, and how much it matters."""
    if not form.get("platform"):
        raise Invalid(say("Choose a platform."))
    looked = _lines(form.get("keywords", ""))
    if not looked:
        raise Invalid(say("Say what is looked for, one search a line."))
    priority = read_whole_number(
        form, "priority", say("A priority is a whole number from 0 to 100.")
    )
    if priority > searches.MAX_PRIORITY:
        raise Invalid(say("A priority is a whole number from 0 to 100."))
    return (form["platform"], looked, _lines(form.get("locations", ""))), priority


def _lines(typed: str) -> list[str]:
    found = [line.strip() for line in typed.splitlines() if line.strip()]
    if any(len(line) > LONGEST for line in found):
        raise Invalid(say("A line has at most %(n)s letters.", n=LONGEST))
    return found


def _write(search: SavedSearch) -> dict[str, str]:
    return {
        "platform": search.platform,
        "keywords": "\n".join(search.keywords),
        "locations": "\n".join(search.locations),
        "priority": str(search.priority),
    }
