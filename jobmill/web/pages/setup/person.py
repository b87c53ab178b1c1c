"""/setup/resume and /setup/profile: whom listings will be judged for."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import Conflict, Invalid
from jobmill.matching import profiles
from jobmill.matching.profile import Profile
from jobmill.web import upload
from jobmill.web.house import House, HouseRules
from jobmill.web.pages.profile import edit, typed
from jobmill.web.pages.profile.edit import Told, Whole
from jobmill.web.pages.profile.typed import MORE, Typed
from jobmill.web.pages.setup import steps
from jobmill.web.pages.setup.steps import Standing
from jobmill.web.rights import Recruiter
from jobmill.web.shell import Page, Pages
from jobmill.web.texts import say
from jobmill.web.upload import Unread
from jobmill.web.view import Db, Door

router = APIRouter(prefix="/setup")


async def _standing(db: Door, house: House) -> Standing:
    async with db.transaction() as tx:
        return await steps.read(tx, house)


@router.get("/resume")
async def ask(visitor: Recruiter, db: Db, page: Page, house: HouseRules) -> HTMLResponse:
    return _ask(page, await _standing(db, house))


def _ask(page: Pages, standing: Standing, error: str = "", text: str = "") -> HTMLResponse:
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
    request: Request, visitor: Recruiter, db: Db, page: Page, house: HouseRules
) -> Response:
    """What was understood, as the next step to look over; nothing is saved yet."""
    standing = await _standing(db, house)
    try:
        draft, name = await upload.draft(request)
    except Unread as error:
        return _ask(page, standing, str(error), error.pasted)
    shown = edit.drafted(draft.profile, standing.version)
    told = Told(missing=draft.missing, read=name)
    return _review(page, standing, replace(shown, note=say("read from %(name)s", name=name)), told)


@router.get("/profile")
async def review(visitor: Recruiter, db: Db, page: Page, house: HouseRules) -> HTMLResponse:
    standing = await _standing(db, house)
    version = standing.version
    shown = typed.of(version.profile() if version else Profile(), version)
    return _review(page, standing, shown, Told())


def _review(
    page: Pages, standing: Standing, shown: Typed, told: Told, status: int = 200
) -> HTMLResponse:
    line = steps.line(standing, "/setup/profile")
    return edit.render(page, "setup/profile.html", shown, told, status, steps=line)


@router.post("/profile")
async def save(
    request: Request, visitor: Recruiter, db: Db, page: Page, house: HouseRules, database: Whole
) -> Response:
    """Keep it, and go on."""
    sent = await upload.fields(request)
    shown = typed.read(sent)
    standing = await _standing(db, house)
    if sent.get("act", [""])[-1] == "more":
        shown = replace(shown, spare=typed.SPARE + MORE)
        return _review(page, standing, shown, Told())
    try:
        profiles.check_name(shown.name)
        await edit.save(db, database, shown, shown.profile(), visitor, anew=True)
    except (Invalid, Conflict) as error:
        line = steps.line(standing, "/setup/profile")
        return await edit.refuse(db, page, "setup/profile.html", shown, error, steps=line)
    return RedirectResponse("/setup/companies", 303)
