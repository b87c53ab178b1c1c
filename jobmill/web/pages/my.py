"""/my: what an applicant sees and does with their personal link."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, StreamingResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Invalid, RateLimited, Unauthenticated
from jobmill.hiring import actor, privacy
from jobmill.hiring.applications import offers, submissions
from jobmill.hiring.applications.submissions import MissedOffer
from jobmill.hiring.messages import personal_links, recall
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applications import ApplicationNotFound
from jobmill.web import (
    consistent_reads,
    html_errors,
    live_updates,
    my_applications,
    personal_link_cookie,
)
from jobmill.web.api.applications import missed_offer_error, require_own_application
from jobmill.web.auth import LINK_COOKIE, Anyone, Links, Visitor, request_id
from jobmill.web.dependencies import Db, Render, RequestDatabase, View
from jobmill.web.form import Fields
from jobmill.web.my_applications import MyApplication, MyData
from jobmill.web.parameters import PathId
from jobmill.web.personal_link_cookie import NO_STORE
from jobmill.web.rate_limits import Public
from jobmill.web.site_settings import CurrentSiteSettings
from jobmill.web.translations import say

router = APIRouter(prefix="/my")

PAGES_AT_ONCE = 5
"""Pages of one applicant that are kept up to date."""
TOGETHER = 1.0
"""Seconds for which what comes is gathered: a thousand may wait for one opening."""

Step = Literal["accept", "decline", "withdraw"]


async def holder(token: str, request: Request, db: Db, links: Links) -> Visitor:
    """Whose link this is; refused where it was replaced, or they were erased."""
    personal = links.read_personal(token)
    async with db.transaction() as tx:
        opens = await personal_links.is_current(tx, personal)
    if not opens:
        raise Unauthenticated("This link no longer opens. Ask for a new one.")
    id = personal.applicant_id
    return Visitor(None, actor.by_applicant(id, request_id(request)), id)


Holder = Annotated[Visitor, Depends(holder)]


@router.get("")
async def enter(
    request: Request,
    visitor: Anyone,
    view: View,
    site_settings: CurrentSiteSettings,
    asked: bool = False,
) -> Response:
    """To the page of who was here before, or how to get there."""
    if visitor.applicant_id is not None and LINK_COOKIE in request.cookies:
        return RedirectResponse(f"/my/{request.cookies[LINK_COOKIE]}", 303, NO_STORE)
    return view(
        "my/enter.html", sends_mail=site_settings.sends_mail, asked=asked, email="", error=None
    )


@router.post("")
async def send_link(
    form: Fields, visitor: Public, db: Db, view: View, site_settings: CurrentSiteSettings
) -> Response:
    """Send it to their address. Whether we know that is not told here."""
    email = form.get("email", "")
    try:
        if not site_settings.sends_mail:
            raise Invalid(say("No letters can be sent from here. Ask the company for your link."))
        one = applicants.parse_contact("-", email, fold=site_settings.fold_aliases)
        async with db.transaction() as tx:
            await recall.send_link(tx, one.key, say("You asked for the link to your applications."))
    except Invalid as error:
        values = {
            "sends_mail": site_settings.sends_mail,
            "asked": False,
            "email": email,
            "error": str(error),
        }
        return view("my/enter.html", html_errors.status_code(error), **values)
    return RedirectResponse("/my?asked=true", 303)


@router.post("/forget")
async def forget() -> Response:
    response = RedirectResponse("/openings", 303, NO_STORE)
    personal_link_cookie.delete_cookie(response)
    return response


@router.get("/{token}")
async def page(
    token: str, visitor: Holder, request: Request, db: Db, view: View, seen: str = ""
) -> Response:
    found = await _read(db, visitor)
    if seen == found.digest:
        # Something happened, but not to them: what they look at stays as it is.
        return Response(status_code=204, headers=NO_STORE)
    response = _page(token, found, view)
    personal_link_cookie.set_cookie(response, request, token)
    return response


@router.get("/{token}/live")
async def listen(token: str, visitor: Holder, request: Request) -> StreamingResponse:
    """Tells that something changed in hiring, and nothing more."""
    known, owner = live_updates.get_live_updates(request), visitor.actor.name
    if known.count_open(owner) >= PAGES_AT_ONCE:
        raise RateLimited(60)
    news = known.stream(
        ["hiring"],
        missed=live_updates.has_missed_events(request),
        owner=owner,
        batch_seconds=TOGETHER,
    )
    return live_updates.event_stream_response(news)


@router.get("/{token}/applications/{application_id}")
async def show(
    token: str, application_id: PathId, visitor: Holder, db: Db, view: View, seen: str = ""
) -> Response:
    """One application: what happened to it, and how to end it."""
    found = await _read(db, visitor)
    if seen == found.digest:
        return Response(status_code=204, headers=NO_STORE)
    return _application(token, found, application_id, view)


@router.post("/{token}/applications/{application_id}/{step}")
async def take(
    token: str, application_id: PathId, step: Step, visitor: Holder, db: Db, view: View
) -> Response:
    """Do it, and show how things stand then."""
    error: AppError | None = None
    try:
        async with db.transaction() as tx:
            done = await _take(tx, visitor, application_id, step)
        error = missed_offer_error(done) if isinstance(done, MissedOffer) else None
    except AppError as refusal:
        error = refusal
    if error:
        return _page(token, await _read(db, visitor), view, error=error)
    return RedirectResponse(f"/my/{token}", 303)


@router.get("/{token}/export")
async def export(visitor: Holder, db: Db) -> Response:
    async with db.transaction() as tx:
        found = await privacy.export_personal_data(tx, visitor.applicant_id or 0)
    name = {"Content-Disposition": 'attachment; filename="my-data.json"'}
    return JSONResponse(found, headers={**NO_STORE, **name})


@router.post("/{token}/erase")
async def erase(visitor: Holder, form: Fields, db: Db, view: View) -> HTMLResponse:
    if form.get("sure") != "yes":
        raise Invalid("Say that you are sure: what is erased does not come back.")
    async with db.transaction() as tx:
        await privacy.erase_applicant(tx, visitor.applicant_id or 0, visitor.actor)
    response = view("my/erased.html")
    personal_link_cookie.delete_cookie(response)
    return response


async def _take(
    tx: Tx, visitor: Visitor, application_id: int, step: Step
) -> submissions.Placement | MissedOffer:
    await require_own_application(tx, visitor, application_id)
    if step == "withdraw":
        return await submissions.withdraw(tx, application_id, visitor.actor)
    return await offers.answer_offer(tx, application_id, step, visitor.actor)


async def _read(db: RequestDatabase, visitor: Visitor) -> MyData:
    id = visitor.applicant_id or 0
    return await consistent_reads.read_applicant(
        db, id, lambda tx: my_applications.read_my_data(tx, id)
    )


def _page(
    token: str, found: MyData, view: Render, *, error: AppError | None = None
) -> HTMLResponse:
    response = view(
        "my/page.html",
        html_errors.status_code(error) if error else 200,
        token=token,
        found=found,
        live=[one for one in found.mine if one.lives],
        ended=[one for one in found.mine if not one.lives],
        now=found.read_at,
        error=str(error) if error else None,
    )
    response.headers.update(NO_STORE)
    return response


def _application(token: str, found: MyData, id: int, view: Render) -> HTMLResponse:
    mine = _find(found, id)
    response = view("my/application.html", token=token, found=found, mine=mine, now=found.read_at)
    response.headers.update(NO_STORE)
    return response


def _find(found: MyData, id: int) -> MyApplication:
    for mine in found.mine:
        if mine.one.application_id == id:
            return mine
    raise ApplicationNotFound(id)
