"""/companies/new: add a company by name and website."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.catalog import companies
from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import Conflict, Invalid, Unavailable
from jobmill.pipelines import company as company_pipeline
from jobmill.queue import ItemId
from jobmill.web import html_errors, task_progress
from jobmill.web.auth import Admin
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/companies")


@dataclass(frozen=True, slots=True)
class CompanyForm:
    name: str = ""
    website: str = ""

    def check(self) -> None:
        if not self.name:
            raise Invalid(say("Enter the name of the company."))
        if "://" in self.name or self.name.lower().startswith("www."):
            raise Invalid(
                say("The name looks like a web address. Enter the address in the field Website.")
            )


@router.get("/new")
async def show_form(visitor: Admin, page: Page) -> HTMLResponse:
    return page("companies/new.html", form=CompanyForm(), error=None)


@router.post("/new")
async def add(fields: Fields, visitor: Admin, db: Db, page: Page) -> Response:
    """Add the company; a worker reads its website and finds its job board."""
    form = CompanyForm(fields.get("name", "").strip(), fields.get("website", "").strip())
    try:
        form.check()
        async with db.transaction() as tx:
            id = await company_pipeline.ensure_company(tx, form.name, form.website or None)
            item = await submit_analysis(tx, id, force=False)
    except (Conflict, Invalid, Unavailable) as error:
        status = html_errors.status_code(error)
        return page("companies/new.html", status, form=form, error=str(error))
    return RedirectResponse(progress_url(id, item) if item else f"/companies/{id}?did=known", 303)


async def submit_analysis(tx: Tx, id: int, *, force: bool) -> ItemId | None:
    """The item that analyzes the company; None if its record is complete and recent."""
    company = await companies.get(tx, id, with_counts=False)
    if not force and companies.is_up_to_date(company, await server_time(tx)):
        return None
    return await task_progress.submit_or_join(tx, company_pipeline.new_item(id, force=force))


def progress_url(id: int, item: ItemId) -> str:
    return f"/companies/{id}?item={item}"
