"""/budget: what language models may cost and have cost."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from jobmill.outside import model_prices
from jobmill.web.budget_report import (
    BudgetUsage,
    CallTotal,
    read_budget,
    total_by_day,
    total_by_use,
)
from jobmill.web.shell import Page

router = APIRouter(prefix="/budget")

PERIODS = (7, 30, 90, 365)
Days = Annotated[int, Query(ge=1, le=400)]


@router.get("")
async def show(page: Page, days: Days = 30) -> HTMLResponse:
    async with page.db.transaction() as tx:
        content = await read_budget(tx, days)
        site_settings = await page.site_settings.with_stored(tx)
    uses = total_by_use(content.lines)
    total = CallTotal.of(content.lines)
    return page(
        "budget/page.html",
        topics=["budget"],
        days=days,
        periods=PERIODS,
        today=BudgetUsage.of(content.today, site_settings.caps.day),
        month=BudgetUsage.of(content.month, site_settings.caps.month),
        caps=site_settings.caps,
        models=site_settings.tiers,
        has_models=any(tier.missing is None for tier in site_settings.tiers),
        prices_as_of=model_prices.AS_OF,
        waiting=content.waiting,
        people=[
            (row, row.share and float(row.share.in_dollars(site_settings.caps.day)))
            for row in content.people
        ],
        total=total,
        saved=sum(use.total.saved for use in uses),
        per_match=total.spent / content.matches if content.matches else None,
        uses=uses,
        daily=total_by_day(content.lines, days, content.read_at.date()),
    )
