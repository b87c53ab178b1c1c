"""How often what was read is what was wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Case: TypeAlias = tuple[object, object]
"""What was wanted and what was read; None is "not said"."""


@dataclass(frozen=True)
class Score:
    """Counts of what was wanted and what was said."""

    cases: int
    wanted: int
    said: int
    right: int
    """Of what was said."""
    same: int | None = None
    """Cases in which words or silence are right, where a case has one value."""
    found: int | None = None
    """Of what was wanted, where that is not as many as are right."""

    @property
    def precision(self) -> float:
        return self.right / self.said if self.said else 1.0

    @property
    def recall(self) -> float:
        found = self.right if self.found is None else self.found
        return found / self.wanted if self.wanted else 1.0

    @property
    def accuracy(self) -> float:
        return (self.same or 0) / self.cases if self.cases else 1.0

    def row(self) -> tuple[str, ...]:
        """Counts and shares, for a table."""
        return (
            str(self.cases),
            str(self.wanted),
            str(self.said),
            f"{self.precision:.3f}" if self.said else "-",
            f"{self.recall:.3f}" if self.wanted else "-",
            f"{self.accuracy:.3f}" if self.same is not None else "-",
        )


def of_values(cases: Sequence[Case]) -> Score:
    """One value a case, or none."""
    return Score(
        len(cases),
        sum(want is not None for want, _ in cases),
        sum(got is not None for _, got in cases),
        sum(want == got is not None for want, got in cases),
        sum(want == got for want, got in cases),
    )


def of_sets(cases: Iterable[tuple[set[str], set[str]]]) -> Score:
    """Several names a case, all counted together; names that no case wants are left out."""
    listed = list(cases)
    known = {name for want, _ in listed for name in want}
    pairs = [(want, got & known) for want, got in listed]
    return Score(
        len(pairs),
        sum(len(want) for want, _ in pairs),
        sum(len(got) for _, got in pairs),
        sum(len(want & got) for want, got in pairs),
    )
