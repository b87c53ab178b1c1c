"""/rotation/yield: what calls brought, by time, platform and source, and how stale targets are."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.rotation import call_history, planner, rotation_status
from jobmill.rotation.call_history import CallPeriod
from jobmill.rotation.rotation_status import PlatformYield, SourceYield, TargetAge
from jobmill.web import charts
from jobmill.web.charts import ChartColumn
from jobmill.web.dependencies import Db
from jobmill.web.page_query import PageQuery
from jobmill.web.pages.rotation import labels
from jobmill.web.shell import Page

router = APIRouter(prefix="/rotation")

SOURCES = 50
MARKS = {"never": "calm", "under 30 days": "calm", "older": "bad"}
"""Ages that ask for a look."""


class Span(PageQuery):
    of: Literal["day", "week", "month"] = "day"


SPANS = {
    "day": dt.timedelta(days=1),
    "week": dt.timedelta(days=7),
    "month": dt.timedelta(days=30),
}
STEPS = {
    "day": (call_history.HOUR, 24),
    "week": (call_history.DAY, 14),
    "month": (call_history.DAY, 30),
}
"""How finely the chart tells it, and how far back it goes."""


@dataclass(frozen=True, slots=True)
class Shown:
    course: list[CallPeriod]
    platforms: list[PlatformYield]
    sources: list[SourceYield]
    ages: list[TargetAge]

    @property
    def columns(self) -> list[ChartColumn]:
        return charts.make_columns(
            [(labels.age(one.age), one.targets, MARKS.get(one.age, "good")) for one in self.ages]
        )

    @property
    def targets(self) -> int:
        return sum(one.targets for one in self.ages)


@router.get("/yield")
async def show(asked: Annotated[Span, Query()], db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        shown = await read(tx, asked)
    return page(
        "rotation/yield.html",
        topics=["rotation"],
        asked=asked,
        shown=shown,
        here=asked.url("/rotation/yield"),
        labels=labels,
    )


async def read(tx: Tx, asked: Span) -> Shown:
    at, span = await planner.clock(tx), SPANS[asked.of]
    spells = await call_history.recent_periods(tx, at, *STEPS[asked.of])
    return Shown(
        begun(spells),
        await rotation_status.yield_by_platform(tx, at, span),
        await rotation_status.yield_by_source(tx, at, span, limit=SOURCES),
        await rotation_status.target_ages(tx, at),
    )


def begun(spells: Sequence[CallPeriod]) -> list[CallPeriod]:
    """Newest first, back to the one before the first call: what was before says nothing."""
    first = max((n for n, one in enumerate(spells) if one.calls), default=-2)
    return list(spells[: first + 2])
