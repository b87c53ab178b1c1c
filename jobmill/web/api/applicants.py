"""/api/applicants, /api/status, /api/timeline: people, and how they stand."""

from __future__ import annotations

import logging
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, StrictBool

from jobmill.db import Tx
from jobmill.hiring import privacy
from jobmill.hiring.audit_log.events import AuditEvent as Recorded
from jobmill.hiring.messages import personal_links
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.openings.applicant_lists import ApplicationStanding
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applicants import Applicant as Known
from jobmill.web import consistent_reads
from jobmill.web.api.openapi import problems
from jobmill.web.api.pagination import AfterId, AfterMark, Limit, json_response
from jobmill.web.api.schemas import Applicant, ApplicantStatus, Event, RequestBody, Schema, Standing
from jobmill.web.auth import Anyone, Links, Recruiter, Viewer
from jobmill.web.dependencies import Db
from jobmill.web.idempotency import run_once
from jobmill.web.parameters import PLAIN_TEXT, ApplicantPathId
from jobmill.web.site_settings import CurrentSiteSettings

log = logging.getLogger(__name__)

router = APIRouter(tags=["applicants"])


class NewApplicant(RequestBody):
    name: Annotated[str, Field(min_length=1, max_length=400, examples=["Ada Lovelace"]), PLAIN_TEXT]
    email: Annotated[str, Field(max_length=300, examples=["ada@example.org"]), PLAIN_TEXT]


class LinkWanted(RequestBody):
    renew: Annotated[StrictBool, Field(examples=[True])] = False
    """Whether links that were given before stop opening."""


class PersonalLink(Schema):
    url: Annotated[str, Field(examples=["https://jobs.example.org/my/WzEyLDEsMTc5…"])]


class PersonData(BaseModel):
    applicant: Annotated[
        dict[str, Any],
        Field(examples=[{"id": 1, "name": "Ada Lovelace", "email": "ada@example.org"}]),
    ]
    applications: list[dict[str, Any]]
    events: list[dict[str, Any]]
    notices: list[dict[str, Any]]
    blocked: list[dict[str, Any]]


class Erased(Schema):
    applicant_id: Annotated[int, Field(examples=[1])]
    erased: bool = True


@router.get("/applicants", response_model=list[Applicant])
async def list_applicants(
    request: Request,
    visitor: Viewer,
    db: Db,
    after: AfterId = 0,
    limit: Limit = applicant_lists.MAX_PAGE_SIZE,
) -> Response:
    """People who applied or were added, oldest first."""
    async with db.transaction() as tx:
        found = await applicants.list_applicants(tx, after=after, limit=limit + 1)
    more = found[limit - 1].id if len(found) > limit else None
    return json_response(request, [Applicant.of(one) for one in found[:limit]], more)


@router.post("/applicants", response_model=Applicant, status_code=201)
async def create_applicant(
    body: NewApplicant,
    request: Request,
    visitor: Recruiter,
    db: Db,
    site_settings: CurrentSiteSettings,
) -> Response:
    """Somebody new; their address may not be known yet, whatever its case."""
    one = applicants.parse_contact(body.name, body.email, fold=site_settings.fold_aliases)
    return await run_once(
        request,
        visitor,
        db,
        lambda tx: applicants.add(tx, one),
        shape=Applicant.of,
        status=201,
    )


@router.get("/applicants/{applicantId}", response_model=Applicant, responses=problems(404))
async def show_applicant(
    applicant_id: ApplicantPathId, request: Request, visitor: Anyone, db: Db
) -> Response:
    """One person; applicants see themselves."""
    visitor.require("viewer", applicant_id=applicant_id)
    async with db.transaction() as tx:
        return json_response(request, Applicant.of(await applicants.get(tx, applicant_id)))


@router.get("/status/{applicantId}", response_model=ApplicantStatus, responses=problems(404))
async def show_status(
    applicant_id: ApplicantPathId,
    request: Request,
    visitor: Anyone,
    db: Db,
    after: AfterId = 0,
    limit: Limit = applicant_lists.MAX_PAGE_SIZE,
) -> Response:
    """How one person stands in each of their applications."""
    visitor.require("viewer", applicant_id=applicant_id)
    person, found = await consistent_reads.read_applicant(
        db,
        applicant_id,
        lambda tx: applicant_lists.list_standings(tx, applicant_id, after=after, limit=limit + 1),
    )
    more = found[limit - 1].application_id if len(found) > limit else None
    return json_response(request, _status(person, found[:limit]), more)


def _status(person: Known, found: list[ApplicationStanding]) -> ApplicantStatus:
    return ApplicantStatus(
        applicant_id=person.id,
        applicant_name=person.name,
        applicant_email=person.email,
        applications=[Standing.of(one) for one in found],
    )


@router.get("/timeline/{applicantId}", response_model=list[Event], responses=problems(404))
async def show_timeline(
    applicant_id: ApplicantPathId,
    request: Request,
    visitor: Anyone,
    db: Db,
    after: AfterMark = None,
    limit: Limit = applicant_lists.MAX_PAGE_SIZE,
) -> Response:
    """What happened to one person's applications, in order."""
    visitor.require("viewer", applicant_id=applicant_id)

    async def work(tx: Tx) -> list[Recorded]:
        return await applicant_lists.list_timeline(tx, applicant_id, after=after, limit=limit + 1)

    found = await consistent_reads.read_applicant(db, applicant_id, work)
    more = applicant_lists.timeline_cursor(found[limit - 1]) if len(found) > limit else None
    return json_response(request, [Event.of(one) for one in found[:limit]], more)


@router.post("/applicants/{applicantId}/link", response_model=PersonalLink, responses=problems(404))
async def give_link(
    applicant_id: ApplicantPathId,
    request: Request,
    visitor: Recruiter,
    db: Db,
    site_settings: CurrentSiteSettings,
    links: Links,
    body: LinkWanted | None = None,
) -> Response:
    """Somebody's personal link, to be handed to them: who has it acts as they do."""

    async def work(tx: Tx) -> PersonalLink:
        renew = body is not None and body.renew
        path = await personal_links.make_path(tx, links, applicant_id, renew=renew)
        return PersonalLink(url=site_settings.link(request, path))

    response = await run_once(request, visitor, db, work, shape=PersonalLink.of)
    response.headers["Cache-Control"] = "no-store"
    # What is done with it stands in the log as done by the applicant.
    log.info("personal link given", extra={"applicant": applicant_id, "by": visitor.actor.name})
    return response


@router.get("/applicants/{applicantId}/export", response_model=PersonData, responses=problems(404))
async def export_applicant(applicant_id: ApplicantPathId, visitor: Anyone, db: Db) -> Response:
    """All that is kept about one person."""
    visitor.require("admin", applicant_id=applicant_id)
    async with db.transaction() as tx:
        found = await privacy.export_personal_data(tx, applicant_id)
    name = f'attachment; filename="applicant-{applicant_id}.json"'
    return JSONResponse(found, headers={"Content-Disposition": name})


@router.post("/applicants/{applicantId}/erase", response_model=Erased, responses=problems(404))
async def erase_applicant(
    applicant_id: ApplicantPathId, request: Request, visitor: Anyone, db: Db
) -> Response:
    """Forget one person for good; their applications end, and the log stays whole."""
    visitor.require("admin", applicant_id=applicant_id)

    async def work(tx: Tx) -> Erased:
        await privacy.erase_applicant(tx, applicant_id, visitor.actor)
        return Erased(applicant_id=applicant_id)

    return await run_once(request, visitor, db, work, shape=Erased.of)
