"""/api/apply, /api/withdraw, /api/acknowledge, …: changes of one application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field, StrictBool

from jobmill.db import Tx
from jobmill.errors import AppError, Gone
from jobmill.hiring.actor import Actor, by_applicant
from jobmill.hiring.applications import offers, outcomes, withdrawals
from jobmill.hiring.applications.outcomes import Answer, MissedOffer, Placement
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.forms.answers import FormSubmission
from jobmill.hiring.forms.form_fields import MAX_FIELDS
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.applicants import Contact
from jobmill.hiring.records.applications import Application
from jobmill.hiring.records.idempotent_responses import NewResponse
from jobmill.people.persons import Role
from jobmill.web import public_apply
from jobmill.web.api.callers import AnyCaller, ApiCaller, PublicCaller, RecruiterCaller
from jobmill.web.api.openapi import problems
from jobmill.web.api.operation_roles import or_applicant
from jobmill.web.api.schemas import ApplicationResult, RequestBody, UnconfirmedApplication
from jobmill.web.application_forms import parse_json_answers
from jobmill.web.apply_batch import IdempotentApply, get_apply_batches
from jobmill.web.auth import Anyone, Links, Visitor
from jobmill.web.idempotency import read_key, replay_response, to_response
from jobmill.web.parameters import PLAIN_TEXT, ApplicationPathId, BodyId
from jobmill.web.rate_limits import Public
from jobmill.web.site_settings import CurrentSiteSettings

router = APIRouter(tags=["applications"])

Reason = Annotated[
    str, Field(min_length=1, max_length=2_000, examples=["No longer needed"]), PLAIN_TEXT
]


class AnswersBody(RequestBody):
    answers: Annotated[dict[str, Any], Field(max_length=MAX_FIELDS)] | None = None
    """To the questions of `/api/jobs/{jobId}/form`, by key; for a file, the id of an upload."""
    form_version: int | None = None
    """The version that was answered; 409 if the form has changed since."""


class ApplyBody(AnswersBody):
    applicant_id: BodyId
    job_id: BodyId


class PublicApplyBody(AnswersBody):
    name: Annotated[str, Field(min_length=1, max_length=400, examples=["Ada Lovelace"]), PLAIN_TEXT]
    email: Annotated[str, Field(max_length=300, examples=["ada@example.org"]), PLAIN_TEXT]
    job_id: BodyId
    proof: Annotated[str, Field(max_length=300, examples=["WzEsMTc5…:48213"]), PLAIN_TEXT] = ""
    """The solution of the challenge on the opening's page, if the site asks for a proof of work."""


ForApplicant = Annotated[StrictBool, Field(examples=[True])]


class ApplicationBody(RequestBody):
    application_id: BodyId
    for_applicant: ForApplicant = False
    """Whether a member of the company acts for the applicant: the log and the email then say that the
    applicant did it."""


class ReasonBody(RequestBody):
    reason: Reason


class DeclineBody(RequestBody):
    reason: Reason | None = None
    for_applicant: ForApplicant = False


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
    responses={**MAILED, **problems(404)},
    openapi_extra=or_applicant("recruiter"),
)
async def apply(body: ApplyBody, request: Request, visitor: Anyone) -> Response:
    """Take a free slot if the waitlist is empty, otherwise join it."""
    visitor.require("recruiter", applicant_id=body.applicant_id)
    if not visitor.is_company:
        contact, confirmed = await public_apply.find_contact(request, body.applicant_id)
        await public_apply.check_limits(request, visitor, body.job_id, contact.email_key, proof="")
        if public_apply.must_confirm(request, visitor) and not confirmed:
            return await _submit_unconfirmed(request, visitor, body, contact)
    submission = await _read_answers(request, body)
    apply_request = ApplyRequest(body.applicant_id, visitor.actor, submission=submission)
    return await _apply(request, visitor, body.job_id, apply_request)


@router.post(
    "/apply-public",
    response_model=ApplicationResult,
    status_code=201,
    responses={**MAILED, **problems(404)},
)
async def apply_public(
    body: PublicApplyBody, request: Request, visitor: Public, site_settings: CurrentSiteSettings
) -> Response:
    """Apply with a name and an address. A new applicant is added unless the application is refused.

    If the site confirms addresses, anonymous clients get 202 for every address, and its owner an email.
    """
    contact = applicants.parse_contact(
        body.name,
        body.email,
        fold=site_settings.fold_aliases,
        language=public_apply.find_language(request, visitor),
    )
    await public_apply.check_limits(request, visitor, body.job_id, contact.email_key, body.proof)
    if public_apply.must_confirm(request, visitor):
        return await _submit_unconfirmed(request, visitor, body, contact)
    apply_request = make_apply_request(contact, visitor, await _read_answers(request, body))
    return await _apply(request, visitor, body.job_id, apply_request)


async def _read_answers(
    request: Request, body: ApplyBody | PublicApplyBody
) -> FormSubmission | None:
    """Without answers no query is needed: the lock of the opening tells whether it requires any."""
    if body.answers is None:
        return None
    db = get_apply_batches(request).db
    return await parse_json_answers(db, body.job_id, body.answers, body.form_version)


async def _submit_unconfirmed(
    request: Request, visitor: Visitor, body: ApplyBody | PublicApplyBody, contact: Contact
) -> Response:
    submission = await _read_answers(request, body)
    caller = ApiCaller(request, visitor, get_apply_batches(request).db)
    return await caller.run_once(
        lambda tx: public_apply.submit_unconfirmed(tx, request, body.job_id, contact, submission),
        to_schema=lambda _: UnconfirmedApplication(
            job_id=body.job_id, message=outcomes.UNCONFIRMED
        ),
        status=202,
    )


def make_apply_request(
    contact: Contact, visitor: Visitor, submission: FormSubmission | None = None
) -> ApplyRequest:
    """For the company's people the log records them as the actor, otherwise the applicant."""
    by = visitor.actor if visitor.is_company else None
    return ApplyRequest(contact, by, request_id=visitor.actor.request, submission=submission)


async def _apply(
    request: Request, visitor: Visitor, opening_id: int, apply_request: ApplyRequest
) -> Response:
    batches = get_apply_batches(request)
    keyed = await read_key(request, visitor)
    if keyed is None:
        return _applied(await batches.apply(opening_id, apply_request))
    result = await batches.apply_once(
        opening_id, apply_request, IdempotentApply(keyed, _response_to_store)
    )
    return _applied(result) if isinstance(result, Placement) else replay_response(result)


def _applied(placement: Placement) -> Response:
    return to_response(application_result(placement), 201)


def _response_to_store(placement: Placement) -> NewResponse:
    return NewResponse(201, application_result(placement).model_dump_json(by_alias=True))


@router.post(
    "/withdraw",
    response_model=ApplicationResult,
    responses=problems(404),
    openapi_extra=or_applicant("recruiter"),
)
async def withdraw(body: ApplicationBody, caller: AnyCaller) -> Response:
    """End an application; its slot is offered to the next.

    Applicants withdraw, and so does the local user, for them. A session or an API key of the company
    removes the applicant, unless it sends `forApplicant`.
    """

    async def work(tx: Tx) -> Placement:
        by = await _find_actor(tx, caller.visitor, body.application_id, body.for_applicant)
        return await withdrawals.withdraw(tx, body.application_id, by)

    return await caller.run_once(work, to_schema=_with_message(outcomes.WITHDRAWN))


@router.post(
    "/acknowledge",
    response_model=ApplicationResult,
    responses=problems(404, 410),
    openapi_extra=or_applicant("recruiter"),
)
async def acknowledge(body: ApplicationBody, caller: AnyCaller) -> Response:
    """Accept an offer before its deadline."""
    work = _answer_offer(caller.visitor, body.application_id, "accept", body)
    return await caller.run_once(work, to_schema=_with_message(outcomes.ANSWERED["accept"]))


@router.post(
    "/applications/{applicationId}/decline",
    response_model=ApplicationResult,
    responses=problems(410),
    openapi_extra=or_applicant("recruiter"),
)
async def decline(
    application_id: ApplicationPathId, caller: AnyCaller, body: DeclineBody | None = None
) -> Response:
    """Decline an offer, which ends the application."""
    work = _answer_offer(caller.visitor, application_id, "decline", body or DeclineBody())
    return await caller.run_once(work, to_schema=_with_message(outcomes.ANSWERED["decline"]))


def _answer_offer(
    visitor: Visitor, id: int, answer: Answer, body: ApplicationBody | DeclineBody
) -> Callable[[Tx], Awaitable[Placement | MissedOffer]]:
    async def work(tx: Tx) -> Placement | MissedOffer:
        by = await _find_actor(tx, visitor, id, body.for_applicant)
        reason = body.reason if isinstance(body, DeclineBody) else None
        return await offers.answer_offer(tx, id, answer, by, reason=reason)

    return work


@router.post("/applications/{applicationId}/remove", response_model=ApplicationResult)
async def remove(
    application_id: ApplicationPathId, body: ReasonBody, caller: RecruiterCaller
) -> Response:
    """End an application; the log keeps the reason."""
    return await caller.run_once(
        lambda tx: withdrawals.withdraw(tx, application_id, caller.actor, reason=body.reason),
        to_schema=_with_message(outcomes.WITHDRAWN),
    )


@router.post("/applications/{applicationId}/promote", response_model=ApplicationResult)
async def promote(
    application_id: ApplicationPathId, body: PromoteBody, caller: RecruiterCaller
) -> Response:
    """Offer a slot out of turn; the log keeps the reason."""

    async def work(tx: Tx) -> Placement:
        return Placement(
            await offers.offer_out_of_turn(
                tx, application_id, caller.actor, reason=body.reason, add_slot=body.add_slot
            )
        )

    return await caller.run_once(work, to_schema=_with_message(outcomes.PROMOTED))


@router.post(
    "/offers/{token}", response_model=ApplicationResult, tags=["offers"], responses=problems(410)
)
async def answer_offer(
    token: Token, body: OfferAnswerBody, caller: PublicCaller, links: Links
) -> Response:
    """Answer an offer once, by the link in its letter."""
    link = links.read_offer(token)
    return await caller.run_once(
        lambda tx: offers.answer_by_link(tx, link, body.answer, request=caller.actor.request),
        to_schema=_with_message(outcomes.ANSWERED[body.answer]),
    )


async def require_own_application(
    tx: Tx, visitor: Visitor, application_id: int, role: Role = "recruiter"
) -> None:
    """Allow a role and the applicant. Others do not learn whether the application exists."""
    if visitor.may(role):
        return
    if visitor.applicant_id is None:
        visitor.require(role)
    application = await applications.get(tx, application_id)
    visitor.require(role, applicant_id=application.applicant_id)


async def _find_actor(tx: Tx, visitor: Visitor, application_id: int, for_applicant: bool) -> Actor:
    """The actor that the log records; raises Forbidden if they may not change the application."""
    await require_own_application(tx, visitor, application_id)
    if visitor.actor.side != "company" or not (for_applicant or visitor.local):
        return visitor.actor
    application = await applications.get(tx, application_id)
    # The local user needs no account, so a front end for applicants may run as them.
    issuer = None if visitor.local else visitor.actor.name
    return by_applicant(application.applicant_id, visitor.actor.request, issuer)


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
