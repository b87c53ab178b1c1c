"""jobmill budget: limits and costs of language models."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from jobmill.cli.support import environment, output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.matching.matches import count_created
from jobmill.outside import budget_ledger, model_prices, model_tiers
from jobmill.outside.budget_ledger import LedgerLine, PeriodSpending
from jobmill.outside.model_tiers import TierStatus
from jobmill.pipelines.model_configuration import read_configuration
from jobmill.settings import Settings


@dataclass(frozen=True)
class _BudgetReport:
    mode: str
    tiers: list[TierStatus]
    caps: dict[str, float]
    spent_out: str
    prices_as_of: str
    today: PeriodSpending
    month: PeriodSpending
    days: list[LedgerLine]
    matches: int
    """Matches saved in these days."""
    per_match: float | None
    """Cost of all model calls in these days per saved match."""


def budget(
    days: Annotated[int, typer.Option(metavar="N", min=1, max=3_660, help="Number of days.")] = 7,
    as_json: AsJson = False,
) -> None:
    """Show the limits and costs of models by day, model and purpose (days in UTC)."""
    settings = environment.load_settings()

    report = session.in_transaction(lambda tx: _build_report(tx, settings, days))
    if as_json:
        output.print_json(asdict(report))
        return
    output.print_facts(_describe(report, days))
    if report.days:
        output.print_table(report.days, as_json=False, formatters={"spent": _format_dollars})
    else:
        typer.echo(f"No model was called in the last {output.format_count(days, 'day')}.")


async def _build_report(tx: Tx, settings: Settings, days: int) -> _BudgetReport:
    configuration = await read_configuration(tx, settings, os.environ)
    settings = configuration.settings
    tiers = model_tiers.find_tiers(settings, configuration.environ)
    lines = await budget_ledger.read_lines(tx, days)
    matches = await count_created(tx, days)
    return _BudgetReport(
        model_tiers.describe_mode(tiers),
        tiers,
        {
            "call": settings.budget_call,
            "run": settings.budget_run,
            "day": settings.budget_day,
            "month": settings.budget_month,
        },
        settings.budget_spent_out,
        model_prices.AS_OF,
        await budget_ledger.read_spending(tx, "day"),
        await budget_ledger.read_spending(tx, "month"),
        lines,
        matches,
        sum(line.spent for line in lines) / matches if matches else None,
    )


def _format_dollars(dollars: float) -> str:
    return f"${dollars:,.4f}"


def _describe(report: _BudgetReport, days: int) -> dict[str, object]:
    def describe_spending(spending: PeriodSpending) -> str:
        return f"{_format_dollars(spending.spent)} spent, {_format_dollars(spending.reserved)} reserved"

    missing = {
        f"{tier.tier} model": f"{tier.model}: {tier.missing}"
        for tier in report.tiers
        if tier.missing is not None
    }
    caps = ", ".join(f"${cap:g} per {name}" for name, cap in report.caps.items())
    then = "calls wait" if report.spent_out == "block" else "jobs are scored without a model"
    return {
        "mode": report.mode,
        **missing,
        "caps": f"{caps}; then {then}",
        "today": describe_spending(report.today),
        "this month": describe_spending(report.month),
        "per saved match": _describe_cost_per_match(report, output.format_count(days, "day")),
    }


def _describe_cost_per_match(report: _BudgetReport, period: str) -> str:
    if report.per_match is None:
        return f"no match was saved in the last {period}"
    return f"{_format_dollars(report.per_match)} ({report.matches:,} saved in the last {period})"
