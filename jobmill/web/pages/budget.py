"""/budget: what language models may cost and have cost."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.matching import matches
from jobmill.outside import budget_ledger, model_prices
from jobmill.outside.budget_ledger import LedgerLine, PeriodSpending, PersonSpending
from jobmill.queue import inspect
from jobmill.web.dependencies import Db
from jobmill.web.shell import Page
from jobmill.web.site_settings import CurrentSiteSettings

router = APIRouter(prefix="/budget")

PERIODS = (7, 30, 90, 365)
Days = Annotated[int, Query(ge=1, le=400)]


class BudgetUsage(NamedTuple):
    """How much of a limit is used, in dollars."""

    spent: float
    reserved: float
    cap: float

    @classmethod
    def of(cls, spending: PeriodSpending, cap: Decimal) -> BudgetUsage:
        return cls(spending.spent, spending.reserved, float(cap))

    @property
    def left(self) -> float:
        return max(self.cap - self.spent - self.reserved, 0)

    @property
    def widths(self) -> tuple[float, float]:
        """Percent spent and percent reserved."""
        if not self.cap:
            return 0, 0
        spent = min(100 * self.spent / self.cap, 100)
        return round(spent, 1), round(min(100 * self.reserved / self.cap, 100 - spent), 1)


class CallTotal(NamedTuple):
    calls: int
    cache_hits: int
    failures: int
    tokens: int
    spent: float
    unknown: int
    """Calls of unknown cost."""

    @classmethod
    def of(cls, lines: Iterable[LedgerLine]) -> CallTotal:
        rows = list(lines)
        return cls(
            sum(line.calls for line in rows),
            sum(line.cache_hits for line in rows),
            sum(line.failures for line in rows),
            sum(line.tokens_in + line.tokens_out for line in rows),
            sum(line.spent for line in rows),
            sum(line.unknown for line in rows),
        )

    @property
    def saved(self) -> float:
        """What the answers from the cache would have cost at the mean cost of the calls."""
        return self.cache_hits * self.spent / self.calls if self.calls else 0


class ModelUse(NamedTuple):
    model: str
    purpose: str
    total: CallTotal


class BudgetDay(NamedTuple):
    at: dt.datetime
    total: CallTotal


@dataclass(frozen=True, slots=True)
class BudgetPage:
    today: PeriodSpending
    month: PeriodSpending
    lines: list[LedgerLine]
    matches: int
    waiting: int
    """Items that are blocked on the budget."""
    people: list[PersonSpending]
    read_at: dt.datetime
    """By the clock of the database server, which also dates the calls."""


@router.get("")
async def show(
    site_settings: CurrentSiteSettings, db: Db, page: Page, days: Days = 30
) -> HTMLResponse:
    async with db.transaction() as tx:
        content = await _read(tx, days)
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
        models=site_settings.seats,
        has_models=any(seat.missing is None for seat in site_settings.seats),
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


async def _read(tx: Tx, days: int) -> BudgetPage:
    blocked = {resource.name: resource.count for resource in await inspect.count_blocked(tx)}
    return BudgetPage(
        await budget_ledger.read_spending(tx, "day"),
        await budget_ledger.read_spending(tx, "month"),
        await budget_ledger.read_lines(tx, days),
        await matches.count_created(tx, days),
        blocked.get("budget", 0),
        await budget_ledger.read_by_person(tx),
        await server_time(tx),
    )


def total_by_use(lines: Sequence[LedgerLine]) -> list[ModelUse]:
    """Totals by model and purpose, the most expensive first."""
    keys = dict.fromkeys((line.model, line.purpose) for line in lines)
    uses = [
        ModelUse(*key, CallTotal.of(line for line in lines if (line.model, line.purpose) == key))
        for key in keys
    ]
    return sorted(uses, key=lambda use: (-use.total.spent, use.model, use.purpose))


def total_by_day(lines: Sequence[LedgerLine], days: int, today: dt.date) -> list[BudgetDay]:
    """Totals of each day (UTC), newest first, including days without calls."""
    by_date: dict[str, list[LedgerLine]] = {}
    for line in lines:
        by_date.setdefault(line.day, []).append(line)
    dates = [today - dt.timedelta(days=n) for n in range(days)]
    return [
        BudgetDay(
            dt.datetime.combine(date, dt.time(), dt.UTC),
            CallTotal.of(by_date.get(date.isoformat(), ())),
        )
        for date in dates
    ]
