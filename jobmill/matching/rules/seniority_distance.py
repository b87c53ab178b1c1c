"""How far apart two levels of seniority are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jobmill.catalog.posting import Seniority

STEPS: Final[dict[Seniority, int]] = {
    "intern": 0, "entry": 1, "junior": 1, "mid": 2, "senior": 3, "lead": 4, "staff": 4,
    "principal": 5, "manager": 4, "director": 6, "executive": 7,
}  # fmt: skip


def steps_from(asked: Seniority, wanted: Iterable[Seniority]) -> int:
    """Steps from what is asked to the nearest that is wanted; below 0 where that is more senior."""
    return min((STEPS[asked] - STEPS[one] for one in wanted), key=lambda step: (abs(step), step))
