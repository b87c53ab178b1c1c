"""/hiring/{opening_id}/form: edit and preview the application form of an opening."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Conflict, Invalid
from jobmill.hiring.forms import form_versions
from jobmill.hiring.records import openings
from jobmill.web.application_forms import FormState
from jobmill.web.auth import Recruiter
from jobmill.web.form import read_long_form
from jobmill.web.pages.openings import form_rows
from jobmill.web.pages.openings.form_rows import FormRow
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer

router = APIRouter(prefix="/hiring/{opening_id}/form")


@router.get("")
async def show(
    opening_id: PathId, visitor: Recruiter, page: Page, saved: bool = False
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        current = await form_versions.find_current(tx, opening_id)
    rows = [form_rows.to_row(field) for field in current.form.fields]
    return await _page(page, opening_id, rows, current.version, saved=saved)


@router.post("")
async def change(opening_id: PathId, visitor: Recruiter, page: Page) -> Response:
    """Save the form, or show the editor with a question added, moved or removed; only Save stores it."""
    submitted = await read_long_form(page.request)
    action = (submitted.get("do") or ["preview"])[-1]
    version = _read_version((submitted.get("version") or [""])[-1])
    rows = form_rows.read_rows(submitted)
    rows = form_rows.change_rows(rows, action, (submitted.get("add") or [""])[-1])
    error: AppError | None = None
    try:
        if action == "save":
            form = form_rows.to_form(rows)
            async with page.db.transaction() as tx:
                await form_versions.save_form(tx, opening_id, form, visitor.actor, based_on=version)
            return RedirectResponse(f"/hiring/{opening_id}/form?saved=true", 303)
        if action == "preview":
            form_rows.to_form(rows)
    except (Invalid, Conflict) as refusal:
        error = refusal
    return await _page(page, opening_id, rows, version, error=error)


def _read_version(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0


async def _page(
    page: PageRenderer,
    opening_id: int,
    rows: Sequence[FormRow],
    version: int,
    *,
    saved: bool = False,
    error: AppError | None = None,
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        opening = await openings.get(tx, opening_id)
        refusals = await form_versions.count_refusals(tx, opening_id)
    return page(
        "openings/form.html",
        opening=opening,
        rows=rows,
        version=version,
        preview=_preview(rows),
        refusals=refusals,
        types=form_rows.type_names(),
        saved=saved,
        error=error,
    )


def _preview(rows: Sequence[FormRow]) -> FormState | None:
    """How applicants see the form; None while a question is incomplete."""
    try:
        return FormState(0, form_rows.to_form(rows))
    except Invalid:
        return None
