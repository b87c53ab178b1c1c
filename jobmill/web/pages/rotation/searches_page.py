"""/sources/rotation/searches: keyword searches on job sites that list many companies."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from typing import Literal

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.boards import api_keys
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.rotation import searches, targets
from jobmill.rotation.searches import SavedSearch, SearchSettings
from jobmill.web.auth import Admin
from jobmill.web.confirmation import Confirmation
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields, read_optional_whole_number, read_whole_number
from jobmill.web.pages.rotation import labels
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/sources/rotation/searches")

MAX_LINE_LENGTH = 200
EMPTY_FORM = {
    "platform": "",
    "keywords": "",
    "locations": "",
    "priority": "50",
    "interval": "",
    "window": "",
    "days_back": "",
    "since": "",
}


@router.get("")
async def show(page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        all_searches = await searches.list_all(tx)
    notice = _notices().get(page.did)
    return page("rotation/searches.html", searches=all_searches, notice=notice, labels=labels)


def _notices() -> dict[str, str]:
    return {
        "added": say("Search added. Each combination of keywords and location is read in turn."),
        "saved": say("Search saved."),
        "on": say("Search enabled."),
        "off": say("Search disabled. Its reads stop, unless another search needs them."),
        "removed": say("Search removed. The jobs that it found stay in the catalog."),
    }


@router.get("/new")
async def show_form(visitor: Admin, page: Page) -> HTMLResponse:
    return _render_form(page, EMPTY_FORM)


@router.post("/new")
async def add(visitor: Admin, form: Fields, page: Page) -> Response:
    try:
        platform, keywords, locations, settings = _read(form)
        async with page.db.transaction() as tx:
            await searches.add(tx, platform, keywords, locations, settings)
    except (Invalid, Conflict) as error:
        return _render_form(page, EMPTY_FORM | dict(form), error=error)
    return _redirect("added")


@router.get("/{search_id}")
async def edit(search_id: PathId, visitor: Admin, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        search = await searches.get(tx, search_id)
    return _render_form(page, _to_form(search), search)


@router.post("/{search_id}")
async def save(search_id: PathId, visitor: Admin, form: Fields, page: Page) -> Response:
    async with page.db.transaction() as tx:
        search = await searches.get(tx, search_id)
    try:
        platform, keywords, locations, settings = _read(form)
        async with page.db.transaction() as tx:
            await searches.replace_search(tx, search_id, platform, keywords, locations, settings)
    except (Invalid, Conflict) as error:
        return _render_form(page, EMPTY_FORM | dict(form), search, error)
    return _redirect("saved")


@router.get("/{search_id}/remove")
async def confirm_remove(search_id: PathId, visitor: Admin, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        search = await searches.get(tx, search_id)
        slices = await searches.count_exclusive_slices(tx, search_id)
    keywords = labels.join_texts(search.keywords, say("everything"))
    confirmation = Confirmation(
        f"/sources/rotation/searches/{search_id}/remove",
        "/sources/rotation/searches",
        say(
            "Remove the search for %(keywords)s on %(platform)s?",
            keywords=keywords,
            platform=labels.platform_title(search.platform),
        ),
        say("Remove search"),
        [
            say_many(
                "%(n)s scheduled read stops, because no other search needs it.",
                "%(n)s scheduled reads stop, because no other search needs them.",
                slices,
            ),
            say("The jobs that it found stay. To stop it for a while, disable it instead."),
        ],
        danger=True,
    )
    return page("rotation/remove.html", confirmation=confirmation)


@router.post("/{search_id}/remove")
async def remove(search_id: PathId, visitor: Admin, db: Db) -> Response:
    async with db.transaction() as tx:
        await searches.remove(tx, search_id)
    return _redirect("removed")


@router.post("/{search_id}/{state}")
async def switch(
    search_id: PathId, state: Literal["on", "off"], visitor: Admin, db: Db
) -> Response:
    async with db.transaction() as tx:
        await searches.update_search(tx, search_id, enabled=state == "on")
    return _redirect(state)


def _redirect(did: str) -> Response:
    return RedirectResponse(f"/sources/rotation/searches?did={did}", 303)


def _render_form(
    page: Page,
    form: Mapping[str, str],
    search: SavedSearch | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    return page(
        "rotation/search.html",
        search=search,
        form=form,
        error=error,
        platforms=searchable_platforms(),
    )


def searchable_platforms() -> list[tuple[str, str]]:
    """Names and titles of platforms that accept keywords."""
    return [
        (
            platform.name,
            f"{platform.title} ({say('needs an API key')})" if missing else platform.title,
        )
        for platform in searches.searchable_platforms()
        for missing in [api_keys.missing_keys(platform, None, os.environ)]
    ]


def _read(form: Fields) -> tuple[str, list[str], list[str], SearchSettings]:
    """Platform, keywords, locations and settings."""
    if not form.get("platform"):
        raise Invalid(say("Choose a platform."))
    keywords = _read_lines(form.get("keywords", ""))
    if not keywords:
        raise Invalid(say("Enter at least one search, one per line."))
    message = say("The priority must be a whole number from 0 to 100.")
    priority = read_whole_number(form, "priority", message)
    if priority > targets.MAX_PRIORITY:
        raise Invalid(message)
    settings = SearchSettings(
        priority,
        labels.read_hours(form, "interval"),
        labels.read_hours(form, "window"),
        read_optional_whole_number(form, "days_back", say("Enter a whole number of days.")),
        _read_date(form.get("since", "")),
    )
    return form["platform"], keywords, _read_lines(form.get("locations", "")), settings


def _read_date(typed: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(typed.strip()) if typed.strip() else None
    except ValueError:
        raise Invalid(say("Enter the date as year-month-day, such as 2026-11-15.")) from None


def _read_lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any(len(line) > MAX_LINE_LENGTH for line in lines):
        raise Invalid(say("A line can have up to %(n)s characters.", n=MAX_LINE_LENGTH))
    return lines


def _to_form(search: SavedSearch) -> dict[str, str]:
    return {
        "platform": search.platform,
        "keywords": "\n".join(search.keywords),
        "locations": "\n".join(search.locations),
        "priority": str(search.priority),
        "interval": labels.format_hours(search.min_interval),
        "window": labels.format_hours(search.call_window),
        "days_back": str(search.days_back or ""),
        "since": search.since.isoformat() if search.since else "",
    }
