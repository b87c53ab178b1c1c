"""/setup/companies: whose openings to look at, chosen from the bundled list or pasted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Invalid, Unavailable
from jobmill.pipelines import first_boards
from jobmill.pipelines.first_boards import Wishes
from jobmill.rotation import bundled_companies
from jobmill.rotation.bundled_companies import BundledCompany
from jobmill.web import html_errors
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import read_long_form
from jobmill.web.page_query import ShortText
from jobmill.web.pages.setup import steps
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.site_settings import CurrentSiteSettings, SiteSettings

router = APIRouter(prefix="/setup/companies")

LONG = 30.0
LONGEST = 50_000


@dataclass(frozen=True, slots=True)
class Choice:
    """What is looked for and what is chosen so far: the address holds all of it."""

    q: str = ""
    field: str = ""
    chosen: Sequence[str] = ()
    pasted: str = ""

    @property
    def taken(self) -> list[BundledCompany]:
        return bundled_companies.companies_by_keys(self.chosen)

    @property
    def found(self) -> list[BundledCompany]:
        taken = set(self.taken)
        return [
            one
            for one in bundled_companies.search_companies(self.q, self.field)
            if one not in taken
        ]


@router.get("")
async def show(
    visitor: Recruiter,
    db: Db,
    page: Page,
    site_settings: CurrentSiteSettings,
    chosen: Annotated[list[str] | None, Query(max_length=1_000)] = None,
    q: ShortText = "",
    field: ShortText = "",
    pasted: Annotated[str, Query(max_length=LONGEST)] = "",
) -> HTMLResponse:
    choice = Choice(q, field, chosen or (), pasted)
    return await _show(db, page, site_settings, choice)


async def _show(
    db: RequestDatabase,
    page: PageRenderer,
    site_settings: SiteSettings,
    choice: Choice,
    wrong: Sequence[tuple[str, str]] = (),
    error: AppError | None = None,
    nothing: bool = False,
) -> HTMLResponse:
    """`nothing`: somebody wanted to go on without having chosen any."""
    async with db.transaction() as tx:
        standing = await steps.read(tx, site_settings)
    status = html_errors.status_code(error) if error else 422 if wrong or nothing else 200
    return page(
        "setup/companies.html",
        status,
        standing=standing,
        steps=steps.line(standing, "/setup/companies"),
        choice=choice,
        fields=bundled_companies.all_fields(),
        all=len(bundled_companies.all_companies()),
        wrong=wrong,
        nothing=nothing,
        error=str(error) if error else "",
    )


@router.post("")
async def add(
    request: Request, visitor: Recruiter, db: Db, page: Page, site_settings: CurrentSiteSettings
) -> Response:
    """Keep what was chosen as sources and have them read; where a line is not understood, or nothing
    was chosen, nothing is done, and that is said."""
    sent = await read_long_form(request)
    pasted = sent.get("pasted", [""])[-1].replace("\r\n", "\n")[:LONGEST]
    q, field = sent.get("q", [""])[-1][:200], sent.get("field", [""])[-1][:200]
    choice = Choice(q, field, sent.get("chosen", ()), pasted)
    try:
        wishes = _wishes(choice)
        if wishes.wrong:
            return await _show(db, page, site_settings, choice, wishes.wrong)
        if not wishes.boards and not wishes.pages:
            return await _show(db, page, site_settings, choice, nothing=True)
        async with db.transaction(LONG) as tx:
            await first_boards.begin(tx, wishes, by=visitor.name or visitor.actor.name)
    except (Invalid, Unavailable) as error:
        return await _show(db, page, site_settings, choice, error=error)
    return RedirectResponse("/setup/model", 303)


def _wishes(choice: Choice) -> Wishes:
    keys = [one.key for one in choice.taken]
    return first_boards.read([*keys, *choice.pasted.split("\n")])
