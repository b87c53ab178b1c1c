"""/api/apply, /api/withdraw, /api/acknowledge, …: changes of one application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field, StrictBool

from jobmill.db import Tx
from jobmill.errors import AppError, Gone
from jobmill.hiring.applications import offers, outcomes, withdrawals
from jobmill.hiring.applications.outcomes import Answer, MissedOffer, Placement
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.applicants import Contact
from jobmill.hiring.records.applications import Application
from jobmill.web import public_apply
from jobmill.web.api.openapi import problems
from jobmill.web.api.schemas import ApplicationResult, RequestBody, UnconfirmedApplication
from jobmill.web.apply_batch import get_apply_batches
from jobmill.web.auth import Anyone, Links, Recruiter, Visitor
from jobmill.web.dependencies import Db
from jobmill.web.idempotency import has_idempotency_key, run_once, to_response
from jobmill.web.parameters import PLAIN_TEXT, ApplicationPathId, BodyId
from jobmill.web.rate_limits import Public
from jobmill.web.site_settings import CurrentSiteSettings, SiteSettings

router = APIRouter(tags=["applications"])

Reason = Annotated[
    str, Field(min_length=1, max_length=2_000, examples=["No longer needed"]), PLAIN_TEXT
]


class ApplyBody(RequestBody):
    applicant_id: BodyId
    job_id: BodyId


class PublicApplyBody(RequestBody):
    name: Annotated[str, Field(min_length=1, max_length=400, examples=["Ada Lovelace"]), PLAIN_TEXT]
    email: Annotated[str, Field(max_length=300, examples=["ada@example.org"]), PLAIN_TEXT]
    job_id: BodyId
    proof: Annotated[str, Field(max_length=300, examples=["WzEsMTc5…:48213"]), PLAIN_TEXT] = ""
    """The solution of the challenge on the opening's page, if the site asks for a proof of work."""


class ApplicationBody(RequestBody):
    application_id: BodyId


class ReasonBody(RequestBody):
    reason: Reason


class DeclineBody(RequestBody):
    reason: Reason | None = None


class PromoteBody(RequestBody):
    reason: Reason
    add_slot: StrictBool = False
    """Whether to add a slot if none is free."""


class OfferAnswerBody(RequestBody):
    answer: Annotated[Answer, Field(examples=["accept"])]


Token = Annotated[str, Path(max_length=300, description="The last part of the link in the letter.")]


MAILED: dict[int | str, dict[str, Any]] = {
    202: {
        "model": UnconfirmedApplication,
        "description": "The owner of the address gets an email and must confirm.",
    }
}


@router.post(
    "/apply",
    response_model=ApplicationResult,
    status_code=201,
    responses={**MAILED, **problems(404, 409, 429)},
)
async def apply(
    body: ApplyBody, request: Request, visitor: Anyone, site_settings: CurrentSiteSettings
) -> Response:
    """Take a free slot if the waitlist is empty, otherwise join it."""
    visitor.require("recruiter", applicant_id=body.applicant_id)
    if not visitor.is_company:
        contact, confirmed = await public_apply.find_contact(
            request, site_settings, body.applicant_id
        )
        await public_apply.check_limits(
            request, visitor, site_settings, body.job_id, contact.email_key, proof=""
        )
        if public_apply.must_confirm(visitor, site_settings) and not confirmed:
            return await _submit_unconfirmed(request, visitor, site_settings, body.job_id, contact)
    apply_request = ApplyRequest(body.applicant_id, visitor.actor)
    return await _apply(request, visitor, body.job_id, apply_request)


@router.post(
    "/apply-public",
    response_model=ApplicationResult,
    status_code=201,
    responses={**MAILED, **problems(404, 409, 429)},
)
async def apply_public(
    body: PublicApplyBody, request: Request, visitor: Public, site_settings: CurrentSiteSettings
) -> Response:
    """Apply with a name and an address. A new applicant is added unless the application is refused.

    If the site confirms addresses, anonymous clients get 202 for every address, and its owner an email.
    """
    contact = applicants.parse_contact(body.name, body.email, fold=site_settings.fold_aliases)
    await public_apply.check_limits(
        request, visitor, site_settings, body.job_id, contact.email_key, body.proof
    )
    if public_apply.must_confirm(visitor, site_settings):
        return await _submit_unconfirmed(request, visitor, site_settings, body.job_id, contact)
    return await _apply(request, visitor, body.job_id, make_apply_request(contact, visitor))


async def _submit_unconfirmed(
    request: Request,
    visitor: Visitor,
    site_settings: SiteSettings,
    opening_id: int,
    contact: Contact,
) -> Response:
    return await run_once(
        request,
        visitor,
        get_apply_batches(request).db,
        lambda tx: public_apply.submit_unconfirmed(tx, request, site_settings, opening_id, contact),
        to_schema=lambda mailed: UnconfirmedApplication(
            job_id=mailed.opening_id, message=outcomes.UNCONFIRMED
        ),
        status=202,
    )


def make_apply_request(contact: Contact, visitor: Visitor) -> ApplyRequest:
    """For the company's people the log records them as the actor, otherwise the applicant."""
    return ApplyRequest(contact, visitor.actor if visitor.is_company else None)


async def _apply(
    request: Request, visitor: Visitor, opening_id: int, apply_request: ApplyRequest
) -> Response:
    batches = get_apply_batches(request)
    if not has_idempotency_key(request):
        placement = await batches.apply(opening_id, apply_request)
        return to_response(application_result(placement), 201)
    return await run_once(
        request,
        visitor,
        batches.db,
        lambda tx: batches.apply_alone(tx, opening_id, apply_request),
        to_schema=application_result,
        status=201,
    )


@router.post("/withdraw", response_model=ApplicationResult, responses=problems(404, 409))
async def withdraw(body: ApplicationBody, request: Request, visitor: Anyone, db: Db) -> Response:
    """End an application; its slot is offered to the next."""

    async def work(tx: Tx) -> Placement:
        await require_own_application(tx, visitor, body.application_id)
        return await withdrawals.withdraw(tx, body.application_id, visitor.actor)

    return await run_once(request, visitor, db, work, to_schema=_with_message(outcomes.WITHDRAWN))


@router.post("/acknowledge", response_model=ApplicationResult, responses=problems(404, 409, 410))
async def acknowledge(body: ApplicationBody, request: Request, visitor: Anyone, db: Db) -> Response:
    """Accept an offer before its deadline."""
    work = _answer_offer(visitor, body.application_id, "accept")
    return await run_once(
        request, visitor, db, work, to_schema=_with_message(outcomes.ANSWERED["accept"])
    )


@router.post(
    "/applications/{applicationId}/decline",
    response_model=ApplicationResult,
    responses=problems(404, 409, 410),
)
async def decline(
    application_id: ApplicationPathId,
    request: Request,
    visitor: Anyone,
    db: Db,
    body: DeclineBody | None = None,
) -> Response:
    """Decline an offer, which ends the application."""
    work = _answer_offer(visitor, application_id, "decline", body.reason if body else None)
    return await run_once(
        request, visitor, db, work, to_schema=_with_message(outcomes.ANSWERED["decline"])
    )


def _answer_offer(
    visitor: Visitor, id: int, answer: Answer, reason: str | None = None
) -> Callable[[Tx], Awaitable[Placement | MissedOffer]]:
    async def work(tx: Tx) -> Placement | MissedOffer:
        await require_own_application(tx, visitor, id)
        return await offers.answer_offer(tx, id, answer, visitor.actor, reason=reason)

    return work


@router.post(
    "/applications/{applicationId}/remove",
    response_model=ApplicationResult,
    responses=problems(404, 409),
)
async def remove(
    application_id: ApplicationPathId,
    body: ReasonBody,
    request: Request,
    visitor: Recruiter,
    db: Db,
) -> Response:
    """End an application; the log keeps the reason."""
    return await run_once(
        request,
        visitor,
        db,
        lambda tx: withdrawals.withdraw(tx, application_id, visitor.actor, reason=body.reason),
        to_schema=_with_message(outcomes.WITHDRAWN),
    )


@router.post(
    "/applications/{applicationId}/promote",
    response_model=ApplicationResult,
    responses=problems(404, 409, 422),
)
async def promote(
    application_id: ApplicationPathId,
    body: PromoteBody,
    request: Request,
    visitor: Recruiter,
    db: Db,
) -> Response:
    """Offer a slot out of turn; the log keeps the reason."""

    async def work(tx: Tx) -> Placement:
        return Placement(
            await offers.offer_out_of_turn(
                tx, application_id, visitor.actor, reason=body.reason, add_slot=body.add_slot
            )
        )

    return await run_once(request, visitor, db, work, to_schema=_with_message(outcomes.PROMOTED))


@router.post(
    "/offers/{token}",
    response_model=ApplicationResult,
    tags=["offers"],
    responses=problems(404, 409, 410, 429),
)
async def answer_offer(
    token: Token, body: OfferAnswerBody, request: Request, visitor: Public, db: Db, links: Links
) -> Response:
    """Answer an offer once, by the link in its letter."""
    link = links.read_offer(token)
    return await run_once(
        request,
        visitor,
        db,
        lambda tx: offers.answer_by_link(tx, link, body.answer, request=visitor.actor.request),
        to_schema=_with_message(outcomes.ANSWERED[body.answer]),
    )


async def require_own_application(tx: Tx, visitor: Visitor, application_id: int) -> None:
    """Allow recruiters and the applicant."""
    if visitor.may("recruiter"):
        return
    if visitor.applicant_id is None:
        visitor.require("recruiter")
    application = await applications.get(tx, application_id)
    visitor.require("recruiter", applicant_id=application.applicant_id)


def application_result(placement: Placement) -> ApplicationResult:
    return _result(placement.application, outcomes.apply_message(placement), placement.position)


def _with_message(
    message: str,
) -> Callable[[Placement | MissedOffer], ApplicationResult | AppError]:
    def to_schema(result: Placement | MissedOffer) -> ApplicationResult | AppError:
        if isinstance(result, MissedOffer):
            return Gone(outcomes.missed_message(result.application))
        return _result(result.application, message)

    return to_schema


def _result(
    application: Application, message: str, position: int | None = None
) -> ApplicationResult:
    return ApplicationResult.model_construct(
        application_id=application.id,
        applicant_id=application.applicant_id,
        job_id=application.opening_id,
        status=application.status,
        queue_position=position,
        message=message,
    )
