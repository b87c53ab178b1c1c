"""/sources/approvals/…: a person's yes or no to what waits."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Path, Response
from fastapi.responses import RedirectResponse

from jobmill.catalog import approvals
from jobmill.catalog.approvals import ApprovalRef
from jobmill.errors import Conflict, Invalid
from jobmill.pipelines import approval
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.pages.sources import list_page
from jobmill.web.shell import Page

router = APIRouter(prefix="/sources/approvals/{ref}")

LONGEST_REASON = 500
UNSAID = "not wanted"
OWN = re.compile(r"/(?:sources|companies)/[0-9]{1,18}")
"""A page of ours to go back to, and of nobody else."""

Which = Annotated[str, Path(pattern=r"^(?:board|source):[0-9]{1,18}$")]


@router.post("/approve")
async def approve(ref: Which, form: Fields, visitor: Recruiter, db: Db, page: Page) -> Response:
    """Let it in; what follows is queued with it."""
    wanted = approvals.parse_ref(ref)
    try:
        async with db.transaction() as tx:
            await approval.approve(tx, wanted, actor=visitor.actor.name)
    except (Conflict, Invalid) as error:
        return await list_page.show_list(db, page, list_page.Looked(show="waiting"), error=error)
    return _back(form, wanted)


@router.post("/reject")
async def reject(ref: Which, form: Fields, visitor: Recruiter, db: Db, page: Page) -> Response:
    """Keep it out; it stays known."""
    unwanted = approvals.parse_ref(ref)
    try:
        why = reason(form) or UNSAID
        async with db.transaction() as tx:
            await approval.reject(tx, unwanted, why, actor=visitor.actor.name)
    except (Conflict, Invalid) as error:
        return await list_page.show_list(db, page, list_page.Looked(show="waiting"), error=error)
    return _back(form, unwanted)


def reason(form: Fields) -> str:
    """What was typed; Invalid where it is too long."""
    why = form.get("reason", "").strip()
    if len(why) > LONGEST_REASON:
        raise Invalid(f"A reason has {LONGEST_REASON} letters at most.")
    return why


def _back(form: Fields, ref: ApprovalRef) -> RedirectResponse:
    back = form.get("back", "")
    return RedirectResponse(back if OWN.fullmatch(back) else list_page.back_to(ref), 303)
