"""jobmill budget: what language models may cost, and what they have."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from jobmill.cli import show
from jobmill.cli.show import AsJson

if TYPE_CHECKING:
    from jobmill.db import Tx
    from jobmill.outside.ledger import Line, Standing
    from jobmill.settings import Settings


@dataclass(frozen=True)
class Seat:
    """A tier and who answers for it."""

    tier: str
    model: str
    missing: str | None
    """Why it is not asked; None if it is."""


@dataclass(frozen=True)
class Report:
    mode: str
    tiers: list[Seat]
    caps: dict[str, float]
    spent_out: str
    prices_as_of: str
    today: Standing
    month: Standing
    days: list[Line]
    matches: int
    """Made in these days."""
    per_match: float | None
    """What all calls of these days cost, for each of them."""


def budget(
    days: Annotated[int, typer.Option(metavar="N", min=1, max=3_660, help="How far back.")] = 7,
    as_json: AsJson = False,
) -> None:
    """Show what models may cost and have cost, by day, model, purpose and saved match (in UTC)."""
    from jobmill.cli import environment, session

    settings = environment.load()

    async def find(tx: Tx) -> Report:
        return await _report(tx, settings, days)

    report = session.ask(find)
    if as_json:
        show.print_json(asdict(report))
        return
    show.facts(_words(report, days))
    if report.days:
        show.many(report.days, as_json=False, words={"spent": money})
    else:
        typer.echo(f"No model was asked in {show.count(days, 'day')}.")


async def _report(tx: Tx, settings: Settings, days: int) -> Report:
    from jobmill.matching import tally
    from jobmill.outside import ledger, prices

    seats = find_seats(settings, os.environ)
    lines = await ledger.lines(tx, days)
    matches = await tally.created(tx, days)
    return Report(
        mode(seats),
        seats,
        {
            "call": settings.budget_call,
            "run": settings.budget_run,
            "day": settings.budget_day,
            "month": settings.budget_month,
        },
        settings.budget_spent_out,
        prices.AS_OF,
        await ledger.standing(tx, "day"),
        await ledger.standing(tx, "month"),
        lines,
        matches,
        sum(line.spent for line in lines) / matches if matches else None,
    )


def find_seats(settings: Settings, environ: Mapping[str, str]) -> list[Seat]:
    """Both tiers, and what each of them lacks."""
    from jobmill.outside import endpoint, ledger
    from jobmill.outside.question import Blocked

    caps = ledger.read_caps(settings)
    seats: list[Seat] = []
    for tier in ("cheap", "strong"):
        found = endpoint.find(tier, settings, environ)
        missing = found.detail if isinstance(found, Blocked) else None
        if not isinstance(found, Blocked) and found.price.output > 0:
            least = min(caps.call, caps.run, caps.day, caps.month)
            missing = None if least > 0 else "the budget is 0"
        seats.append(Seat(tier, endpoint.tier_model(settings, tier), missing))
    return seats


def mode(seats: list[Seat]) -> str:
    """In a few words, who does the thinking."""
    asked = [f"{seat.tier}: {seat.model}" for seat in seats if seat.missing is None]
    return ", ".join(asked) if asked else "local only"


def money(dollars: float) -> str:
    return f"${dollars:,.4f}"


def _words(report: Report, days: int) -> dict[str, object]:
    def used(standing: Standing) -> str:
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
        "per saved match": _per_match(report, show.count(days, "day")),
    }


def _per_match(report: Report, period: str) -> str:
    if report.per_match is None:
        return f"no match was saved in {period}"
    return f"{money(report.per_match)} ({report.matches:,} saved in {period})"
