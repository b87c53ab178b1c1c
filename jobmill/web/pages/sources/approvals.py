"""/sources/approvals/…: approve or reject boards and sources that wait for a decision."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Path, Response
from fastapi.responses import RedirectResponse

from jobmill.catalog import approvals
from jobmill.catalog.approvals import ApprovalRef
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.pipelines import approval
from jobmill.web.auth import Admin
from jobmill.web.banners import Banners, CurrentBanners
from jobmill.web.confirmation import read_optional_reason
from jobmill.web.form import Fields
from jobmill.web.pages.sources import list_page
from jobmill.web.pages.sources.list_page import SourceListQuery, decided_url
from jobmill.web.shell import Page

router = APIRouter(prefix="/sources/approvals/{ref}")

DEFAULT_REASON = "not wanted"
DETAIL_PATH = re.compile(r"/(?:sources|companies)/[0-9]{1,18}")
"""Where the forms may return to."""

RefPath = Annotated[str, Path(pattern=r"^(?:board|source):[0-9]{1,18}$")]


@router.post("/approve")
async def approve(
    ref: RefPath, form: Fields, visitor: Admin, page: Page, banners: CurrentBanners
) -> Response:
    """Approve it, and queue its first run."""
    approval_ref = approvals.parse_ref(ref)
    try:
        async with page.db.transaction() as tx:
            await approval.approve(tx, approval_ref, actor=visitor.actor.name)
    except (Conflict, Invalid) as error:
        return await _render_waiting(page, banners, error)
    return _redirect(form, approval_ref)


@router.post("/reject")
async def reject(
    ref: RefPath, form: Fields, visitor: Admin, page: Page, banners: CurrentBanners
) -> Response:
    """Reject it; it is remembered, so that it is not suggested again."""
    approval_ref = approvals.parse_ref(ref)
    try:
        reason = read_optional_reason(form) or DEFAULT_REASON
        async with page.db.transaction() as tx:
            await approval.reject(tx, approval_ref, reason, actor=visitor.actor.name)
    except (Conflict, Invalid) as error:
        return await _render_waiting(page, banners, error)
    return _redirect(form, approval_ref)


async def _render_waiting(page: Page, banners: Banners, error: AppError) -> Response:
    return await list_page.render(page, banners, SourceListQuery(show="waiting"), error=error)


def _redirect(form: Fields, ref: ApprovalRef) -> RedirectResponse:
    back = form.get("back", "")
    return RedirectResponse(back if DETAIL_PATH.fullmatch(back) else decided_url(ref), 303)
