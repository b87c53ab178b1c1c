"""/setup/companies: choose companies from the bundled list, or paste addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Invalid, Unavailable
from jobmill.pipelines import first_boards
from jobmill.rotation import bundled_companies
from jobmill.rotation.bundled_companies import BundledCompany
from jobmill.web import html_errors
from jobmill.web.auth import Admin, Visitor
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import read_long_form
from jobmill.web.page_query import ShortText
from jobmill.web.pages.setup.steps import COMPANIES, MODEL, list_steps, read_setup_status
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.site_settings import CurrentSiteSettings, SiteSettings

router = APIRouter(prefix="/setup/companies")

ADD_SECONDS = 30.0
MAX_PASTED_LENGTH = 50_000


@dataclass(frozen=True, slots=True)
class CompanySelection:
    """The search and the selection so far, which the query string holds."""

    q: str = ""
    field: str = ""
    chosen: Sequence[str] = ()
    pasted: str = ""

    @property
    def selected(self) -> list[BundledCompany]:
        return bundled_companies.companies_by_keys(self.chosen)

    @property
    def results(self) -> list[BundledCompany]:
        selected = set(self.selected)
        companies = bundled_companies.search_companies(self.q, self.field)
        return [company for company in companies if company not in selected]


@router.get("")
async def show(
    visitor: Admin,
    db: Db,
    page: Page,
    site_settings: CurrentSiteSettings,
    chosen: Annotated[list[str] | None, Query(max_length=1_000)] = None,
    q: ShortText = "",
    field: ShortText = "",
    pasted: Annotated[str, Query(max_length=MAX_PASTED_LENGTH)] = "",
) -> HTMLResponse:
    selection = CompanySelection(q, field, chosen or (), pasted)
    return await _render(visitor, db, page, site_settings, selection)


async def _render(
    visitor: Visitor,
    db: RequestDatabase,
    page: PageRenderer,
    site_settings: SiteSettings,
    selection: CompanySelection,
    invalid_lines: Sequence[tuple[str, str]] = (),
    error: AppError | None = None,
    is_empty: bool = False,
) -> HTMLResponse:
    """`is_empty`: the form was submitted without a selection."""
    async with db.transaction() as tx:
        status = await read_setup_status(tx, site_settings, visitor)
    code = html_errors.status_code(error) if error else 422 if invalid_lines or is_empty else 200
    return page(
        "setup/companies.html",
        code,
        status=status,
        steps=list_steps(status, COMPANIES),
        selection=selection,
        fields=bundled_companies.all_fields(),
        total=len(bundled_companies.all_companies()),
        invalid_lines=invalid_lines,
        is_empty=is_empty,
        error=str(error) if error else "",
    )


@router.post("")
async def add(
    request: Request, visitor: Admin, db: Db, page: Page, site_settings: CurrentSiteSettings
) -> Response:
    """Add the selection as sources and queue their first read; nothing is added if a line is
    invalid or nothing is selected."""
    form = await read_long_form(request)
    pasted = form.get("pasted", [""])[-1].replace("\r\n", "\n")[:MAX_PASTED_LENGTH]
    q, field = form.get("q", [""])[-1][:200], form.get("field", [""])[-1][:200]
    selection = CompanySelection(q, field, form.get("chosen", ()), pasted)
    try:
        keys = [company.key for company in selection.selected]
        wishes = first_boards.parse_lines([*keys, *selection.pasted.split("\n")])
        if wishes.invalid:
            return await _render(visitor, db, page, site_settings, selection, wishes.invalid)
        if not wishes.boards and not wishes.pages:
            return await _render(visitor, db, page, site_settings, selection, is_empty=True)
        async with db.transaction(ADD_SECONDS) as tx:
            await first_boards.add_boards(tx, wishes, by=visitor.name or visitor.actor.name)
    except (Invalid, Unavailable) as error:
        return await _render(visitor, db, page, site_settings, selection, error=error)
    return RedirectResponse(MODEL, 303)
