"""/budget: what models may cost, have cost and are going to."""

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
from jobmill.matching import match_counts
from jobmill.outside import budget_ledger, model_prices
from jobmill.outside.budget_ledger import LedgerLine, PeriodSpending
from jobmill.queue import inspect
from jobmill.web.dependencies import Db
from jobmill.web.shell import Page
from jobmill.web.site_settings import CurrentSiteSettings

router = APIRouter(prefix="/budget")

PERIODS = (7, 30, 90, 365)
Days = Annotated[int, Query(ge=1, le=400)]


class Gauge(NamedTuple):
    """What is used of a cap, in dollars, and in hundredths of it for the eye."""

    spent: float
    reserved: float
    cap: float

    @classmethod
    def of(cls, standing: PeriodSpending, cap: Decimal) -> Gauge:
        return cls(standing.spent, standing.reserved, float(cap))

    @property
    def left(self) -> float:
        return max(self.cap - self.spent - self.reserved, 0)

    @property
    def widths(self) -> tuple[float, float]:
        """Of what is spent, and of what is reserved beside it."""
        if not self.cap:
            return 0, 0
        spent = min(100 * self.spent / self.cap, 100)
        return round(spent, 1), round(min(100 * self.reserved / self.cap, 100 - spent), 1)


class Sum(NamedTuple):
    """Calls that belong together."""

    calls: int
    cache_hits: int
    failures: int
    tokens: int
    spent: float
    unknown: int

    @classmethod
    def of(cls, lines: Iterable[LedgerLine]) -> Sum:
        found = list(lines)
        return cls(
            sum(one.calls for one in found),
            sum(one.cache_hits for one in found),
            sum(one.failures for one in found),
            sum(one.tokens_in + one.tokens_out for one in found),
            sum(one.spent for one in found),
            sum(one.unknown for one in found),
        )

    @property
    def saved(self) -> float:
        """What the answers from the cache would have cost, at what the others did."""
        return self.cache_hits * self.spent / self.calls if self.calls else 0


class Use(NamedTuple):
    model: str
    purpose: str
    sum: Sum


class Day(NamedTuple):
    at: dt.datetime
    sum: Sum


@dataclass(frozen=True, slots=True)
class Shown:
    today: PeriodSpending
    month: PeriodSpending
    lines: list[LedgerLine]
    matches: int
    waiting: int
    """Items that wait for a budget."""
    read_at: dt.datetime
    """By the server's clock, which also says in which day a call falls."""


@router.get("")
async def show(
    site_settings: CurrentSiteSettings, db: Db, page: Page, days: Days = 30
) -> HTMLResponse:
    async with db.transaction() as tx:
        shown = await _read(tx, days)
    uses = by_use(shown.lines)
    whole = Sum.of(shown.lines)
    return page(
        "budget/page.html",
        topics=["budget"],
        days=days,
        periods=PERIODS,
        today=Gauge.of(shown.today, site_settings.caps.day),
        month=Gauge.of(shown.month, site_settings.caps.month),
        caps=site_settings.caps,
        seats=site_settings.seats,
        asked=any(seat.missing is None for seat in site_settings.seats),
        prices_as_of=model_prices.AS_OF,
        waiting=shown.waiting,
        whole=whole,
        saved=sum(one.sum.saved for one in uses),
        per_match=whole.spent / shown.matches if shown.matches else None,
        uses=uses,
        daily=by_day(shown.lines, days, shown.read_at.date()),
    )


async def _read(tx: Tx, days: int) -> Shown:
    blocks = {one.name: one.count for one in await inspect.count_blocked(tx)}
    return Shown(
        await budget_ledger.read_spending(tx, "day"),
        await budget_ledger.read_spending(tx, "month"),
        await budget_ledger.read_lines(tx, days),
        await match_counts.created(tx, days),
        blocks.get("budget", 0),
        await server_time(tx),
    )


def by_use(lines: Sequence[LedgerLine]) -> list[Use]:
    """The sums of each model and purpose, the dearest first."""
    names = dict.fromkeys((one.model, one.purpose) for one in lines)
    uses = [
        Use(*name, Sum.of(one for one in lines if (one.model, one.purpose) == name))
        for name in names
    ]
    return sorted(uses, key=lambda use: (-use.sum.spent, use.model, use.purpose))


def by_day(lines: Sequence[LedgerLine], days: int, today: dt.date) -> list[Day]:
    """The sums of each day (UTC), the newest first, also of those without any."""
    dates = [today - dt.timedelta(days=n) for n in range(days)]
    by_date: dict[str, list[LedgerLine]] = {}
    for one in lines:
        by_date.setdefault(one.day, []).append(one)
    return [
        Day(dt.datetime.combine(date, dt.time(), dt.UTC), Sum.of(by_date.get(date.isoformat(), ())))
        for date in dates
    ]
