"""/setup/resume and /setup/profile: read a resume, then check and save the profile."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import Conflict, Invalid
from jobmill.matching import profiles
from jobmill.matching.profile import Profile
from jobmill.web import resume_upload
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import RawDb
from jobmill.web.form import read_long_form
from jobmill.web.pages.profile import edit_page, entries_editor
from jobmill.web.pages.profile.edit_page import FormFeedback, form_from_resume
from jobmill.web.pages.profile.form import ProfileForm
from jobmill.web.pages.setup.steps import (
    PROFILE,
    RESUME,
    SetupStatus,
    after_profile,
    list_steps,
    read_setup_status,
)
from jobmill.web.resume_upload import UnreadableResume
from jobmill.web.shell import Page, PageRenderer

router = APIRouter()

TEMPLATE = "setup/profile.html"


async def _read_status(page: PageRenderer) -> SetupStatus:
    async with page.db.transaction() as tx:
        return await read_setup_status(tx, page.site_settings, page.visitor)


@router.get(RESUME)
async def show_upload(visitor: Seeker, page: Page) -> HTMLResponse:
    return _render_upload(page, await _read_status(page))


def _render_upload(
    page: PageRenderer, status: SetupStatus, error: str = "", text: str = ""
) -> HTMLResponse:
    return page(
        "setup/resume.html",
        422 if error else 200,
        steps=list_steps(status, RESUME),
        error=error,
        text=text,
    )


@router.post(RESUME)
async def upload(visitor: Seeker, page: Page) -> Response:
    """Show what was read from a resume in the next step; nothing is saved yet."""
    status = await _read_status(page)
    try:
        draft, resume_name = await resume_upload.read_draft(page.request)
    except UnreadableResume as error:
        return _render_upload(page, status, str(error), error.pasted)
    form = form_from_resume(draft.profile, status.version, resume_name)
    feedback = FormFeedback(missing=draft.missing, resume_name=resume_name)
    return _render_form(page, status, form, feedback)


@router.get(PROFILE)
async def show_form(visitor: Seeker, page: Page) -> HTMLResponse:
    status = await _read_status(page)
    version = status.version
    form = ProfileForm.from_profile(version.profile() if version else Profile(), version)
    return _render_form(page, status, form, FormFeedback())


def _render_form(
    page: PageRenderer, status: SetupStatus, form: ProfileForm, feedback: FormFeedback
) -> HTMLResponse:
    steps = list_steps(_with_resume(status, form), PROFILE)
    return edit_page.render_form(page, TEMPLATE, form, feedback, steps=steps)


def _with_resume(status: SetupStatus, form: ProfileForm) -> SetupStatus:
    """The status while a resume is being checked: it was read, though nothing is saved yet."""
    return status._replace(resume_read=status.resume_read or bool(form.resume))


@router.post(PROFILE)
async def save(visitor: Seeker, page: Page, database: RawDb) -> Response:
    """Save the profile and go to the next step."""
    fields = await read_long_form(page.request)
    form = ProfileForm.from_fields(fields)
    status = await _read_status(page)
    if entries_editor.is_open(fields):
        steps = list_steps(_with_resume(status, form), PROFILE)
        edited = entries_editor.submit_entries(page, fields, form, PROFILE, steps)
        if isinstance(edited, Response):
            return edited
        return _render_form(page, status, edited, FormFeedback())
    if fields.get("action", [""])[-1] == "more":
        return _render_form(page, status, form.with_more_rows(), FormFeedback())
    try:
        profiles.check_name(form.name)
        profile = await form.read_profile()
        form = form.decide_person(profile)
        await edit_page.save(page.db, database, form, profile, visitor, rescore=True)
    except (Invalid, Conflict) as error:
        steps = list_steps(_with_resume(status, form), PROFILE)
        return await edit_page.render_error(page, TEMPLATE, form, error, steps=steps)
    return RedirectResponse(after_profile(status), 303)
