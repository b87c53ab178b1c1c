"""/hiring and /hiring/new: all openings, and one more."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError
from jobmill.hiring.audit_log import replay_preview
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records.openings import OpeningStatus, OpeningTerms
from jobmill.web import html_errors
from jobmill.web.auth import Recruiter, Viewer
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.pages.hiring import terms_form
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page

router = APIRouter(prefix="/hiring")

AT_ONCE = 50

Before = Annotated[int | None, Query(ge=1, le=MAX_ID)]


@router.get("")
async def show(
    visitor: Viewer,
    db: Db,
    page: Page,
    status: OpeningStatus | None = None,
    before: Before = None,
) -> HTMLResponse:
    async with db.transaction() as tx:
        found = await replay_preview.list_cards(tx, status=status, before=before, limit=AT_ONCE + 1)
    more = found[AT_ONCE - 1].id if len(found) > AT_ONCE else None
    return page(
        "hiring/page.html",
        topics=["hiring"],
        cards=found[:AT_ONCE],
        more=more,
        status=status,
        before=before,
    )


@router.get("/new")
async def ask(visitor: Recruiter, page: Page) -> HTMLResponse:
    typed = terms_form.write(OpeningTerms("")) | {"capacity": "1"}
    return page("hiring/terms.html", opening=None, typed=typed, error=None)


@router.post("/new")
async def create(visitor: Recruiter, form: Fields, db: Db, page: Page) -> Response:
    """A new opening, or the form again with what was typed."""
    try:
        offered, capacity = (
            terms_form.read(form),
            terms_form.whole(form, "capacity", "The capacity"),
        )
        async with db.transaction() as tx:
            made = await lifecycle.create(tx, offered, capacity, visitor.actor)
    except AppError as error:
        typed = dict.fromkeys([*terms_form.write(OpeningTerms("")), "capacity"], "") | dict(form)
        return page(
            "hiring/terms.html",
            html_errors.status_code(error),
            opening=None,
            typed=typed,
            error=str(error),
        )
    return RedirectResponse(f"/hiring/{made.id}", 303)
