"""Distances between levels of seniority."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jobmill.catalog.posting import Seniority

STEPS: Final[dict[Seniority, int]] = {
    "intern": 0, "entry": 1, "junior": 1, "mid": 2, "senior": 3, "lead": 4, "staff": 4,
    "principal": 5, "manager": 4, "director": 6, "executive": 7,
}  # fmt: skip


def steps_from(level: Seniority, wanted_levels: Iterable[Seniority]) -> int:
    """Signed steps from the nearest wanted level to the posting's level; negative if the posting is
    more junior."""
    return min(
        (STEPS[level] - STEPS[wanted_level] for wanted_level in wanted_levels),
        key=lambda step: (abs(step), step),
    )
