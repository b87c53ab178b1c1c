"""/my/{token}/applications/{application_id}/interview: an applicant books an interview time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Gone, Invalid
from jobmill.hiring.applications import offers
from jobmill.hiring.applications.offers import NoOfferToAnswer
from jobmill.hiring.applications.outcomes import MissedOffer
from jobmill.hiring.interviews import bookings
from jobmill.hiring.interviews.bookings import AlreadyBooked, InterviewChoice, NoBookingToCancel
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applications import ApplicationNotFound
from jobmill.hiring.records.openings import Opening
from jobmill.web import consistent_reads
from jobmill.web.auth import Visitor
from jobmill.web.dependencies import NO_STORE, RequestDatabase, no_store
from jobmill.web.form import Fields, read_whole_number
from jobmill.web.my_applications import missed_offer_error
from jobmill.web.offer_answers import describe_refusal, offer_is_over, read_offer_deadline
from jobmill.web.pages.public.my_applications_page import Holder
from jobmill.web.parameters import PathId
from jobmill.web.public_page import PublicPage
from jobmill.web.translations import say

router = APIRouter(prefix="/my/{token}/applications/{application_id}/interview")

Step = Literal["book", "cancel", "accept"]


@router.get("")
async def show(
    token: str, application_id: PathId, visitor: Holder, page: PublicPage
) -> HTMLResponse:
    return await _page(token, application_id, visitor, page)


@router.post("/{step}")
async def change(
    token: str,
    application_id: PathId,
    step: Step,
    visitor: Holder,
    form: Fields,
    page: PublicPage,
) -> Response:
    """Book, rebook, accept or cancel, then show the page again."""
    error: AppError | None = None
    try:
        if step == "accept":
            error = await _accept(page.db, visitor, application_id, form)
        else:
            async with page.db.transaction() as tx:
                await _change(tx, visitor, application_id, step, form)
    except (AlreadyBooked, NoBookingToCancel):
        # A second tap: nothing is left to do.
        pass
    except (Invalid, Conflict, Gone) as refusal:
        error = refusal
    if error:
        return await _page(token, application_id, visitor, page, error)
    return RedirectResponse(f"/my/{token}/applications/{application_id}/interview", 303, NO_STORE)


async def _change(
    tx: Tx, visitor: Visitor, application_id: int, step: Step, form: Mapping[str, str]
) -> None:
    await _require_own(tx, visitor, application_id)
    if step == "book":
        time = read_whole_number(form, "time", say("Choose a time first."))
        await bookings.book(tx, application_id, time, visitor.actor)
    else:
        await bookings.cancel_booking(tx, application_id, visitor.actor)


async def _accept(
    db: RequestDatabase, visitor: Visitor, application_id: int, form: Mapping[str, str]
) -> AppError | None:
    """Accept the offered place; None if the applicant has it, also by an earlier tap."""
    async with db.transaction() as tx:
        await _require_own(tx, visitor, application_id)
        booking = await bookings.find_booking(tx, application_id)
    if booking is None or booking.status == "ACTIVE":
        return None
    if booking.status != "PENDING_ACKNOWLEDGMENT":
        return offer_is_over()
    id, deadline = booking.application_id, read_offer_deadline(form)
    try:
        async with db.transaction() as tx:
            result = await offers.answer_offer(tx, id, "accept", visitor.actor, deadline=deadline)
    except NoOfferToAnswer as refusal:
        return await describe_refusal(db, id, "accept", refusal)
    return missed_offer_error(result) if isinstance(result, MissedOffer) else None


async def _page(
    token: str,
    application_id: int,
    visitor: Visitor,
    page: PublicPage,
    error: AppError | None = None,
) -> HTMLResponse:
    async def read(tx: Tx) -> tuple[Opening, InterviewChoice | None]:
        await _require_own(tx, visitor, application_id)
        application = await applications.get(tx, application_id)
        choice = await bookings.read_choice(tx, application_id)
        return await openings.get(tx, application.opening_id), choice

    applicant_id = visitor.applicant_id or 0
    opening, choice = await consistent_reads.read_applicant(page.db, applicant_id, read)
    response = page.render(
        "public/interview.html",
        token=token,
        application_id=application_id,
        opening=opening,
        choice=choice,
        now=opening.now,
        error=error,
    )
    return no_store(response)


async def _require_own(tx: Tx, visitor: Visitor, application_id: int) -> None:
    application = await applications.get(tx, application_id)
    if application.applicant_id != visitor.applicant_id or application.parent_id is not None:
        raise ApplicationNotFound(application_id)
