"""Small charts that the server draws as SVG, each with a text alternative.

A handler creates one (`SparkBars.of(values)`), a template draws it:
`{% from "_charts.html" import spark_bars %}{{ spark_bars(chart, _("Reads of the last 30 days")) }}`.
Long series are tables that series.js turns into charts (`data-series`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 120, 28
GAP, MAX_STEP, MIN_BAR = 2, 12, 1.5


class SparkBar(NamedTuple):
    """A bar in a box of WIDTH by HEIGHT."""

    x: float
    y: float
    width: float
    height: float


class SparkBars(NamedTuple):
    """Small bars for counts, from zero."""

    bars: Sequence[SparkBar]
    low: float
    high: float
    latest: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> SparkBars:
        """From the oldest value to the newest."""
        if not values:
            return cls((), 0, 0, None)
        high = max(values) or 1
        step = min(WIDTH / len(values), MAX_STEP)
        left = WIDTH - step * len(values)
        bars = [
            SparkBar(
                round(left + n * step, 1), round(HEIGHT - height, 1), round(step - GAP, 1), height
            )
            for n, height in enumerate(_bar_height(value, high) for value in values)
        ]
        return cls(bars, min(values), max(values), values[-1])


def _bar_height(value: float, high: float) -> float:
    """A count of zero leaves a thin mark, so that the run can be seen."""
    return max(round(HEIGHT * value / high, 1), MIN_BAR)


class ChartColumn(NamedTuple):
    name: str
    value: float
    height: float
    """Percent of the highest column."""
    color: str
    """A CSS class."""


def make_columns(values: Sequence[tuple[str, float, str]]) -> list[ChartColumn]:
    """Columns from (name, value, color)."""
    highest = max((value for _, value, _ in values), default=0) or 1
    return [
        ChartColumn(name, value, round(100 * value / highest, 1), color)
        for name, value, color in values
    ]


class BarGroup(NamedTuple):
    """The bars of one day: one for each series."""

    name: str
    values: Sequence[int]
    heights: Sequence[float]
    """Percent of the highest bar of all."""


def make_bar_groups(names: Sequence[str], values: Sequence[Sequence[int]]) -> list[BarGroup]:
    """One group for each name, all on the same scale."""
    highest = max((value for group in values for value in group), default=0) or 1
    return [
        BarGroup(name, group, [round(100 * value / highest, 1) for value in group])
        for name, group in zip(names, values, strict=True)
    ]
