"""/my: the pages that an applicant opens with a personal link."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, StreamingResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Invalid, RateLimited, Unauthenticated
from jobmill.hiring import privacy
from jobmill.hiring.applications import offers, withdrawals
from jobmill.hiring.applications.outcomes import MissedOffer, Placement
from jobmill.hiring.forms import stored_answers, uploads
from jobmill.hiring.messages import personal_links
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.applications import ApplicationNotFound
from jobmill.web import (
    auth,
    consistent_reads,
    live_updates,
    my_applications,
    public_apply,
    qr_codes,
)
from jobmill.web.api.applications import require_own_application
from jobmill.web.auth import LINK_COOKIE, Anyone, Links, Visitor, visitor_with_link
from jobmill.web.dependencies import (
    NO_STORE,
    Db,
    RequestDatabase,
    ResponseT,
    View,
    no_store,
)
from jobmill.web.file_downloads import send_upload
from jobmill.web.form import Fields
from jobmill.web.my_applications import MyApplication, MyData, missed_offer_error
from jobmill.web.offer_answers import describe_refusal, read_offer_deadline
from jobmill.web.parameters import PathId
from jobmill.web.public_page import PublicPage
from jobmill.web.rate_limits import Public
from jobmill.web.translations import say

router = APIRouter(prefix="/my")

COOKIE_LIFETIME = dt.timedelta(days=30)
"""How long a browser remembers the link, counted from the last visit."""
MAX_OPEN_PAGES = 5
"""Open pages of one applicant with live updates."""
UPDATE_INTERVAL = 1.0
"""Seconds for which updates are collected: a thousand applicants may wait for one opening."""

Step = Literal["accept", "decline", "withdraw"]


async def find_link_holder(token: str, request: Request, db: Db, links: Links) -> Visitor:
    """The applicant of the link; raises Unauthenticated if it was replaced or the applicant erased."""
    link = links.read_personal(token)
    async with db.transaction() as tx:
        is_current = await personal_links.is_current(tx, link)
    if not is_current:
        raise Unauthenticated("This link is no longer valid. Ask for a new one.")
    return visitor_with_link(request, link)


Holder = Annotated[Visitor, Depends(find_link_holder)]


@router.get("")
async def enter(visitor: Anyone, page: PublicPage, sent: bool = False) -> Response:
    """Redirect to the applicant's page if this browser remembers the link, else offer to send the link."""
    cookies = page.request.cookies
    if visitor.applicant_id is not None and LINK_COOKIE in cookies:
        return RedirectResponse(f"/my/{cookies[LINK_COOKIE]}", 303, NO_STORE)
    return _entry_form(page, sent=sent)


@router.post("")
async def send_link(form: Fields, visitor: Public, page: PublicPage) -> Response:
    """Send the link to the address. The response does not reveal whether the address has applied."""
    email = form.get("email", "")
    try:
        public_apply.refuse_programs(form.get(public_apply.HONEYPOT, ""))
        if not page.site_settings.sends_mail:
            raise Invalid(say("Email is not set up on this site. Ask the company for your link."))
        contact = applicants.parse_contact("-", email, fold=page.site_settings.fold_aliases)
        async with page.db.transaction() as tx:
            await personal_links.send_link(
                tx, contact.email_key, say("You asked for the link to your applications.")
            )
    except Invalid as error:
        return _entry_form(page, email=email, error=error)
    return RedirectResponse("/my?sent=true", 303)


def _entry_form(
    page: PublicPage, *, sent: bool = False, email: str = "", error: Invalid | None = None
) -> HTMLResponse:
    sends_mail = page.site_settings.sends_mail
    return page.render(
        "public/enter.html", sends_mail=sends_mail, sent=sent, email=email, error=error
    )


@router.post("/forget")
async def forget() -> Response:
    return _forget_link(RedirectResponse("/openings", 303, NO_STORE))


def _forget_link(response: ResponseT) -> ResponseT:
    response.delete_cookie(LINK_COOKIE, httponly=True, samesite="lax")
    return response


@router.get("/{token}")
async def show_all(token: str, visitor: Holder, page: PublicPage, digest: str = "") -> Response:
    data = await _read(page.db, visitor)
    if digest == data.digest:
        # Nothing on this page changed.
        return Response(status_code=204, headers=NO_STORE)
    # A live update replaces only the part without the QR code.
    response = _page(token, data, page, with_code=not digest)
    response.set_cookie(
        LINK_COOKIE,
        token,
        max_age=int(COOKIE_LIFETIME.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=auth.get_client_resolver(page.request).is_https(page.request),
    )
    return response


@router.get("/{token}/live")
async def listen(token: str, visitor: Holder, request: Request) -> StreamingResponse:
    """Stream a signal for every change in hiring, without its content."""
    streams, owner = live_updates.get_live_updates(request), visitor.actor.name
    if streams.count_open(owner) >= MAX_OPEN_PAGES:
        raise RateLimited(60)
    news = streams.stream(
        ["hiring"],
        missed=live_updates.has_missed_events(request),
        owner=owner,
        batch_seconds=UPDATE_INTERVAL,
    )
    return live_updates.event_stream_response(news)


@router.get("/{token}/applications/{application_id}")
async def show(
    token: str, application_id: PathId, visitor: Holder, db: Db, view: View, digest: str = ""
) -> Response:
    """One application: its history, and withdrawing it."""
    data = await _read(db, visitor)
    if digest == data.digest:
        return Response(status_code=204, headers=NO_STORE)
    application = _find_application(data, application_id)
    async with db.transaction() as tx:
        answered = await stored_answers.find_by_application(
            tx, application.standing.job_id, application_id
        )
    response = view(
        "public/application.html",
        token=token,
        data=data,
        application=application,
        answered=answered,
        now=data.read_at,
    )
    return no_store(response)


@router.get("/{token}/applications/{application_id}/files/{file_id}")
async def download_file(application_id: PathId, file_id: UUID, visitor: Holder, db: Db) -> Response:
    """A file that the applicant sent. Company members read files on their own page."""
    visitor.require_own_data(visitor.applicant_id or 0)
    async with db.transaction() as tx:
        application = await applications.get(tx, application_id)
        if application.applicant_id != visitor.applicant_id:
            raise ApplicationNotFound(application_id)
        file = await uploads.get_for_application(tx, application_id, file_id)
    return send_upload(db, file)


@router.post("/{token}/applications/{application_id}/{step}")
async def change_application(
    token: str,
    application_id: PathId,
    step: Step,
    visitor: Holder,
    form: Fields,
    page: PublicPage,
) -> Response:
    """Accept, decline or withdraw, then show the page again."""
    db = page.db
    try:
        async with db.transaction() as tx:
            result = await _change_application(tx, visitor, application_id, step, form)
        error = missed_offer_error(result) if isinstance(result, MissedOffer) else None
    except AppError as refusal:
        error = await describe_refusal(db, application_id, step, refusal)
    if error:
        return _page(token, await _read(db, visitor), page, error=error)
    return RedirectResponse(f"/my/{token}", 303)


@router.get("/{token}/export")
async def export(visitor: Holder, db: Db) -> Response:
    visitor.require_own_data(visitor.applicant_id or 0)
    async with db.transaction() as tx:
        data = await privacy.export_personal_data(tx, visitor.applicant_id or 0)
    name = {"Content-Disposition": 'attachment; filename="my-data.json"'}
    return JSONResponse(data, headers={**NO_STORE, **name})


@router.post("/{token}/erase")
async def erase(visitor: Holder, form: Fields, db: Db, view: View) -> HTMLResponse:
    visitor.require_own_data(visitor.applicant_id or 0)
    if form.get("confirmed") != "yes":
        raise Invalid("Select the checkbox to confirm. Erased data cannot be restored.")
    async with db.transaction() as tx:
        await privacy.erase_applicant(tx, visitor.applicant_id or 0, visitor.actor)
    return _forget_link(view("public/erased.html"))


async def _change_application(
    tx: Tx, visitor: Visitor, application_id: int, step: Step, form: Mapping[str, str]
) -> Placement | MissedOffer:
    await require_own_application(tx, visitor, application_id)
    if step == "withdraw":
        return await withdrawals.withdraw(tx, application_id, visitor.actor)
    deadline = read_offer_deadline(form)
    return await offers.answer_offer(tx, application_id, step, visitor.actor, deadline=deadline)


async def _read(db: RequestDatabase, visitor: Visitor) -> MyData:
    id = visitor.applicant_id or 0
    return await consistent_reads.read_applicant(
        db, id, lambda tx: my_applications.read_my_data(tx, id)
    )


def _page(
    token: str,
    data: MyData,
    page: PublicPage,
    *,
    error: AppError | None = None,
    with_code: bool = True,
) -> HTMLResponse:
    link = page.link(f"/my/{token}")
    response = page.render(
        "public/my_applications.html",
        token=token,
        data=data,
        live=[application for application in data.applications if application.is_live],
        ended=[application for application in data.applications if not application.is_live],
        now=data.read_at,
        sends_mail=page.site_settings.sends_mail,
        link=link,
        picture=qr_codes.draw_qr_code(link) if with_code else None,
        error=error,
    )
    return no_store(response)


def _find_application(data: MyData, id: int) -> MyApplication:
    for application in data.applications:
        if application.standing.application_id == id:
            return application
    raise ApplicationNotFound(id)
