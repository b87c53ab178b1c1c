"""/setup/companies: choose companies from the bundled list, or paste addresses."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.catalog import companies
from jobmill.errors import AppError, Invalid, Unavailable
from jobmill.matching.profile import Profile
from jobmill.pipelines import first_boards
from jobmill.rotation import bundled_companies
from jobmill.rotation.bundled_companies import BundledCompany
from jobmill.rotation.company_suggestions import (
    CompanySuggestion,
    SearchSuggestion,
    rank_companies,
    suggest_searches,
)
from jobmill.web import job_view
from jobmill.web.auth import Admin
from jobmill.web.form import read_long_form
from jobmill.web.page_query import ShortText
from jobmill.web.pages.setup.steps import COMPANIES, MODEL, list_steps, read_setup_status
from jobmill.web.shell import Page, PageRenderer

router = APIRouter(prefix="/setup/companies")

ADD_SECONDS = 30.0
MAX_PASTED_LENGTH = 50_000
MAX_SUGGESTED = 24


@dataclass(frozen=True, slots=True)
class CompanySelection:
    """The search and the selection so far, which the query string holds."""

    q: str = ""
    field: str = ""
    chosen: Sequence[str] = ()
    pasted: str = ""
    searches: Sequence[str] = ()
    """Platforms whose suggested search is selected."""

    @property
    def selected(self) -> list[BundledCompany]:
        return bundled_companies.companies_by_keys(self.chosen)

    def rank_results(
        self, profile: Profile | None, open_titles: Mapping[str, Sequence[str]]
    ) -> list[CompanySuggestion]:
        """The companies that the search finds, those that fit the profile best first."""
        selected = set(self.selected)
        results = bundled_companies.search_companies(self.q, self.field)
        return rank_companies(
            profile, [company for company in results if company not in selected], open_titles
        )


def _suggest_searches(profile: Profile | None) -> list[SearchSuggestion]:
    return suggest_searches(profile, os.environ) if profile else []


@router.get("")
async def show(
    visitor: Admin,
    page: Page,
    chosen: Annotated[list[str] | None, Query(max_length=1_000)] = None,
    q: ShortText = "",
    field: ShortText = "",
    pasted: Annotated[str, Query(max_length=MAX_PASTED_LENGTH)] = "",
    search: Annotated[list[str] | None, Query(max_length=50)] = None,
) -> HTMLResponse:
    selection = CompanySelection(q, field, chosen or (), pasted, search or ())
    return await _render(page, selection)


async def _render(
    page: PageRenderer,
    selection: CompanySelection,
    invalid_lines: Sequence[tuple[str, str]] = (),
    error: AppError | None = None,
    is_empty: bool = False,
) -> HTMLResponse:
    """`is_empty`: the form was submitted without a selection."""
    async with page.db.transaction() as tx:
        status = await read_setup_status(tx, page.site_settings, page.visitor)
        open_titles = await companies.find_open_titles(tx, bundled_companies.all_names())
    profile = status.version.profile() if status.version else None
    # An installation that reads most boards has tens of thousands of titles to compare.
    results = await asyncio.to_thread(selection.rank_results, profile, open_titles)
    suggested = [result for result in results if result.matches][:MAX_SUGGESTED]
    return page(
        "setup/companies.html",
        422 if invalid_lines or is_empty else 200,
        status=status,
        steps=list_steps(status, COMPANIES),
        selection=selection,
        suggested=suggested,
        wanted_titles=profile.titles if profile else (),
        others=[result for result in results if result not in suggested],
        searches=_suggest_searches(profile),
        fields=bundled_companies.all_fields(),
        total=len(bundled_companies.all_companies()),
        invalid_lines=invalid_lines,
        is_empty=is_empty,
        error=error,
    )


@router.post("")
async def add(visitor: Admin, page: Page) -> Response:
    """Add the selection as sources and queue their first read; nothing is added if a line is
    invalid or nothing is selected."""
    form = await read_long_form(page.request)
    pasted = form.get("pasted", [""])[-1].replace("\r\n", "\n")[:MAX_PASTED_LENGTH]
    q, field = form.get("q", [""])[-1][:200], form.get("field", [""])[-1][:200]
    selection = CompanySelection(q, field, form.get("chosen", ()), pasted, form.get("search", ()))
    try:
        keys = [company.key for company in selection.selected]
        choices = first_boards.parse_lines([*keys, *selection.pasted.split("\n")])
        if choices.invalid:
            return await _render(page, selection, choices.invalid)
        async with page.db.transaction(ADD_SECONDS) as tx:
            version = await job_view.find_profile(tx, None, visitor.owner)
            searches = [
                suggestion
                for suggestion in _suggest_searches(version.profile() if version else None)
                if suggestion.platform in selection.searches and not suggestion.missing_keys
            ]
            if choices.boards or choices.pages:
                await first_boards.add_boards(tx, choices, by=visitor.name or visitor.actor.name)
            await first_boards.add_searches(tx, searches)
        if not (choices.boards or choices.pages or searches):
            return await _render(page, selection, is_empty=True)
    except (Invalid, Unavailable) as error:
        return await _render(page, selection, error=error)
    return RedirectResponse(MODEL, 303)
