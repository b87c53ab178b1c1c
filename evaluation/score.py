"""Precision, recall and accuracy of extracted values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Case: TypeAlias = tuple[object, object]
"""The expected and the actual value; None means "not stated"."""


@dataclass(frozen=True)
class Score:
    """Counts of expected and answered values."""

    cases: int
    expected: int
    answered: int
    right: int
    """Correct answers."""
    same: int | None = None
    """Cases with the expected value, including those where both are None; only if a case has one
    value."""
    marked_found: int | None = None
    """Expected values that were found, if that number differs from `right`."""

    @property
    def precision(self) -> float:
        return self.right / self.answered if self.answered else 1.0

    @property
    def recall(self) -> float:
        found_count = self.right if self.marked_found is None else self.marked_found
        return found_count / self.expected if self.expected else 1.0

    @property
    def accuracy(self) -> float:
        return (self.same or 0) / self.cases if self.cases else 1.0

    def row(self) -> tuple[str, ...]:
        """Counts and shares, for a table."""
        return (
            str(self.cases),
            str(self.expected),
            str(self.answered),
            f"{self.precision:.3f}" if self.answered else "-",
            f"{self.recall:.3f}" if self.expected else "-",
            f"{self.accuracy:.3f}" if self.same is not None else "-",
        )


def share(marks: Iterable[bool]) -> float:
    """The share that is true; 0 without marks."""
    values = list(marks)
    return sum(values) / len(values) if values else 0.0


def of_values(cases: Sequence[Case]) -> Score:
    """Cases with one value or none."""
    return Score(
        len(cases),
        sum(want is not None for want, _ in cases),
        sum(got is not None for _, got in cases),
        sum(want == got is not None for want, got in cases),
        sum(want == got for want, got in cases),
    )


def of_sets(cases: Iterable[tuple[set[str], set[str]]]) -> Score:
    """Cases with several names, counted together; names that no case expects are ignored."""
    listed = list(cases)
    labelled = {name for want, _ in listed for name in want}
    pairs = [(want, got & labelled) for want, got in listed]
    return Score(
        len(pairs),
        sum(len(want) for want, _ in pairs),
        sum(len(got) for _, got in pairs),
        sum(len(want & got) for want, got in pairs),
    )
