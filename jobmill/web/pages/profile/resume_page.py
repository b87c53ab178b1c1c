"""/profile/resume: edit the master resume; /profile/export: download the profile."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import Conflict
from jobmill.matching import profile_document, profiles
from jobmill.matching.master_resume import MasterResume
from jobmill.matching.profiles import ProfileVersion, SavedProfile
from jobmill.matching.resumes import json_entries
from jobmill.web.auth import Seeker, Visitor
from jobmill.web.dependencies import Db
from jobmill.web.file_downloads import download_headers
from jobmill.web.form import last_value, read_long_form
from jobmill.web.job_view import find_profile
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.profile.detail_page import ProfileQuery
from jobmill.web.pages.profile.entries_editor import render_editor
from jobmill.web.pages.profile.resume_form import InvalidResumeForm, ResumeForm
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/profile")

ACTION = "/profile/resume"


@router.get("/resume")
async def show(
    query: Annotated[ProfileQuery, Query()], visitor: Seeker, page: Page
) -> HTMLResponse:
    """The editor; `version` starts from the master resume of an older version."""
    async with page.db.transaction() as tx:
        newest = await find_profile(tx, query.profile, visitor.owner)
        if newest is None:
            return page("profile/no_profile.html")
        start = newest
        if query.version:
            start = await profiles.get_by_id(tx, newest.profile_id, version=query.version)
    is_old = start.version < newest.version
    notice = _notice(query.did or "", newest.version)
    return _render(
        page,
        ResumeForm.from_resume(start.profile().resume),
        newest,
        notice=notice,
        undo_version=newest.version - 1 if query.did == "saved" else 0,
        old_version=start.version if is_old else 0,
    )


def _notice(did: str, version: int) -> str:
    if did == "saved":
        return say("Saved as version %(version)s. Jobs are not scored again.", version=version)
    return say("No changes.") if did == "same" else ""


def _render(
    page: PageRenderer,
    form: ResumeForm,
    version: ProfileVersion,
    *,
    errors: Mapping[str, str] | None = None,
    **values: Any,
) -> HTMLResponse:
    return render_editor(
        page,
        form,
        errors=errors or {},
        action=ACTION,
        done="save",
        name=version.name,
        carried=[("name", version.name), ("after", str(version.version))],
        **values,
    )


@router.post("/resume")
async def submit(visitor: Seeker, page: Page) -> Response:
    """Add, move or remove an entry, or save the master resume as a new version of the profile."""
    fields = await read_long_form(page.request)
    form = ResumeForm.from_fields(fields)
    async with page.db.transaction() as tx:
        newest = await profiles.get(tx, last_value(fields, "name"), owner=visitor.owner)
    after = last_value(fields, "after")
    edited = newest if after == str(newest.version) else await _edited(page.db, newest, after)
    if "entry" in fields:
        return _render(page, form.apply(fields["entry"][-1]), edited)
    try:
        resume = form.read_resume()
        async with page.db.transaction() as tx:
            saved = await _save(tx, edited, resume, visitor)
    except InvalidResumeForm as error:
        return _render(page, form, edited, errors=error.errors)
    except Conflict as error:
        return _render(page, form, newest, status=409, error=str(error))
    query = {"profile": saved.name, "did": "saved" if saved.changed else "same"}
    return RedirectResponse(f"{ACTION}?{urlencode(query)}", 303)


async def _edited(db: Db, newest: ProfileVersion, after: str) -> ProfileVersion:
    """The version that the form was opened with; the newest if it is unknown."""
    if not (after.isascii() and after.isdigit() and 0 < int(after[:9]) < newest.version):
        return newest
    async with db.transaction() as tx:
        return await profiles.get_by_id(tx, newest.profile_id, version=int(after))


async def _save(
    tx: Tx, version: ProfileVersion, resume: MasterResume, visitor: Visitor
) -> SavedProfile:
    return await profiles.save(
        tx,
        version.name,
        version.profile().model_copy(update={"resume": resume}),
        owner=visitor.owner,
        by=visitor.name or visitor.actor.name,
        note=say("master resume edited"),
        based_on=version.version,
    )


class ExportQuery(PageQuery):
    profile: ShortText | None = None
    format: Literal["json-resume", "yaml"] = "json-resume"


@router.get("/export")
async def export(query: Annotated[ExportQuery, Query()], visitor: Seeker, db: Db) -> Response:
    async with db.transaction() as tx:
        version = await profiles.get(tx, query.profile, owner=visitor.owner)
    profile = version.profile()
    if query.format == "yaml":
        text, ending, media_type = profile_document.to_yaml(profile), "yaml", "application/yaml"
    else:
        document = json_entries.to_json_resume(profile)
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        ending, media_type = "json", "application/json"
    headers = download_headers(f"{version.name}.{ending}")
    return Response(text, media_type=media_type, headers=headers)
