"""The result of an evaluation: a table, and goals that are met or not."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Goal:
    name: str
    figure: float
    target: float
    at_most: bool = False
    """The figure must not exceed the target."""

    @property
    def met(self) -> bool:
        return self.figure <= self.target if self.at_most else self.figure >= self.target


def format_goal(name: str, figure: str, target: str, *, met: bool) -> str:
    """The line that programs read (docs/reference/compatibility.md)."""
    return f"goal {name.replace(' ', '_')} {figure} {target} {'ok' if met else 'short'}"


@dataclass(frozen=True)
class Report:
    """The result of one part of the evaluation; `rows` are a table for people."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
