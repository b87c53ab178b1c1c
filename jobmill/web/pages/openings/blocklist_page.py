"""/hiring/company/blocklist: addresses and domains that cannot apply."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Invalid
from jobmill.hiring.records import blocklist
from jobmill.web.auth import Recruiter, Viewer
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/hiring/company/blocklist")

MAX_REASON_LENGTH = 2_000


@router.get("")
async def show(visitor: Viewer, page: Page) -> HTMLResponse:
    return await _render(page)


@router.post("")
async def block(visitor: Recruiter, form: Fields, page: Page) -> Response:
    try:
        address = blocklist.parse_entry(form.get("address", ""))
        reason = form.get("reason", "").strip()
        if not 0 < len(reason) <= MAX_REASON_LENGTH:
            raise Invalid(say("Enter a reason. Applicants do not see it."))
        async with page.db.transaction() as tx:
            await blocklist.add(tx, address, reason)
    except Invalid as error:
        typed = form.get("address", ""), form.get("reason", "")
        return await _render(page, error, typed)
    return RedirectResponse("/hiring/company/blocklist", 303)


@router.post("/remove")
async def unblock(visitor: Recruiter, form: Fields, db: Db) -> Response:
    async with db.transaction() as tx:
        await blocklist.remove(tx, blocklist.parse_entry(form.get("address", "")))
    return RedirectResponse("/hiring/company/blocklist", 303)


async def _render(
    page: PageRenderer, error: AppError | None = None, typed: tuple[str, str] = ("", "")
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        entries = await blocklist.list_blocked(tx)
    return page(
        "openings/blocklist.html",
        entries=entries,
        address=typed[0],
        reason=typed[1],
        error=error,
    )
