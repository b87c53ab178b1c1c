"""Charts that the server draws: small, without a script, and each with its words.

A handler makes one (`Line.of(values)`), a template draws it:
`{% from "_charts.html" import line %}{{ line(chart, _("Calls of the last 30 days")) }}`.
Long series are tables that a script turns into a chart: `data-series`, in series.js.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 120, 28
EDGE = 2


class Line(NamedTuple):
    """A sparkline in a box of WIDTH by HEIGHT."""

    points: str
    last: tuple[float, float] | None
    low: float
    high: float
    latest: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Line:
        """From the oldest to the newest value."""
        if not values:
            return cls("", None, 0, 0, None)
        low, high = min(values), max(values)
        step = (WIDTH - 2 * EDGE) / max(len(values) - 1, 1)
        dots = [
            (round(EDGE + n * step, 1), _height(one, low, high)) for n, one in enumerate(values)
        ]
        return cls(" ".join(f"{x},{y}" for x, y in dots), dots[-1], low, high, values[-1])


def _height(value: float, low: float, high: float) -> float:
    """Where a value stands, from the top; all alike stand in the middle."""
    share = (value - low) / (high - low) if high > low else 0.5
    return round(HEIGHT - EDGE - share * (HEIGHT - 2 * EDGE), 1)


class Column(NamedTuple):
    name: str
    value: float
    height: float
    """In hundredths of the highest."""
    mark: str
    """A class for its colour."""


def columns(values: Sequence[tuple[str, float, str]]) -> list[Column]:
    """A column each: what it stands for, how much it is, and how it looks."""
    most = max((value for _, value, _ in values), default=0) or 1
    return [Column(name, value, round(100 * value / most, 1), mark) for name, value, mark in values]
