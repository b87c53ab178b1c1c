"""/api/budget and /api/health: what models cost, and whether everything works."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BeforeValidator, Field

from jobmill.web.api.callers import AdminCaller
from jobmill.web.api.schemas import Schema
from jobmill.web.banners import CurrentBanners
from jobmill.web.budget_report import (
    BudgetUsage,
    CallTotal,
    ModelUse,
    read_budget,
    total_by_day,
    total_by_use,
)
from jobmill.web.parameters import require_digits
from jobmill.web.site_settings import CurrentSiteSettings
from jobmill.web.system_health import HealthArea, Severity

router = APIRouter(tags=["system"])

Days = Annotated[int, Query(ge=1, le=400), BeforeValidator(require_digits)]


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


class ConditionItem(Schema):
    code: Annotated[str, Field(examples=["no_worker"])]
    area: HealthArea
    severity: Severity
    sentence: str
    advice: str


class HealthRecord(Schema):
    problems: Annotated[int, Field(examples=[0])]
    conditions: list[ConditionItem]
    """What does not work as it should; empty if everything works."""


@router.get("/budget", response_model=BudgetRecord)
async def show_budget(
    caller: AdminCaller, site_settings: CurrentSiteSettings, days: Days = 30
) -> Response:
    """What language models have cost, and what they may cost."""
    async with caller.db.transaction() as tx:
        report = await read_budget(tx, days)
        caps = (await site_settings.with_stored(tx)).caps
    by_day = total_by_day(report.lines, days, report.read_at.date())
    schema = BudgetRecord(
        today=UsageItem.of(BudgetUsage.of(report.today, caps.day)),
        month=UsageItem.of(BudgetUsage.of(report.month, caps.month)),
        waiting=report.waiting,
        total=CallFigures.of(CallTotal.of(report.lines)),
        uses=[_use(use) for use in total_by_use(report.lines)],
        days=[
            BudgetDayItem(day=f"{row.at:%Y-%m-%d}", total=CallFigures.of(row.total))
            for row in by_day
        ],
    )
    return caller.respond(schema)


def _use(use: ModelUse) -> ModelUseItem:
    return ModelUseItem(model=use.model, purpose=use.purpose, total=CallFigures.of(use.total))


@router.get("/health", response_model=HealthRecord)
async def show_system_health(caller: AdminCaller, banners: CurrentBanners) -> Response:
    """Every condition of the installation that needs attention."""
    async with caller.db.transaction() as tx:
        health = await banners.read_health(tx)
    conditions = [ConditionItem.of(condition) for condition in health.conditions]
    return caller.respond(HealthRecord(problems=health.problems, conditions=conditions))
