"""/hiring/{opening_id}/import, /hiring/import and /hiring/openings.csv: applicants and openings as files."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.datastructures import UploadFile

from jobmill.catalog import csv_files
from jobmill.catalog.csv_files import InvalidSpreadsheet, LineProblem
from jobmill.errors import AppError, Invalid
from jobmill.hiring.import_export import exports, imports, spreadsheets
from jobmill.hiring.import_export.imports import ImportedApplicant, PlannedOpening
from jobmill.hiring.import_export.spreadsheets import ApplicantEntry
from jobmill.hiring.records import openings
from jobmill.hiring.waitlist import overdue_offers
from jobmill.web import html_errors
from jobmill.web.auth import Recruiter, Viewer, Visitor
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form_keys import create_once, make_form_key
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/hiring")

MAX_BYTES = 2_500_000
"""The preview sends the file back in a form, where a character may take three bytes."""
MAX_LINES = 5_000
"""A preview locks the opening until it ends."""
MAX_SHOWN = 200
"""Lines in a preview."""


@dataclass(frozen=True, slots=True)
class ImportFile:
    data: bytes
    key: str
    """Identifies the preview: a second click on its button imports nothing."""
    is_confirmed: bool


async def _read_form(request: Request) -> ImportFile:
    """The uploaded file, or the text of the preview with the confirmation."""
    async with request.form(max_files=1, max_fields=5, max_part_size=MAX_BYTES * 2) as form:
        file, text, key = form.get("file"), form.get("text"), form.get("key")
        if isinstance(text, str) and text.strip():
            is_confirmed = form.get("confirmed") == "yes" and isinstance(key, str) and bool(key)
            return ImportFile(text.encode(), str(key or ""), is_confirmed)
        if not isinstance(file, UploadFile) or not file.size:
            raise Invalid(say("Choose a CSV file, or paste its text."))
        if file.size > MAX_BYTES:
            raise Invalid(say("The file is larger than 2.5 MB. Split it into smaller files."))
        return ImportFile(await file.read(), "", False)


@router.get("/openings.csv")
async def export_openings(visitor: Viewer, db: Db) -> Response:
    """All openings with the columns that an import reads."""
    text = io.StringIO(newline="")
    write_row = csv_files.start_csv(text, exports.OPENING_FIELDS)
    async with db.transaction(LONG_TIMEOUT, reads_only=True) as tx:
        await overdue_offers.begin_snapshot(tx)
        async for opening in exports.iter_openings(tx):
            write_row(opening)
    headers = {"Content-Disposition": 'attachment; filename="openings.csv"'}
    return Response(text.getvalue(), media_type="text/csv", headers=headers)


@router.get("/import")
async def show_openings_form(visitor: Recruiter, page: Page) -> HTMLResponse:
    return _render_openings(page)


@router.post("/import")
async def import_openings(visitor: Recruiter, page: Page) -> Response:
    """Preview the file; with `confirmed`, create the openings once."""
    try:
        file = await _read_form(page.request)
        planned = await imports.parse_uploaded_openings(file.data)
        _check_length(planned)
        if file.is_confirmed:
            await _create_openings(page.db, file, planned, visitor)
            return RedirectResponse("/hiring", 303)
    except Invalid as error:
        return _render_openings(page, error=error)
    return _render_openings(page, planned=planned, text=file.data.decode("utf-8-sig"))


async def _create_openings(
    db: RequestDatabase, file: ImportFile, planned: Sequence[PlannedOpening], visitor: Visitor
) -> None:
    async with db.transaction(LONG_TIMEOUT) as tx:

        async def create() -> str:
            await imports.create_openings(tx, planned, visitor.actor)
            return ""

        await create_once(tx, visitor, file.key, file.data, create)


def _render_openings(
    page: PageRenderer,
    *,
    planned: Sequence[PlannedOpening] | None = None,
    text: str = "",
    error: AppError | None = None,
) -> HTMLResponse:
    return page(
        "openings/import_openings.html",
        html_errors.status_code(error) if error else 200,
        planned=planned,
        text=text,
        key=make_form_key(),
        columns=exports.OPENING_FIELDS,
        problems=_list_problems(error),
        error=_error_text(error),
    )


@router.get("/{opening_id}/import")
async def show_applicants_form(opening_id: PathId, visitor: Recruiter, page: Page) -> HTMLResponse:
    return await _render_applicants(page, opening_id)


@router.post("/{opening_id}/import")
async def import_applicants(opening_id: PathId, visitor: Recruiter, page: Page) -> Response:
    """Preview the file; with `confirmed`, apply for the people in it. Repeating it changes nothing."""
    try:
        file = await _read_form(page.request)
        entries = await spreadsheets.parse_uploaded_applicants(
            file.data, fold=page.site_settings.fold_aliases
        )
        _check_length(entries)
    except Invalid as error:
        return await _render_applicants(page, opening_id, error=error)
    if file.is_confirmed:
        for start in range(0, len(entries), imports.BATCH_SIZE):
            async with page.db.transaction(LONG_TIMEOUT) as tx:
                batch = entries[start : start + imports.BATCH_SIZE]
                await imports.import_applicants(tx, opening_id, batch, visitor.actor)
        return RedirectResponse(f"/hiring/{opening_id}", 303)
    lines = await _preview(page.db, opening_id, entries, visitor)
    text = file.data.decode("utf-8-sig")
    return await _render_applicants(page, opening_id, lines=lines, text=text)


async def _preview(
    db: RequestDatabase, opening_id: int, entries: Sequence[ApplicantEntry], visitor: Visitor
) -> list[ImportedApplicant]:
    async with db.transaction(LONG_TIMEOUT) as tx, tx.transaction(force_rollback=True):
        return await imports.import_applicants(tx, opening_id, entries, visitor.actor)


async def _render_applicants(
    page: PageRenderer,
    opening_id: int,
    *,
    lines: Sequence[ImportedApplicant] | None = None,
    text: str = "",
    error: AppError | None = None,
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        opening = await openings.get(tx, opening_id)
    return page(
        "openings/import_applicants.html",
        html_errors.status_code(error) if error else 200,
        opening=opening,
        lines=_choose_shown(lines) if lines is not None else None,
        counts=Counter(line.outcome for line in lines or ()),
        total=len(lines or ()),
        text=text,
        key=make_form_key(),
        problems=_list_problems(error),
        error=_error_text(error),
    )


def _choose_shown(lines: Sequence[ImportedApplicant]) -> list[ImportedApplicant]:
    """The lines that will not be imported, then the others, in order."""
    ordered = sorted(lines, key=lambda line: line.outcome == "applied")
    return ordered[:MAX_SHOWN]


def _check_length(lines: Sequence[object]) -> None:
    if not lines:
        raise Invalid(
            say(
                "The file has no rows below the header. Add at least one row, then upload it again."
            )
        )
    if len(lines) > MAX_LINES:
        raise Invalid(
            say(
                "The file has more than %(n)s rows. Split it into smaller files.",
                n=f"{MAX_LINES:,}",
            )
        )


def _list_problems(error: AppError | None) -> Sequence[LineProblem]:
    return error.problems[:MAX_SHOWN] if isinstance(error, InvalidSpreadsheet) else ()


def _error_text(error: AppError | None) -> str | None:
    if isinstance(error, InvalidSpreadsheet):
        return say("Nothing was imported. Correct these rows, then upload the file again.")
    return str(error) if error else None
