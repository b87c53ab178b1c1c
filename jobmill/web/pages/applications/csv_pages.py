"""/applications/export.csv and /applications/import: applications as a file."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.datastructures import UploadFile

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.errors import Invalid
from jobmill.matching import profiles
from jobmill.matching.job_applications import csv_export, csv_import
from jobmill.matching.job_applications.csv_import import ImportedRow
from jobmill.queue.feed import notify_feeds
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db
from jobmill.web.pages.applications.board_page import BoardQuery
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/applications")

IMPORT_SECONDS = 30.0


@router.get("/export.csv")
async def export(query: Annotated[BoardQuery, Query()], visitor: Seeker, db: Db) -> Response:
    async with db.transaction() as tx:
        version = await profiles.get(tx, query.profile, owner=visitor.owner)
        content = await csv_export.write(tx, version.profile_id)
    headers = {"Content-Disposition": 'attachment; filename="applications.csv"'}
    return Response(content, media_type="text/csv", headers=headers)


@router.get("/import")
async def show_import(
    query: Annotated[BoardQuery, Query()], visitor: Seeker, page: Page
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        version = await profiles.get(tx, query.profile, owner=visitor.owner)
    return _render(page, version.name)


def _render(
    page: Page,
    profile: str,
    error: Invalid | None = None,
    *,
    rows: list[ImportedRow] | None = None,
    text: str = "",
) -> HTMLResponse:
    """The form, or the preview of `rows`."""
    return page(
        "applications/import.html",
        profile=profile,
        columns=csv_export.COLUMNS,
        max_rows=csv_import.MAX_ROWS,
        error=error,
        rows=rows,
        text=text,
        counts=csv_import.count_outcomes(rows or []),
    )


@router.post("/import")
async def import_file(
    query: Annotated[BoardQuery, Query()], visitor: Seeker, page: Page
) -> Response:
    """Preview the file; with `confirmed`, import it."""
    async with page.db.transaction() as tx:
        version = await profiles.get(tx, query.profile, owner=visitor.owner)
    try:
        data, is_confirmed = await _read_form(page.request)
        file = await csv_import.read_file(data)
    except Invalid as error:
        return _render(page, version.name, error)
    async with page.db.transaction(IMPORT_SECONDS) as tx:
        rows = await csv_import.import_rows(
            tx,
            version,
            file,
            PLATFORM_RULES,
            actor=visitor.actor.name,
            dry_run=not is_confirmed,
        )
        if is_confirmed:
            await notify_feeds(tx)
    if is_confirmed:
        return RedirectResponse(BoardQuery(profile=query.profile).url("/applications"), 303)
    return _render(page, version.name, rows=rows, text=data.decode("utf-8-sig"))


async def _read_form(request: Request) -> tuple[bytes, bool]:
    """The file or the text of the preview, and whether the person has confirmed it."""
    limit = csv_import.MAX_BYTES + 1
    async with request.form(max_files=1, max_fields=5, max_part_size=2 * limit) as form:
        file, text = form.get("file"), form.get("text")
        if isinstance(text, str) and text.strip():
            return text.encode(), form.get("confirmed") == "yes"
        if not isinstance(file, UploadFile) or not file.size:
            raise Invalid(say("Choose a CSV file, or paste its text."))
        return await file.read(limit), False
