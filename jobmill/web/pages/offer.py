"""/offer/{token}: one offer, to be accepted or declined."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Invalid
from jobmill.hiring.applications import offers, outcomes
from jobmill.hiring.applications.offers import Answer
from jobmill.hiring.applications.submissions import MissedOffer
from jobmill.hiring.messages.signed_links import OfferLinkToken
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.openings import Opening
from jobmill.web import html_errors
from jobmill.web.api.applications import missed_offer_error
from jobmill.web.auth import Links, request_id
from jobmill.web.dependencies import Db, Render, RequestDatabase, View
from jobmill.web.form import Fields
from jobmill.web.rate_limits import Public

router = APIRouter(prefix="/offer/{token}")


@router.get("")
async def page(token: str, db: Db, view: View, links: Links, answer: str = "") -> HTMLResponse:
    """Nothing is answered by looking at it: mail programs follow links, too."""
    link = links.read_offer(token)
    async with db.transaction() as tx:
        opening = await _opening(tx, link)
        state = await offers.link_state(tx, link)
    return view(
        "my/offer.html",
        offer=token,
        opening=opening,
        link=link,
        state=state,
        answer=answer,
        now=opening.now,
    )


@router.post("")
async def answer(
    token: str,
    form: Fields,
    visitor: Public,
    request: Request,
    db: Db,
    view: View,
    links: Links,
) -> HTMLResponse:
    link = links.read_offer(token)
    given = form.get("answer")
    if given not in ("accept", "decline"):
        raise Invalid("Accept the offer, or decline it.")
    return await _answer(link, given, request, db, view)


async def _answer(
    link: OfferLinkToken, given: Answer, request: Request, db: RequestDatabase, view: Render
) -> HTMLResponse:
    error: AppError | None = None
    async with db.transaction() as tx:
        opening = await _opening(tx, link)
    try:
        async with db.transaction() as tx:
            done = await offers.answer_by_link(tx, link, given, request=request_id(request))
        error = missed_offer_error(done) if isinstance(done, MissedOffer) else None
    except AppError as refused:
        error = refused
    return view(
        "my/answered.html",
        html_errors.status_code(error) if error else 200,
        opening=opening,
        good=error is None,
        text=str(error or outcomes.ANSWERED[given]),
    )


async def _opening(tx: Tx, link: OfferLinkToken) -> Opening:
    one = await applications.get(tx, link.application_id)
    return await openings.get(tx, one.opening_id)
