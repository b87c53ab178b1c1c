"""/companies: the list of companies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import Field

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import companies, company_list
from jobmill.catalog.companies import Company, Completeness, Tier
from jobmill.catalog.company_list import CompanyFilter, Order
from jobmill.matching import excluded_companies, profiles
from jobmill.matching.profile import Profile
from jobmill.web.auth import Seeker
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.companies.completeness import level_name, level_names, percent_complete
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page

router = APIRouter(prefix="/companies")

PAGE_SIZE = 50


class CompanyListQuery(PageQuery):
    q: ShortText | None = None
    tier: Tier | None = None
    data: Completeness | None = None
    waiting: bool = False
    order: Order = "best"
    after: Annotated[int, Field(ge=1, le=MAX_ID)] | None = None

    @property
    def is_filtered(self) -> bool:
        return bool(self.q or self.tier or self.data or self.waiting)

    def to_filter(self, limit: int) -> CompanyFilter:
        return CompanyFilter(
            self.q, self.tier, self.data, self.waiting, self.order, self.after, limit
        )


class CompanyRow(NamedTuple):
    company: Company
    completeness: str
    percent: int
    """How much of the record is complete."""
    board_waits: bool
    excluded: str | None
    """The stop list entry that excludes it."""

    @classmethod
    def of(cls, company: Company, active_profiles: Sequence[Profile]) -> CompanyRow:
        waits = companies.board_needs_approval(company)
        excluded = excluded_companies.explain_exclusion(
            active_profiles, PLATFORM_RULES, names=[company.name], urls=[company.website]
        )
        return cls(company, level_name(company), percent_complete(company), waits, excluded)


@router.get("")
async def show(
    query: Annotated[CompanyListQuery, Query()], visitor: Seeker, page: Page
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        rows = await company_list.find(tx, query.to_filter(PAGE_SIZE + 1))
        active_profiles = await profiles.read_active(tx, owner=visitor.owner)
    last_id = rows[PAGE_SIZE - 1].id if len(rows) > PAGE_SIZE else None
    return page(
        "companies/page.html",
        topics=["companies"],
        query=query,
        rows=[CompanyRow.of(company, active_profiles) for company in rows[:PAGE_SIZE]],
        levels=level_names(),
        next_url=last_id and query.url("/companies", after=last_id),
        first_url=query.without("after").url("/companies"),
        current_url=query.url("/companies"),
    )
