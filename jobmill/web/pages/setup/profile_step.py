"""/setup/resume and /setup/profile: whom listings will be judged for."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import Conflict, Invalid
from jobmill.matching import profiles
from jobmill.matching.profile import Profile
from jobmill.web import resume_upload
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db, RawDb, RequestDatabase
from jobmill.web.form import read_long_form
from jobmill.web.pages.profile import edit_page, form
from jobmill.web.pages.profile.edit_page import Told
from jobmill.web.pages.profile.form import MORE, Typed
from jobmill.web.pages.setup import steps
from jobmill.web.pages.setup.steps import Standing
from jobmill.web.resume_upload import Unread
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.site_settings import CurrentSiteSettings, SiteSettings
from jobmill.web.translations import say

router = APIRouter(prefix="/setup")


async def _standing(db: RequestDatabase, site_settings: SiteSettings) -> Standing:
    async with db.transaction() as tx:
        return await steps.read(tx, site_settings)


@router.get("/resume")
async def ask(
    visitor: Recruiter, db: Db, page: Page, site_settings: CurrentSiteSettings
) -> HTMLResponse:
    return _ask(page, await _standing(db, site_settings))


def _ask(page: PageRenderer, standing: Standing, error: str = "", text: str = "") -> HTMLResponse:
    return page(
        "setup/resume.html",
        422 if error else 200,
        standing=standing,
        steps=steps.line(standing, "/setup/resume"),
        error=error,
        text=text,
    )


@router.post("/resume")
async def read(
    request: Request, visitor: Recruiter, db: Db, page: Page, site_settings: CurrentSiteSettings
) -> Response:
    """What was understood, as the next step to look over; nothing is saved yet."""
    standing = await _standing(db, site_settings)
    try:
        draft, name = await resume_upload.draft(request)
    except Unread as error:
        return _ask(page, standing, str(error), error.pasted)
    shown = edit_page.drafted(draft.profile, standing.version)
    told = Told(missing=draft.missing, read=name)
    return _review(page, standing, replace(shown, note=say("read from %(name)s", name=name)), told)


@router.get("/profile")
async def review(
    visitor: Recruiter, db: Db, page: Page, site_settings: CurrentSiteSettings
) -> HTMLResponse:
    standing = await _standing(db, site_settings)
    version = standing.version
    shown = form.of(version.profile() if version else Profile(), version)
    return _review(page, standing, shown, Told())


def _review(
    page: PageRenderer, standing: Standing, shown: Typed, told: Told, status: int = 200
) -> HTMLResponse:
    line = steps.line(standing, "/setup/profile")
    return edit_page.render(page, "setup/profile.html", shown, told, status, steps=line)


@router.post("/profile")
async def save(
    request: Request,
    visitor: Recruiter,
    db: Db,
    page: Page,
    site_settings: CurrentSiteSettings,
    database: RawDb,
) -> Response:
    """Keep it, and go on."""
    sent = await read_long_form(request)
    shown = form.read(sent)
    standing = await _standing(db, site_settings)
    if sent.get("act", [""])[-1] == "more":
        shown = replace(shown, spare=form.SPARE + MORE)
        return _review(page, standing, shown, Told())
    try:
        profiles.check_name(shown.name)
        await edit_page.save(db, database, shown, shown.profile(), visitor, anew=True)
    except (Invalid, Conflict) as error:
        line = steps.line(standing, "/setup/profile")
        return await edit_page.refuse(db, page, "setup/profile.html", shown, error, steps=line)
    return RedirectResponse("/setup/companies", 303)
