"""/hiring/{opening_id}/stages: people with a place by stage, and the stages themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid, NotFound
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.stages import stage_board, stage_moves
from jobmill.hiring.stages.stage_board import StageColumn
from jobmill.hiring.stages.stage_definitions import (
    MAX_STAGES,
    StageKind,
    list_stages,
    make_key,
)
from jobmill.web import consistent_reads
from jobmill.web.auth import Recruiter, Viewer, Visitor
from jobmill.web.confirmation import read_optional_reason
from jobmill.web.form import Fields
from jobmill.web.pages.hiring import applicants
from jobmill.web.pages.hiring.applicants import SubmittedApplicantForm
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/hiring/{opening_id}")

COLUMN_SIZE = 50
EMPTY_ROWS = 2
"""Rows for new stages in the form."""
MAX_ORDER_DIGITS = 9


def kind_labels() -> Mapping[StageKind, str]:
    return {
        "open": say("Keeps the place"),
        "hired": say("Hired, keeps the place"),
        "rejected": say("Ends the application"),
    }


@router.get("/stages")
async def show(opening_id: PathId, visitor: Viewer, page: Page) -> HTMLResponse:
    return await _board_page(page, opening_id)


@router.post("/people/{application_id}/stage")
async def move(form: SubmittedApplicantForm) -> Response:
    """Move a person to another stage, or show where the person is now."""
    try:
        async with form.page.db.transaction() as tx:
            await applicants.get_application(tx, form.opening_id, form.application_id)
            await _move(tx, form.application_id, dict(form.fields), form.page.visitor)
    except (Invalid, Conflict, NotFound) as error:
        return await _board_page(form.page, form.opening_id, error=error)
    return RedirectResponse(f"/hiring/{form.opening_id}/stages#a{form.application_id}", 303)


async def _move(tx: Tx, application_id: int, form: dict[str, str], visitor: Visitor) -> None:
    await stage_moves.move_to_stage(
        tx,
        application_id,
        form.get("to", ""),
        visitor.actor,
        seen=form.get("from", ""),
        reason=read_optional_reason(form) or None,
        tell_reason=form.get("tell_reason") == "yes",
    )


async def _board_page(
    page: PageRenderer, opening_id: int, *, error: AppError | None = None
) -> HTMLResponse:
    async def read(tx: Tx) -> tuple[Opening, list[StageColumn]]:
        opening = await openings.get(tx, opening_id)
        return opening, await stage_board.read_board(tx, opening, limit=COLUMN_SIZE)

    opening, columns = await consistent_reads.read_opening(page.db, opening_id, read)
    return page(
        "hiring/stages.html",
        topics=["hiring"],
        opening=opening,
        columns=[column for column in columns if column.stage.kind != "rejected"],
        rejecting=next((stage for stage in list_stages(opening) if stage.kind == "rejected"), None),
        error=error,
    )


@router.get("/stages/edit")
async def edit(opening_id: PathId, visitor: Recruiter, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        opening = await openings.get(tx, opening_id)
    return _edit_page(page, opening, _to_rows(opening))


@router.post("/stages/edit")
async def save(opening_id: PathId, visitor: Recruiter, form: Fields, page: Page) -> Response:
    """Save the stages, or show the form again with the error and the input."""
    async with page.db.transaction() as tx:
        opening = await openings.get(tx, opening_id)
    rows = read_rows(form)
    try:
        async with page.db.transaction() as tx:
            await lifecycle.edit(tx, opening_id, visitor.actor, stages=name_rows(rows))
    except (Invalid, Conflict) as error:
        return _edit_page(page, opening, rows, error=error)
    return RedirectResponse(f"/hiring/{opening_id}/stages", 303)


def _to_rows(opening: Opening) -> list[dict[str, str]]:
    return [
        {"key": stage.key, "name": stage.name, "kind": stage.kind} for stage in list_stages(opening)
    ]


def read_rows(form: Mapping[str, str]) -> list[dict[str, str]]:
    """The rows of the form that have a name, by their number; a row without a name is removed."""
    rows = [
        {
            field: form.get(f"{field}{number}", "").strip()
            for field in ("key", "name", "kind", "order")
        }
        for number in range(MAX_STAGES + EMPTY_ROWS)
    ]
    named = [row for row in rows if row["name"]]
    named.sort(key=_read_order)
    return [{field: row[field] for field in ("key", "name", "kind")} for row in named]


def _read_order(row: Mapping[str, str]) -> int:
    """The number of a row; last without one. Python refuses to read numbers of thousands of digits."""
    order = row["order"][:MAX_ORDER_DIGITS]
    return int(order) if order.isdecimal() else MAX_STAGES


def name_rows(rows: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Give new stages a key."""
    taken = [row["key"] for row in rows]
    named: list[dict[str, str]] = []
    for row in rows:
        key = row["key"] or make_key(row["name"], taken)
        taken.append(key)
        named.append({**row, "key": key})
    return named


def _edit_page(
    page: PageRenderer,
    opening: Opening,
    rows: Sequence[Mapping[str, str]],
    *,
    error: AppError | None = None,
) -> HTMLResponse:
    empty = {"key": "", "name": "", "kind": "open"}
    return page(
        "hiring/stages_edit.html",
        opening=opening,
        rows=[*rows, *[empty] * EMPTY_ROWS],
        kinds=kind_labels(),
        error=error,
    )
