"""/offer/{token}: one offer, to be accepted or declined."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Invalid
from jobmill.hiring.applications import offers
from jobmill.hiring.applications.outcomes import MissedOffer
from jobmill.hiring.messages.signed_links import OfferLinkToken
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.openings import Opening
from jobmill.web.auth import Links, request_id
from jobmill.web.dependencies import Db, View, no_store
from jobmill.web.form import Fields
from jobmill.web.my_applications import describe_answer, missed_offer_error
from jobmill.web.offer_answers import describe_refusal
from jobmill.web.public_page import PublicPage
from jobmill.web.rate_limits import Public

router = APIRouter(prefix="/offer/{token}")


@router.get("")
async def show(token: str, db: Db, view: View, links: Links, answer: str = "") -> HTMLResponse:
    """Only shows the offer: mail programs follow links, too, and must not answer it."""
    link = links.read_offer(token)
    async with db.transaction() as tx:
        opening = await _opening(tx, link)
        state = await offers.link_state(tx, link)
    response = view(
        "public/offer.html",
        offer=token,
        opening=opening,
        link=link,
        state=state,
        answer=answer,
        now=opening.now,
    )
    return no_store(response)


@router.post("")
async def answer(
    token: str, form: Fields, visitor: Public, page: PublicPage, links: Links
) -> HTMLResponse:
    link = links.read_offer(token)
    answer = form.get("answer")
    if answer not in ("accept", "decline"):
        raise Invalid("Choose Accept or Decline.")
    db, request = page.db, request_id(page.request)
    async with db.transaction() as tx:
        opening = await _opening(tx, link)
    try:
        async with db.transaction() as tx:
            result = await offers.answer_by_link(tx, link, answer, request=request)
        error = missed_offer_error(result) if isinstance(result, MissedOffer) else None
    except AppError as refused:
        error = await describe_refusal(db, link.application_id, answer, refused)
    response = page.render(
        "public/answered.html",
        opening=opening,
        text=describe_answer(answer, is_interview=opening.starts_at is not None),
        error=error,
    )
    return no_store(response)


async def _opening(tx: Tx, link: OfferLinkToken) -> Opening:
    application = await applications.get(tx, link.application_id)
    return await openings.get(tx, application.opening_id)
