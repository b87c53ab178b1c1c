"""/api/apply and what follows: the steps of an application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field, StrictBool

from jobmill.db import Tx
from jobmill.errors import AppError, Gone
from jobmill.hiring.applications import offers, outcomes, submissions
from jobmill.hiring.applications.offers import Answer
from jobmill.hiring.applications.submissions import ApplyRequest, MissedOffer, Placement
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.applicants import Contact
from jobmill.hiring.records.applications import Application
from jobmill.web.api.openapi import problems
from jobmill.web.api.schemas import RequestBody, Result
from jobmill.web.apply_batch import get_apply_batches
from jobmill.web.auth import Anyone, Links, Recruiter, Visitor
from jobmill.web.dependencies import Db
from jobmill.web.idempotency import has_idempotency_key, run_once, to_response
from jobmill.web.parameters import PLAIN_TEXT, ApplicationPathId, BodyId
from jobmill.web.rate_limits import Public
from jobmill.web.site_settings import CurrentSiteSettings

router = APIRouter(tags=["applications"])

Reason = Annotated[
    str, Field(min_length=1, max_length=2_000, examples=["No longer needed"]), PLAIN_TEXT
]


class Apply(RequestBody):
    applicant_id: BodyId
    job_id: BodyId


class ApplyPublic(RequestBody):
    name: Annotated[str, Field(min_length=1, max_length=400, examples=["Ada Lovelace"]), PLAIN_TEXT]
    email: Annotated[str, Field(max_length=300, examples=["ada@example.org"]), PLAIN_TEXT]
    job_id: BodyId


class Which(RequestBody):
    application_id: BodyId


class Because(RequestBody):
    reason: Reason


class Decline(RequestBody):
    reason: Reason | None = None


class Promote(RequestBody):
    reason: Reason
    add_slot: StrictBool = False
    """Whether to make room where no slot is free."""


class OfferAnswer(RequestBody):
    answer: Annotated[Answer, Field(examples=["accept"])]


Token = Annotated[str, Path(max_length=300, description="What the link in the letter ends with.")]


@router.post("/apply", response_model=Result, status_code=201, responses=problems(404, 409, 429))
async def apply(body: Apply, request: Request, visitor: Anyone) -> Response:
    """Take a free slot where nobody waits for it, or join the waitlist."""
    visitor.require("recruiter", applicant_id=body.applicant_id)
    ask = ApplyRequest(body.applicant_id, visitor.actor)
    return await _apply(request, visitor, body.job_id, ask)


@router.post(
    "/apply-public", response_model=Result, status_code=201, responses=problems(404, 409, 429)
)
async def apply_public(
    body: ApplyPublic, request: Request, visitor: Public, site_settings: CurrentSiteSettings
) -> Response:
    """The same with a name and an address; who is new becomes known by it, or not at all if refused."""
    one = applicants.parse_contact(body.name, body.email, fold=site_settings.fold_aliases)
    return await _apply(request, visitor, body.job_id, make_apply_request(one, visitor))


def make_apply_request(one: Contact, visitor: Visitor) -> ApplyRequest:
    """Strangers apply for themselves; the company's people for others, which the log says."""
    return ApplyRequest(one, visitor.actor if visitor.role else None)


async def _apply(
    request: Request, visitor: Visitor, opening_id: int, ask: ApplyRequest
) -> Response:
    crowd = get_apply_batches(request)
    if not has_idempotency_key(request):
        return to_response(application_result(await crowd.apply(opening_id, ask)), 201)
    return await run_once(
        request,
        visitor,
        crowd.db,
        lambda tx: crowd.apply_alone(tx, opening_id, ask),
        shape=application_result,
        status=201,
    )


@router.post("/withdraw", response_model=Result, responses=problems(404, 409))
async def withdraw(body: Which, request: Request, visitor: Anyone, db: Db) -> Response:
    """End an application; its slot goes to the next."""

    async def work(tx: Tx) -> Placement:
        await require_own_application(tx, visitor, body.application_id)
        return await submissions.withdraw(tx, body.application_id, visitor.actor)

    return await run_once(request, visitor, db, work, shape=_said(outcomes.WITHDRAWN))


@router.post("/acknowledge", response_model=Result, responses=problems(404, 409, 410))
async def acknowledge(body: Which, request: Request, visitor: Anyone, db: Db) -> Response:
    """Confirm an offer, in time."""
    work = _answer(visitor, body.application_id, "accept")
    return await run_once(request, visitor, db, work, shape=_said(outcomes.ANSWERED["accept"]))


@router.post(
    "/applications/{applicationId}/decline",
    response_model=Result,
    responses=problems(404, 409, 410),
)
async def decline(
    application_id: ApplicationPathId,
    request: Request,
    visitor: Anyone,
    db: Db,
    body: Decline | None = None,
) -> Response:
    """Turn an offer down, which ends the application."""
    work = _answer(visitor, application_id, "decline", body.reason if body else None)
    return await run_once(request, visitor, db, work, shape=_said(outcomes.ANSWERED["decline"]))


def _answer(
    visitor: Visitor, id: int, answer: Answer, reason: str | None = None
) -> Callable[[Tx], Awaitable[Placement | MissedOffer]]:
    async def work(tx: Tx) -> Placement | MissedOffer:
        await require_own_application(tx, visitor, id)
        return await offers.answer_offer(tx, id, answer, visitor.actor, reason=reason)

    return work


@router.post(
    "/applications/{applicationId}/remove", response_model=Result, responses=problems(404, 409)
)
async def remove(
    application_id: ApplicationPathId, body: Because, request: Request, visitor: Recruiter, db: Db
) -> Response:
    """End somebody's application, with a reason that the log keeps."""
    return await run_once(
        request,
        visitor,
        db,
        lambda tx: submissions.withdraw(tx, application_id, visitor.actor, reason=body.reason),
        shape=_said(outcomes.WITHDRAWN),
    )


@router.post(
    "/applications/{applicationId}/promote",
    response_model=Result,
    responses=problems(404, 409, 422),
)
async def promote(
    application_id: ApplicationPathId, body: Promote, request: Request, visitor: Recruiter, db: Db
) -> Response:
    """Offer a slot out of turn, with a reason that the log keeps."""

    async def work(tx: Tx) -> Placement:
        return Placement(
            await lifecycle.offer_out_of_turn(
                tx, application_id, visitor.actor, reason=body.reason, add_slot=body.add_slot
            )
        )

    return await run_once(request, visitor, db, work, shape=_said(outcomes.PROMOTED))


@router.post(
    "/offers/{token}",
    response_model=Result,
    tags=["offers"],
    responses=problems(404, 409, 410, 429),
)
async def answer_offer(
    token: Token, body: OfferAnswer, request: Request, visitor: Public, db: Db, links: Links
) -> Response:
    """Answer an offer by the link in the letter that brought it; once."""
    link = links.read_offer(token)
    return await run_once(
        request,
        visitor,
        db,
        lambda tx: offers.answer_by_link(tx, link, body.answer, request=visitor.actor.request),
        shape=_said(outcomes.ANSWERED[body.answer]),
    )


async def require_own_application(tx: Tx, visitor: Visitor, application_id: int) -> None:
    """Refuse whoever is neither a recruiter nor the one who applied."""
    if visitor.may("recruiter"):
        return
    if visitor.applicant_id is None:
        visitor.require("recruiter")
    one = await applications.get(tx, application_id)
    visitor.require("recruiter", applicant_id=one.applicant_id)


def application_result(placed: Placement) -> Result:
    return _result(placed.application, outcomes.apply_message(placed), placed.position)


def _said(message: str) -> Callable[[Placement | MissedOffer], Result | AppError]:
    def shape(answered: Placement | MissedOffer) -> Result | AppError:
        if isinstance(answered, MissedOffer):
            return missed_offer_error(answered)
        return _result(answered.application, message)

    return shape


def missed_offer_error(answered: MissedOffer) -> Gone:
    return Gone(outcomes.missed_message(answered.application))


def _result(one: Application, message: str, position: int | None = None) -> Result:
    return Result.model_construct(
        application_id=one.id,
        applicant_id=one.applicant_id,
        job_id=one.opening_id,
        status=one.status,
        queue_position=position,
        message=message,
    )
