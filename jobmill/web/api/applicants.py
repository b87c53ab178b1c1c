"""/api/applicants, /api/status, /api/timeline: applicants, their applications and events."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse
from pydantic import Field, StrictBool

from jobmill.db import Tx
from jobmill.hiring import privacy
from jobmill.hiring.applications import applicant_applications, timeline
from jobmill.hiring.messages import personal_links
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applicants import Applicant
from jobmill.web import consistent_reads
from jobmill.web.api.callers import AnyCaller, RecruiterCaller, ViewerCaller
from jobmill.web.api.operation_roles import or_applicant
from jobmill.web.api.pagination import (
    AfterCursor,
    AfterId,
    Limit,
    OptionalLimit,
    stream_response,
)
from jobmill.web.api.schemas import (
    ApplicantItem,
    ApplicantStatus,
    ApplicationEvent,
    RequestBody,
    Schema,
)
from jobmill.web.auth import Anyone, Links
from jobmill.web.dependencies import Db, no_store
from jobmill.web.parameters import PLAIN_TEXT, ApplicantPathId

router = APIRouter(tags=["applicants"])

EmailFilter = Annotated[
    Annotated[str, PLAIN_TEXT] | None,
    Query(max_length=300, description="Only the applicant with this address, whatever its case."),
]


class NewApplicant(RequestBody):
    name: Annotated[str, Field(min_length=1, max_length=400, examples=["Ada Lovelace"]), PLAIN_TEXT]
    email: Annotated[str, Field(max_length=300, examples=["ada@example.org"]), PLAIN_TEXT]


class LinkBody(RequestBody):
    renew: Annotated[StrictBool, Field(examples=[True])] = False
    """Whether to invalidate earlier links."""


class PersonalLink(Schema):
    url: Annotated[str | None, Field(examples=["https://jobs.example.org/my/WzEyLDEsMTc5…"])]
    """Shown once: null if the response is repeated for an Idempotency-Key."""


class PersonData(Schema):
    applicant: Annotated[
        dict[str, Any],
        Field(examples=[{"id": 1, "name": "Ada Lovelace", "email": "ada@example.org"}]),
    ]
    applications: list[dict[str, Any]]
    events: list[dict[str, Any]]
    notices: list[dict[str, Any]]
    review_notes: list[dict[str, Any]]
    ratings: list[dict[str, Any]]
    tags: list[dict[str, Any]]
    apply_requests: list[dict[str, Any]]
    answers: list[dict[str, Any]]
    files: list[dict[str, Any]]
    blocked: list[dict[str, Any]]


class Erased(Schema):
    applicant_id: Annotated[int, Field(examples=[1])]
    erased: bool = True


@router.get("/applicants", response_model=list[ApplicantItem])
async def list_applicants(
    caller: ViewerCaller,
    email: EmailFilter = None,
    after: AfterId = 0,
    limit: OptionalLimit = None,
) -> Response:
    """Applicants, oldest first: all of them without `limit`, or the one with an address."""
    if email is not None:
        key = applicants.make_email_key(email, fold=caller.site_settings.fold_aliases)
        async with caller.db.transaction() as tx:
            applicant = await applicants.find_by_email_key(tx, key)
        return caller.respond([ApplicantItem.of(applicant)] if applicant else [])

    async def read_page(after: int, limit: int) -> list[Applicant]:
        async with caller.db.transaction() as tx:
            return await applicants.list_applicants(tx, after=after, limit=limit)

    if limit is None:
        return await stream_response(read_page, ApplicantItem.of, after)
    page = await read_page(after, limit + 1)
    more = page[limit - 1].id if len(page) > limit else None
    return caller.respond([ApplicantItem.of(applicant) for applicant in page[:limit]], more)


@router.post("/applicants", response_model=ApplicantItem, status_code=201)
async def create_applicant(body: NewApplicant, caller: RecruiterCaller) -> Response:
    """Add an applicant; the address must be new, without regard to case."""
    contact = applicants.parse_contact(
        body.name, body.email, fold=caller.site_settings.fold_aliases
    )
    return await caller.run_once(
        lambda tx: applicants.add(tx, contact), to_schema=ApplicantItem.of, status=201
    )


@router.get(
    "/applicants/{applicantId}", response_model=ApplicantItem, openapi_extra=or_applicant("viewer")
)
async def show_applicant(applicant_id: ApplicantPathId, caller: AnyCaller) -> Response:
    """One applicant. Applicants may see themselves."""
    caller.visitor.require("viewer", applicant_id=applicant_id)
    async with caller.db.transaction() as tx:
        return caller.respond(ApplicantItem.of(await applicants.get(tx, applicant_id)))


@router.get(
    "/status/{applicantId}", response_model=ApplicantStatus, openapi_extra=or_applicant("viewer")
)
async def show_status(
    applicant_id: ApplicantPathId,
    caller: AnyCaller,
    after: AfterId = 0,
    limit: Limit = applicant_lists.MAX_PAGE_SIZE,
) -> Response:
    """The status of each of the applicant's applications."""
    caller.visitor.require("viewer", applicant_id=applicant_id)
    applicant, page = await consistent_reads.read_applicant(
        caller.db,
        applicant_id,
        lambda tx: applicant_applications.list_by_applicant(
            tx, applicant_id, after=after, limit=limit + 1
        ),
    )
    more = page[limit - 1].application_id if len(page) > limit else None
    return caller.respond(ApplicantStatus.of(applicant, applications=page[:limit]), more)


@router.get(
    "/timeline/{applicantId}",
    response_model=list[ApplicationEvent],
    openapi_extra=or_applicant("viewer"),
)
async def show_timeline(
    applicant_id: ApplicantPathId,
    caller: AnyCaller,
    after: AfterCursor = None,
    limit: Limit = applicant_lists.MAX_PAGE_SIZE,
) -> Response:
    """The events of the applicant's applications, in order. Applicants do not see scores and stages."""
    caller.visitor.require("viewer", applicant_id=applicant_id)
    page = await consistent_reads.read_applicant(
        caller.db,
        applicant_id,
        lambda tx: timeline.list_timeline(
            tx,
            applicant_id,
            after=after,
            limit=limit + 1,
            for_applicant=not caller.visitor.may("viewer"),
        ),
    )
    more = timeline.timeline_cursor(page[limit - 1]) if len(page) > limit else None
    return caller.respond([ApplicationEvent.of(event) for event in page[:limit]], more)


@router.post("/applicants/{applicantId}/link", response_model=PersonalLink)
async def give_link(
    applicant_id: ApplicantPathId,
    caller: RecruiterCaller,
    links: Links,
    body: LinkBody | None = None,
) -> Response:
    """A personal link of the applicant. The audit log names the issuer of what is done with it; it
    cannot export or erase data."""

    async def work(tx: Tx) -> PersonalLink:
        renew = body is not None and body.renew
        path = await personal_links.issue_path(
            tx, links, applicant_id, caller.actor.name, renew=renew
        )
        return PersonalLink(url=caller.site_settings.link(caller.request, path))

    return no_store(await caller.run_once(work, secret="url"))


@router.get(
    "/applicants/{applicantId}/export",
    response_model=PersonData,
    openapi_extra=or_applicant("admin"),
)
async def export_applicant(applicant_id: ApplicantPathId, visitor: Anyone, db: Db) -> Response:
    """Everything stored about one applicant."""
    visitor.require_own_data(applicant_id)
    async with db.transaction() as tx:
        data = await privacy.export_personal_data(tx, applicant_id)
    name = f'attachment; filename="applicant-{applicant_id}.json"'
    return JSONResponse(data, headers={"Content-Disposition": name})


@router.post(
    "/applicants/{applicantId}/erase", response_model=Erased, openapi_extra=or_applicant("admin")
)
async def erase_applicant(applicant_id: ApplicantPathId, caller: AnyCaller) -> Response:
    """Erase an applicant's data permanently. Their applications end; the audit log stays complete.
    Admins who signed in with a password must have entered it within 10 minutes."""
    caller.visitor.require_own_data(applicant_id)
    caller.visitor.require_confirmed()

    async def work(tx: Tx) -> Erased:
        await privacy.erase_applicant(tx, applicant_id, caller.actor)
        return Erased(applicant_id=applicant_id)

    return await caller.run_once(work)
