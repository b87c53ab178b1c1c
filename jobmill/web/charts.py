"""Small charts that the server draws as SVG, each with a text alternative.

A handler creates one (`Sparkline.of(values)`), a template draws it:
`{% from "_charts.html" import sparkline %}{{ sparkline(chart, _("Reads of the last 30 days")) }}`.
Long series are tables that series.js turns into charts (`data-series`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 120, 28
EDGE = 2


class Sparkline(NamedTuple):
    """A line in a box of WIDTH by HEIGHT."""

    points: str
    last: tuple[float, float] | None
    low: float
    high: float
    latest: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Sparkline:
        """From the oldest value to the newest."""
        if not values:
            return cls("", None, 0, 0, None)
        low, high = min(values), max(values)
        step = (WIDTH - 2 * EDGE) / max(len(values) - 1, 1)
        dots = [
            (round(EDGE + n * step, 1), _height(value, low, high)) for n, value in enumerate(values)
        ]
        return cls(" ".join(f"{x},{y}" for x, y in dots), dots[-1], low, high, values[-1])


def _height(value: float, low: float, high: float) -> float:
    """The y coordinate of a value; in the middle if all values are equal."""
    share = (value - low) / (high - low) if high > low else 0.5
    return round(HEIGHT - EDGE - share * (HEIGHT - 2 * EDGE), 1)


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
