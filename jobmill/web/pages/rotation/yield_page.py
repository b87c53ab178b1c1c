"""/sources/rotation/yield: new jobs per read over time, by platform and source, and how stale reads are."""

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
from jobmill.web.page_query import PageQuery
from jobmill.web.pages.rotation import labels
from jobmill.web.shell import Page

router = APIRouter(prefix="/sources/rotation")

MAX_SOURCES = 50
AGE_COLORS = {"never": "calm", "under 30 days": "calm", "older": "bad"}


class YieldQuery(PageQuery):
    of: Literal["day", "week", "month"] = "day"


SPANS = {
    "day": dt.timedelta(days=1),
    "week": dt.timedelta(days=7),
    "month": dt.timedelta(days=30),
}
CHART_STEPS = {
    "day": (call_history.HOUR, 24),
    "week": (call_history.DAY, 14),
    "month": (call_history.DAY, 30),
}
"""Length and number of the intervals in the chart."""


@dataclass(frozen=True, slots=True)
class YieldPage:
    intervals: list[CallPeriod]
    platforms: list[PlatformYield]
    sources: list[SourceYield]
    ages: list[TargetAge]

    @property
    def age_columns(self) -> list[ChartColumn]:
        return charts.make_columns(
            [
                (labels.age_name(row.age), row.targets, AGE_COLORS.get(row.age, "good"))
                for row in self.ages
            ]
        )

    @property
    def targets(self) -> int:
        return sum(row.targets for row in self.ages)


@router.get("/yield")
async def show(query: Annotated[YieldQuery, Query()], page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        content = await _read(tx, query)
    return page(
        "rotation/yield.html",
        topics=["rotation"],
        query=query,
        content=content,
        current_url=query.url("/sources/rotation/yield"),
        labels=labels,
    )


async def _read(tx: Tx, query: YieldQuery) -> YieldPage:
    at, span = await planner.clock(tx), SPANS[query.of]
    intervals = await call_history.recent_periods(tx, at, *CHART_STEPS[query.of])
    return YieldPage(
        since_first_call(intervals),
        await rotation_status.yield_by_platform(tx, at, span),
        await rotation_status.yield_by_source(tx, at, span, limit=MAX_SOURCES),
        await rotation_status.target_ages(tx, at),
    )


def since_first_call(intervals: Sequence[CallPeriod]) -> list[CallPeriod]:
    """The intervals, newest first, back to the one before the first call."""
    first = max((n for n, interval in enumerate(intervals) if interval.calls), default=-2)
    return list(intervals[: first + 2])
