"""/api/budget: what models cost."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from jobmill.web.api.callers import AdminCaller
from jobmill.web.api.schemas import Schema
from jobmill.web.budget_report import (
    BudgetUsage,
    CallTotal,
    read_budget,
    total_by_day,
    total_by_use,
)
from jobmill.web.parameters import DIGITS_ONLY

router = APIRouter(tags=["system"])

Days = Annotated[int, Query(ge=1, le=400), DIGITS_ONLY]


class UsageItem(Schema):
    """In dollars."""

    spent: Annotated[float, Field(examples=[0.42])]
    reserved: float
    cap: float
    left: float


class CallFigures(Schema):
    calls: Annotated[int, Field(examples=[12])]
    cache_hits: int
    failures: int
    tokens: int
    spent: float
    unknown: int
    """Calls of unknown cost."""


class ModelUseItem(Schema):
    model: Annotated[str, Field(examples=["cheap-model"])]
    purpose: str
    total: CallFigures


class BudgetDayItem(Schema):
    day: Annotated[str, Field(examples=["2026-11-17"])]
    total: CallFigures


class BudgetRecord(Schema):
    today: UsageItem
    month: UsageItem
    waiting: int
    """Tasks that wait for the budget."""
    total: CallFigures
    """Of the last `days` days."""
    uses: list[ModelUseItem]
    days: list[BudgetDayItem]


@router.get("/budget", response_model=BudgetRecord)
async def show_budget(caller: AdminCaller, days: Days = 30) -> Response:
    """What language models have cost, and what they may cost."""
    async with caller.db.transaction() as tx:
        report = await read_budget(tx, days)
        caps = (await caller.site_settings.with_stored(tx)).caps
    by_day = total_by_day(report.lines, days, report.read_at.date())
    schema = BudgetRecord.of(
        today=BudgetUsage.of(report.today, caps.day),
        month=BudgetUsage.of(report.month, caps.month),
        waiting=report.waiting,
        total=CallTotal.of(report.lines),
        uses=total_by_use(report.lines),
        days=[BudgetDayItem.of(row, day=f"{row.at:%Y-%m-%d}") for row in by_day],
    )
    return caller.respond(schema)
