"""What language models have cost: by day, by model, by person, and against the limits."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.matching import matches
from jobmill.outside import budget_ledger
from jobmill.outside.budget_ledger import LedgerLine, PeriodSpending, PersonSpending
from jobmill.queue import inspect


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
class BudgetReport:
    today: PeriodSpending
    month: PeriodSpending
    lines: list[LedgerLine]
    matches: int
    waiting: int
    """Items that are blocked on the budget."""
    people: list[PersonSpending]
    read_at: dt.datetime
    """By the clock of the database server, which also dates the calls."""


async def read_budget(tx: Tx, days: int) -> BudgetReport:
    """The last `days` days."""
    blocked = {resource.name: resource.count for resource in await inspect.count_blocked(tx)}
    return BudgetReport(
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
