"""/api/company, /api/letters and /api/jobs/{jobId}/posting: how the company presents itself."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from jobmill.db import Tx
from jobmill.hiring import company_identity
from jobmill.hiring.company_identity import CompanyIdentity
from jobmill.hiring.logo_images import read_logo_upload
from jobmill.hiring.messages import letter_templates, letter_variables, letters
from jobmill.hiring.openings import posting_details
from jobmill.hiring.openings.posting_details import EmploymentType, PayPeriod, PostingDetails
from jobmill.hiring.records import openings
from jobmill.web.api.callers import RecruiterCaller, ViewerCaller
from jobmill.web.api.closing import LetterBody
from jobmill.web.api.openapi import problems
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db
from jobmill.web.parameters import MAX_ID, PLAIN_TEXT, JobPathId

router = APIRouter(tags=["company"])

LetterName = Annotated[str, Path(max_length=40, examples=["promoted"]), PLAIN_TEXT]
OpeningFilter = Annotated[int | None, Query(alias="jobId", ge=1, le=MAX_ID)]


class CompanyBody(RequestBody):
    name: Annotated[str, Field(max_length=200, examples=["Wells Bakery"]), PLAIN_TEXT] | None = None
    website: Annotated[str, Field(max_length=500), PLAIN_TEXT] | None = None
    accent: Annotated[str, Field(max_length=7, examples=["#1f5c43"]), PLAIN_TEXT] | None = None
    """The color of buttons and links."""


class Company(Schema):
    name: Annotated[str | None, Field(examples=["Wells Bakery"])]
    website: str | None
    accent: str | None
    logo_url: str | None

    @classmethod
    def from_identity(cls, identity: CompanyIdentity) -> Company:
        logo = f"/openings/logo?v={identity.logo_hash}" if identity.logo_hash else None
        return cls(
            name=identity.name, website=identity.website, accent=identity.accent, logo_url=logo
        )


@router.get("/company", response_model=Company)
async def show_company(caller: ViewerCaller) -> Response:
    """The company's name, website, logo and color."""
    async with caller.db.transaction() as tx:
        return caller.respond(Company.from_identity(await company_identity.read_identity(tx)))


@router.put("/company", response_model=Company)
async def save_company(body: CompanyBody, caller: RecruiterCaller) -> Response:
    """Replace name, website and color; the logo stays."""
    return await caller.run_once(
        lambda tx: company_identity.save_identity(
            tx, name=body.name, website=body.website, accent=body.accent
        ),
        to_schema=Company.from_identity,
    )


@router.put("/company/logo", response_model=Company)
async def save_logo(caller: RecruiterCaller) -> Response:
    """Replace the logo by the body of the request: a PNG or JPEG file of up to 1 MB."""
    logo = await read_logo_upload(await caller.request.body())
    async with caller.db.transaction() as tx:
        await company_identity.save_logo(tx, logo)
        return caller.respond(Company.from_identity(await company_identity.read_identity(tx)))


@router.delete("/company/logo", status_code=204)
async def remove_logo(visitor: Recruiter, db: Db) -> None:
    """Remove the logo."""
    async with db.transaction() as tx:
        await company_identity.save_logo(tx, None)


class LetterItem(Schema):
    letter: Annotated[str, Field(examples=["promoted"])]
    subject: str
    body: str
    variables: list[str]
    is_default: bool


@router.get("/letters", response_model=list[LetterItem], responses=problems(404))
async def list_letters(caller: ViewerCaller, job_id: OpeningFilter = None) -> Response:
    """All letters with their texts, in general or for one opening."""
    folder = caller.site_settings.settings.letters_dir
    items: list[LetterItem] = []
    async with caller.db.transaction() as tx:
        if job_id is not None:
            await openings.get(tx, job_id)
        for letter, variables in letter_variables.VARIABLES.items():
            saved = await letter_templates.find_text(tx, letter, job_id)
            text = saved or letters.read_default(letter, folder)
            items.append(
                LetterItem(
                    letter=letter,
                    subject=text.subject,
                    body=text.body,
                    variables=sorted(variables),
                    is_default=saved is None,
                )
            )
    return caller.respond(items)


@router.put("/letters/{letter}", status_code=204)
async def save_letter(
    letter: LetterName, body: LetterBody, visitor: Recruiter, db: Db, job_id: OpeningFilter = None
) -> None:
    """Save a new version of a letter, in general or for one opening."""
    async with db.transaction() as tx:
        await letter_templates.save_text(
            tx, letter, body.to_text(), visitor.actor, opening_id=job_id
        )


@router.delete("/letters/{letter}", status_code=204)
async def reset_letter(
    letter: LetterName, visitor: Recruiter, db: Db, job_id: OpeningFilter = None
) -> None:
    """Return to the default text of a letter; its versions are kept."""
    async with db.transaction() as tx:
        await letter_templates.save_text(tx, letter, None, visitor.actor, opening_id=job_id)


class PostingBody(RequestBody):
    employment_type: EmploymentType | None = None
    pay_min: Annotated[Decimal, Field(gt=0, max_digits=12, decimal_places=2)] | None = None
    pay_max: Annotated[Decimal, Field(gt=0, max_digits=12, decimal_places=2)] | None = None
    pay_currency: Annotated[str, Field(max_length=3, examples=["EUR"]), PLAIN_TEXT] | None = None
    pay_period: PayPeriod | None = None
    countries: Annotated[
        list[Annotated[str, Field(max_length=60), PLAIN_TEXT]], Field(max_length=50)
    ] = Field(default_factory=list[str])
    """Where remote workers may live."""


class PostingItem(Schema):
    employment_type: EmploymentType | None
    pay_min: float | None
    pay_max: float | None
    pay_currency: str | None
    pay_period: PayPeriod | None
    countries: Annotated[list[str], Field(examples=[["Germany", "Austria"]])]


@router.get("/jobs/{jobId}/posting", response_model=PostingItem)
async def show_posting(job_id: JobPathId, caller: ViewerCaller) -> Response:
    """Pay, employment type and countries of an opening."""
    async with caller.db.transaction() as tx:
        await openings.get(tx, job_id)
        details = await posting_details.get_details(tx, job_id)
    return caller.respond(PostingItem.of(details))


@router.put("/jobs/{jobId}/posting", response_model=PostingItem)
async def save_posting(job_id: JobPathId, body: PostingBody, caller: RecruiterCaller) -> Response:
    """Replace pay, employment type and countries of an opening."""

    async def work(tx: Tx) -> PostingDetails:
        details = PostingDetails(**body.model_dump())
        await posting_details.save_details(tx, job_id, details, caller.actor)
        return await posting_details.get_details(tx, job_id)

    return await caller.run_once(work, to_schema=PostingItem.of)
