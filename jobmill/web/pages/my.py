"""/my/{token}: what an applicant sees and does with their personal link."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Invalid, Unauthenticated
from jobmill.hiring import actor, keys, offers, privacy, reading, steps
from jobmill.hiring.steps import Missed
from jobmill.web import faults, reads
from jobmill.web.api.shapes import WholePathId
from jobmill.web.api.steps import check_own, missed
from jobmill.web.form import Fields
from jobmill.web.rights import Links, Visitor, request_id
from jobmill.web.view import Db, Door, Render, View

router = APIRouter(prefix="/my/{token}")

PRIVATE = {"Cache-Control": "no-store"}
"""Who uses the same browser later finds nothing."""

Step = Literal["accept", "decline", "withdraw"]


async def holder(token: str, request: Request, db: Db, links: Links) -> Visitor:
    """Whose link this is; refused where it was replaced, or they were erased."""
    personal = links.read_personal(token)
    async with db.transaction() as tx:
        version = await keys.link_version(tx, personal.applicant_id)
    if version != personal.version:
        raise Unauthenticated("This link no longer opens. Ask for a new one.")
    id = personal.applicant_id
    return Visitor(None, actor.applicant(id, request_id(request)), id)


Holder = Annotated[Visitor, Depends(holder)]


@router.get("")
async def page(token: str, visitor: Holder, db: Db, view: View) -> HTMLResponse:
    return await _page(token, visitor, db, view)


@router.post("/applications/{application_id}/{step}")
async def take(
    token: str, application_id: WholePathId, step: Step, visitor: Holder, db: Db, view: View
) -> Response:
    """Do it, and show how things stand then."""
    try:
        async with db.transaction() as tx:
            done = await _take(tx, visitor, application_id, step)
    except AppError as error:
        return await _page(token, visitor, db, view, error=error)
    if isinstance(done, Missed):
        return await _page(token, visitor, db, view, error=missed(done))
    return RedirectResponse(f"/my/{token}", 303)


@router.get("/export")
async def export(visitor: Holder, db: Db) -> Response:
    async with db.transaction() as tx:
        found = await privacy.export(tx, visitor.applicant_id or 0)
    name = {"Content-Disposition": 'attachment; filename="my-data.json"'}
    return JSONResponse(found, headers={**PRIVATE, **name})


@router.post("/erase")
async def erase(visitor: Holder, form: Fields, db: Db, view: View) -> HTMLResponse:
    if form.get("sure") != "yes":
        raise Invalid("Say that you are sure: what is erased does not come back.")
    async with db.transaction() as tx:
        await privacy.erase(tx, visitor.applicant_id or 0, visitor.actor)
    return view("my/erased.html")


async def _take(tx: Tx, visitor: Visitor, application_id: int, step: Step) -> steps.Placed | Missed:
    await check_own(tx, visitor, application_id)
    if step == "withdraw":
        return await steps.withdraw(tx, application_id, visitor.actor)
    return await offers.answer(tx, application_id, step, visitor.actor)


async def _page(
    token: str, visitor: Visitor, db: Door, view: Render, *, error: AppError | None = None
) -> HTMLResponse:
    id = visitor.applicant_id or 0
    person, standings = await reads.of_applicant(db, id, lambda tx: reading.own(tx, id))
    live = [one for one in standings if one.status != "INACTIVE"]
    ended = [one for one in standings if one.status == "INACTIVE"]
    response = view(
        "my/page.html",
        faults.status(error) if error else 200,
        token=token,
        person=person,
        live=live,
        ended=ended,
        now=dt.datetime.now(dt.UTC),
        error=str(error) if error else None,
    )
    response.headers.update(PRIVATE)
    return response
