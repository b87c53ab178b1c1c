"""/companies/new: add a company by name and website."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import Conflict, Invalid, Unavailable
from jobmill.queue import ItemId
from jobmill.web.auth import Admin
from jobmill.web.company_detail import add_company, submit_analysis
from jobmill.web.form import Fields
from jobmill.web.shell import Page

router = APIRouter(prefix="/companies")


@dataclass(frozen=True, slots=True)
class CompanyForm:
    name: str = ""
    website: str = ""


@router.get("/new")
async def show_form(visitor: Admin, page: Page) -> HTMLResponse:
    return page("companies/new.html", form=CompanyForm())


@router.post("/new")
async def add(fields: Fields, visitor: Admin, page: Page) -> Response:
    """Add the company; a worker reads its website and finds its job board."""
    form = CompanyForm(fields.get("name", "").strip(), fields.get("website", "").strip())
    try:
        async with page.db.transaction() as tx:
            id = await add_company(tx, form.name, form.website)
            item = await submit_analysis(tx, id, force=False)
    except (Conflict, Invalid, Unavailable) as error:
        return page("companies/new.html", form=form, error=error)
    return RedirectResponse(progress_url(id, item) if item else f"/companies/{id}?did=known", 303)


def progress_url(id: int, item: ItemId) -> str:
    return f"/companies/{id}?item={item}"
