"""What an evaluation answers: a table, and how each goal stands."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Goal:
    name: str
    figure: float
    wanted: float
    at_most: bool = False
    """The figure should be low, not high."""

    @property
    def met(self) -> bool:
        return self.figure <= self.wanted if self.at_most else self.figure >= self.wanted


@dataclass(frozen=True)
class Report:
    """One part of the evaluation; `rows` are for people, each with the same columns."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
