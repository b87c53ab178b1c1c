"""jobmill budget: what language models may cost, and what they have."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from jobmill.cli.support import environment, output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.matching import match_counts
from jobmill.outside import budget_ledger, model_prices, model_tiers
from jobmill.outside.budget_ledger import LedgerLine, PeriodSpending
from jobmill.outside.model_tiers import TierStatus
from jobmill.settings import Settings


@dataclass(frozen=True)
class Report:
    mode: str
    tiers: list[TierStatus]
    caps: dict[str, float]
    spent_out: str
    prices_as_of: str
    today: PeriodSpending
    month: PeriodSpending
    days: list[LedgerLine]
    matches: int
    """Made in these days."""
    per_match: float | None
    """What all calls of these days cost, for each of them."""


def budget(
    days: Annotated[int, typer.Option(metavar="N", min=1, max=3_660, help="How far back.")] = 7,
    as_json: AsJson = False,
) -> None:
    """Show what models may cost and have cost, by day, model, purpose and saved match (in UTC)."""
    settings = environment.load_settings()

    async def find(tx: Tx) -> Report:
        return await _report(tx, settings, days)

    report = session.in_transaction(find)
    if as_json:
        output.print_json(asdict(report))
        return
    output.print_facts(_words(report, days))
    if report.days:
        output.print_table(report.days, as_json=False, formatters={"spent": money})
    else:
        typer.echo(f"No model was asked in {output.format_count(days, 'day')}.")


async def _report(tx: Tx, settings: Settings, days: int) -> Report:
    found = model_tiers.find_tiers(settings, os.environ)
    lines = await budget_ledger.read_lines(tx, days)
    matches = await match_counts.created(tx, days)
    return Report(
        model_tiers.describe_mode(found),
        found,
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


def money(dollars: float) -> str:
    return f"${dollars:,.4f}"


def _words(report: Report, days: int) -> dict[str, object]:
    def used(standing: PeriodSpending) -> str:
        return f"{money(standing.spent)} spent, {money(standing.reserved)} reserved"

    lacks = {
        f"{seat.tier} model": f"{seat.model}: {seat.missing}"
        for seat in report.tiers
        if seat.missing is not None
    }
    caps = ", ".join(f"${cap:g} a {name}" for name, cap in report.caps.items())
    then = "wait" if report.spent_out == "block" else "go on locally"
    return {
        "mode": report.mode,
        **lacks,
        "caps": f"{caps}; then {then}",
        "today": used(report.today),
        "this month": used(report.month),
        "per saved match": _per_match(report, output.format_count(days, "day")),
    }


def _per_match(report: Report, period: str) -> str:
    if report.per_match is None:
        return f"no match was saved in {period}"
    return f"{money(report.per_match)} ({report.matches:,} saved in {period})"
