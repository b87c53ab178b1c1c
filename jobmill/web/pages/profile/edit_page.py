"""/profile/edit and /profile/upload: edit a profile, preview the effect, and save it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Database
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.matching import profiles
from jobmill.matching.master_resume import MasterResume
from jobmill.matching.profile import Profile
from jobmill.matching.profile_document import InvalidProfile, ProfileProblem
from jobmill.matching.profiles import ProfileVersion, SavedProfile
from jobmill.web import html_errors, profile_changes, resume_upload
from jobmill.web.auth import Seeker, Visitor
from jobmill.web.dependencies import RawDb, RequestDatabase
from jobmill.web.form import read_long_form
from jobmill.web.job_view import find_profile
from jobmill.web.pages.profile import entries_editor
from jobmill.web.pages.profile.detail_page import ProfileQuery
from jobmill.web.pages.profile.form import CHOICES, PERIODS, ProfileForm, errors_by_field
from jobmill.web.profile_preview import (
    MAX_LISTINGS,
    DiffLine,
    ProfilePreview,
    diff_profiles,
    preview,
)
from jobmill.web.resume_upload import UnreadableResume
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/profile")

LIVE_LISTINGS = 300
"""How many open listings the preview scores while a person types."""


@dataclass(frozen=True, slots=True)
class FormFeedback:
    """What the form page shows besides the form: problems, a preview, a resume that was read."""

    problems: Sequence[ProfileProblem] = ()
    error: str = ""
    missing: Sequence[str] = ()
    """Fields that the resume said nothing about."""
    resume_name: str = ""
    preview: ProfilePreview | None = None
    diff: Sequence[DiffLine] = ()

    @property
    def field_errors(self) -> dict[str, str]:
        return errors_by_field(self.problems)


def render_form(
    page: PageRenderer,
    template: str,
    form: ProfileForm,
    feedback: FormFeedback,
    status: int = 200,
    steps: Sequence[object] = (),
) -> HTMLResponse:
    return page(
        template,
        status,
        form=form,
        feedback=feedback,
        errors=feedback.field_errors,
        choices=CHOICES,
        periods=PERIODS,
        steps=steps,
    )


@router.get("/edit")
async def edit(
    query: Annotated[ProfileQuery, Query()],
    visitor: Seeker,
    page: Page,
    how: str = "",
    new: str = "",
) -> HTMLResponse:
    """The form; `version` starts from an older version, `new` from an empty profile."""
    async with page.db.transaction() as tx:
        newest = None if new else await find_profile(tx, query.profile, visitor.owner)
        start = newest
        if newest and query.version:
            start = await profiles.get_by_id(tx, newest.profile_id, version=query.version)
    form = replace(
        ProfileForm.from_profile(start.profile() if start else Profile()),
        name=newest.name if newest else "" if new else profiles.DEFAULT_NAME,
        after=newest.version if newest else 0,
        mode="yaml" if how == "yaml" else "fields",
    )
    return render_form(page, "profile/edit.html", form, FormFeedback())


@router.post("/edit")
async def submit(visitor: Seeker, page: Page, database: RawDb) -> Response:
    """Switch between fields and YAML, preview the effect, or save."""
    fields = await read_long_form(page.request)
    form, action = ProfileForm.from_fields(fields), fields.get("action", ["preview"])[-1]
    is_panel = "hx-request" in page.request.headers
    if entries_editor.is_open(fields):
        edited = entries_editor.submit_entries(page, fields, form, "/profile/edit")
        if isinstance(edited, Response):
            return edited
        return render_form(page, "profile/edit.html", edited, FormFeedback())
    if action == "more":
        return render_form(page, "profile/edit.html", form.with_more_rows(), FormFeedback())
    try:
        profile = await form.read_profile()
        if action in ("fields", "yaml"):
            form = form.in_mode("yaml" if action == "yaml" else "fields", profile)
            return render_form(page, "profile/edit.html", form, FormFeedback())
        profiles.check_name(form.name)
        if action == "save":
            form = form.decide_person(profile)
            rescore = bool(fields.get("rescore"))
            saved = await save(page.db, database, form, profile, visitor, rescore=rescore)
            query = {"profile": saved.name, "did": "saved" if saved.changed else "same"}
            return RedirectResponse(f"/profile?{urlencode(query)}", 303)
        # The panel asks again and again: it is content with fewer jobs.
        max_listings = LIVE_LISTINGS if is_panel else MAX_LISTINGS
        return await _render_preview(database, page, form, profile, max_listings)
    except (Invalid, Conflict) as error:
        answer = await render_error(page, "profile/edit.html", form, error)
        if is_panel:
            # A form that is not complete yet is no failed request.
            answer.status_code = 200
        return answer


async def render_error(
    page: PageRenderer,
    template: str,
    form: ProfileForm,
    error: AppError,
    steps: Sequence[object] = (),
) -> HTMLResponse:
    """The form again, with the typed values and the problems."""
    if isinstance(error, InvalidProfile):
        feedback = FormFeedback(problems=error.problems)
        return render_form(page, template, form, feedback, 422, steps=steps)
    if isinstance(error, Conflict):
        async with page.db.transaction() as tx:
            newest = await find_profile(tx, form.name, page.visitor.owner)
        form = replace(form, after=newest.version if newest else 0)
    feedback, status = FormFeedback(error=str(error)), html_errors.status_code(error)
    return render_form(page, template, form, feedback, status, steps=steps)


async def _render_preview(
    database: Database, page: PageRenderer, form: ProfileForm, profile: Profile, max_listings: int
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        current = await profile_changes.find_current(tx, form.name, page.visitor.owner)
    profile_id = current.profile_id if current else 0
    result = await preview(database, profile_id, profile, max_listings=max_listings)
    diff = diff_profiles(current.profile() if current else None, profile)
    feedback = FormFeedback(preview=result, diff=diff)
    return render_form(page, "profile/edit.html", form, feedback)


async def save(
    db: RequestDatabase,
    database: Database,
    form: ProfileForm,
    profile: Profile,
    visitor: Visitor,
    *,
    rescore: bool = False,
) -> SavedProfile:
    """Save what the form contains; `rescore` queues the jobs that it scores differently."""
    effect = (
        await profile_changes.preview_change(db, database, form.name, profile, visitor.owner)
        if rescore
        else None
    )
    async with db.transaction(profile_changes.SAVE_SECONDS) as tx:
        return await profile_changes.save_version(
            tx,
            form.name,
            profile,
            visitor,
            effect=effect,
            note=form.note or None,
            resume=form.resume or None,
            based_on=form.after,
        )


@router.get("/upload")
async def show_upload(visitor: Seeker, page: Page) -> HTMLResponse:
    return page("profile/upload.html", error="", text="")


@router.post("/upload")
async def upload(visitor: Seeker, page: Page) -> Response:
    """Show what was read from a resume in the form; nothing is saved yet."""
    try:
        draft, resume_name = await resume_upload.read_draft(page.request)
    except UnreadableResume as error:
        return page("profile/upload.html", 422, error=str(error), text=error.pasted)
    async with page.db.transaction() as tx:
        newest = await find_profile(tx, None, visitor.owner)
    form = form_from_resume(draft.profile, newest, resume_name)
    feedback = FormFeedback(missing=draft.missing, resume_name=resume_name)
    return render_form(page, "profile/edit.html", form, feedback)


def form_from_resume(
    draft: Profile, newest: ProfileVersion | None, resume_name: str
) -> ProfileForm:
    """Values of the resume over those of the current profile; a resume has no rules or wishes. If the
    resume is of another person, nothing of the current profile is kept."""
    note = say("read from %(name)s", name=resume_name)
    if newest is None:
        return replace(ProfileForm.from_profile(draft), note=note, resume=resume_name)
    current = newest.profile()
    if _is_other_person(current.person.name, draft.person.name):
        return replace(
            ProfileForm.from_profile(draft, newest, is_new=True),
            note=note,
            resume=resume_name,
            replaces=current.person.name or "",
        )
    values = {name: getattr(draft, name) for name in draft.model_fields_set}
    person = {name: getattr(draft.person, name) for name in draft.person.model_fields_set}
    if current.seniority:
        # Past positions do not override the seniority that the person asked for.
        values.pop("seniority", None)
    values["person"] = current.person.model_copy(update=person)
    file_resume = values.pop("resume") if current.resume != MasterResume() and "resume" in values else None  # fmt: skip
    form = ProfileForm.from_profile(current.model_copy(update=values), newest)
    entries = file_resume.model_dump_json(exclude_defaults=True) if file_resume else ""
    return replace(form, note=note, resume=resume_name, file_entries=entries)


def _is_other_person(current: str | None, other: str | None) -> bool:
    """Whether two names cannot be of one person: middle names and initials may be left out."""
    words, other_words = (
        set(re.findall(r"\w{2,}", unicodedata.normalize("NFKD", name or "").casefold()))
        for name in (current, other)
    )
    return bool(words and other_words) and not (words <= other_words or other_words <= words)
