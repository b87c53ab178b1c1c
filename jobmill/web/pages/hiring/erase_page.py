"""/hiring/{opening_id}/people/{application_id}/erase: erase a person, after showing the consequences."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Invalid
from jobmill.hiring import privacy
from jobmill.hiring.applications import applicant_applications
from jobmill.hiring.records import applicants, openings
from jobmill.web.auth import Admin
from jobmill.web.form import Fields
from jobmill.web.pages.hiring.applicants import get_application
from jobmill.web.parameters import PathId
from jobmill.web.password_prompt import ConfirmedAdmin
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.status_labels import status_labels
from jobmill.web.translations import say

router = APIRouter(prefix="/hiring/{opening_id}/people/{application_id}/erase")


@router.get("")
async def show(
    opening_id: PathId, application_id: PathId, visitor: Admin, page: Page
) -> HTMLResponse:
    return await _render(page, opening_id, application_id)


@router.post("")
async def erase(
    opening_id: PathId, application_id: PathId, visitor: ConfirmedAdmin, form: Fields, page: Page
) -> Response:
    if form.get("confirmed") != "yes":
        error = Invalid(say("Select the checkbox to confirm. Erased data cannot be restored."))
        return await _render(page, opening_id, application_id, error)
    async with page.db.transaction() as tx:
        application = await get_application(tx, opening_id, application_id)
        await privacy.erase_applicant(tx, application.applicant_id, visitor.actor)
    return RedirectResponse(f"/hiring/{opening_id}/people/{application_id}", 303)


async def _render(
    page: PageRenderer, opening_id: int, application_id: int, error: AppError | None = None
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        opening = await openings.get(tx, opening_id)
        applicant_id = (await get_application(tx, opening_id, application_id)).applicant_id
        applicant = await applicants.get(tx, applicant_id)
        _, listed = await applicant_applications.list_by_applicant(tx, applicant_id)
        stored = await privacy.summarize_stored_data(tx, applicant_id)
    return page(
        "hiring/erase.html",
        opening=opening,
        application_id=application_id,
        applicant=applicant,
        live=[standing for standing in listed if standing.status != "INACTIVE"],
        stored=stored,
        labels=status_labels(),
        error=error,
    )
