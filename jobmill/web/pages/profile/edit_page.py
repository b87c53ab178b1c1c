"""/profile/edit and /profile/upload: a profile is changed, seen before it is, and saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Database, Tx
from jobmill.errors import AppError, Conflict, Invalid, NotFound
from jobmill.matching import judging_feed, profiles
from jobmill.matching.profile import Profile
from jobmill.matching.profile_document import BadProfile, Problem
from jobmill.matching.profiles import Saved, Version
from jobmill.queue.feed import notify_feeds
from jobmill.web import html_errors, resume_upload
from jobmill.web.auth import Recruiter, Visitor
from jobmill.web.dependencies import Db, RawDb, RequestDatabase
from jobmill.web.form import read_long_form
from jobmill.web.job_view import find_profile
from jobmill.web.pages.profile import form, preview
from jobmill.web.pages.profile.detail_page import Wanted
from jobmill.web.pages.profile.form import MORE, Typed
from jobmill.web.pages.profile.preview import Line, Outlook
from jobmill.web.resume_upload import Unread
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/profile")

LONG = 60.0
"""Seconds for letting all that is open wait to be judged."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the form says beside what was typed."""

    problems: Sequence[Problem] = ()
    error: str = ""
    missing: Sequence[str] = ()
    """What a resume said nothing of."""
    read: str = ""
    """What the resume was called."""
    outlook: Outlook | None = None
    changed: Sequence[Line] = ()

    @property
    def wrong(self) -> dict[str, str]:
        return form.placed(self.problems)


def render(
    page: PageRenderer,
    template: str,
    shown: Typed,
    told: Told,
    status: int = 200,
    steps: Sequence[object] = (),
) -> HTMLResponse:
    """A form with what was typed, and what is to be said of it."""
    return page(
        template,
        status,
        typed=shown,
        told=told,
        wrong=told.wrong,
        choices=form.CHOICES,
        periods=form.PERIODS,
        steps=steps,
    )


@router.get("/edit")
async def edit(
    asked: Annotated[Wanted, Query()],
    visitor: Recruiter,
    db: Db,
    page: Page,
    how: str = "",
    new: str = "",
) -> HTMLResponse:
    """A profile to be changed; `version`: begin with an older one, `new`: with none."""
    async with db.transaction() as tx:
        newest = None if new else await find_profile(tx, asked.profile)
        begin = newest
        if newest and asked.version:
            begin = await profiles.get(tx, newest.name, version=asked.version)
    shown = form.of(begin.profile() if begin else Profile())
    shown = replace(
        shown,
        name=newest.name if newest else "" if new else profiles.FIRST,
        after=newest.version if newest else 0,
        how="yaml" if how == "yaml" else "fields",
    )
    return render(page, "profile/edit.html", shown, Told())


@router.post("/edit")
async def change(
    request: Request, visitor: Recruiter, db: Db, page: Page, database: RawDb
) -> Response:
    """Show it otherwise, show what it would change, or save it."""
    sent = await read_long_form(request)
    shown, act = form.read(sent), sent.get("act", ["look"])[-1]
    if act == "more":
        shown = replace(shown, spare=form.SPARE + MORE)
        return render(page, "profile/edit.html", shown, Told())
    try:
        profile = shown.profile()
        if act in ("fields", "yaml"):
            shown = shown.shown_as("yaml" if act == "yaml" else "fields", profile)
            return render(page, "profile/edit.html", shown, Told())
        profiles.check_name(shown.name)
        if act == "save":
            saved = await save(db, database, shown, profile, visitor, anew=bool(sent.get("anew")))
            return _done(saved)
        return await _look(db, database, page, shown, profile)
    except (Invalid, Conflict) as error:
        return await refuse(db, page, "profile/edit.html", shown, error)


async def refuse(
    db: RequestDatabase,
    page: PageRenderer,
    template: str,
    shown: Typed,
    error: AppError,
    steps: Sequence[object] = (),
) -> HTMLResponse:
    """The form again, with what was typed and what is wrong with it."""
    if isinstance(error, BadProfile):
        return render(page, template, shown, Told(problems=error.problems), 422, steps=steps)
    if isinstance(error, Conflict):
        async with db.transaction() as tx:
            newest = await find_profile(tx, shown.name)
        shown = replace(shown, after=newest.version if newest else 0)
    return render(
        page, template, shown, Told(error=str(error)), html_errors.status_code(error), steps=steps
    )


async def _look(
    db: RequestDatabase, database: Database, page: PageRenderer, shown: Typed, profile: Profile
) -> HTMLResponse:
    async with db.transaction() as tx:
        before = await _find(tx, shown.name)
    found = await preview.look(database, before.profile_id if before else 0, profile)
    changed = preview.diff(before.profile() if before else None, profile)
    told = Told(outlook=found, changed=changed)
    return render(page, "profile/edit.html", shown, told)


async def _find(tx: Tx, name: str) -> Version | None:
    try:
        return await profiles.get(tx, name)
    except NotFound:
        return None


async def save(
    db: RequestDatabase,
    database: Database,
    shown: Typed,
    profile: Profile,
    visitor: Visitor,
    *,
    anew: bool = False,
) -> Saved:
    """Keep a new version. A first one is judged by all that is open; a later one if `anew`: then
    what differs goes through the queue, or all of it where that is too much to look at here."""
    async with db.transaction() as tx:
        before = await _find(tx, shown.name)
    seen = await preview.look(database, before.profile_id, profile) if before and anew else None
    async with db.transaction(LONG) as tx:
        by, note = visitor.name or visitor.actor.name, shown.note or None
        saved = await profiles.save(tx, shown.name, profile, by=by, note=note, after=shown.after)
        await judging_feed.begin(tx, saved)
        if saved.changed and before and seen:
            await _judge_anew(tx, before.profile_id, seen)
    return saved


async def _judge_anew(tx: Tx, profile_id: int, seen: Outlook) -> None:
    if seen.whole:
        await judging_feed.add(tx, seen.differing, profile_id=profile_id)
    else:
        await judging_feed.add_open(tx, profile_id)
    await notify_feeds(tx)


def _done(saved: Saved) -> Response:
    did = {"profile": saved.name, "did": "saved" if saved.changed else "same"}
    return RedirectResponse(f"/profile?{urlencode(did)}", 303)


@router.get("/upload")
async def ask(visitor: Recruiter, page: Page, profile: str = "") -> HTMLResponse:
    return page("profile/upload.html", error="", text="", profile=profile[:63])


@router.post("/upload")
async def read(request: Request, visitor: Recruiter, db: Db, page: Page) -> Response:
    """What was understood, to be looked over: nothing is saved yet, and the file is not kept."""
    try:
        draft, name = await resume_upload.draft(request)
    except Unread as error:
        return page("profile/upload.html", 422, error=str(error), text=error.pasted, profile="")
    async with db.transaction() as tx:
        newest = await find_profile(tx, None)
    shown = drafted(draft.profile, newest)
    note = say("read from %(name)s", name=name)
    told = Told(missing=draft.missing, read=name)
    return render(page, "profile/edit.html", replace(shown, note=note), told)


def drafted(draft: Profile, newest: Version | None) -> Typed:
    """What a resume says over what was known before: a resume knows nothing of rules or wishes."""
    if newest is None:
        return form.of(draft)
    known = newest.profile()
    said = {name: getattr(draft, name) for name in draft.model_fields_set}
    person = {name: getattr(draft.person, name) for name in draft.person.model_fields_set}
    if known.seniority:
        # What one was is not what one said one wants.
        said.pop("seniority", None)
    said["person"] = known.person.model_copy(update=person)
    return form.of(known.model_copy(update=said), newest)
