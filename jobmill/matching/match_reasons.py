"""Choose the best reason for a match and the strongest one against it from the parts of its score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .verdict import ScoreItem

TWO_SIDED = ("skills", "model")
"""Items that tell what speaks for a match and what speaks against it."""
LABELS = {
    "title": "Title",
    "seniority": "Seniority",
    "size": "Company size",
    "model": "Model review",
}
"""What the reasons of these items are about; the others say so themselves."""
MAX_SKILLS = 5
"""How many missing skills a reason names."""


@dataclass(frozen=True, slots=True)
class MatchReasons:
    reason_for: str | None
    reason_against: str | None
    """None only if the score has all 100 points."""
    dealbreakers: tuple[str, ...]
    """What the profile rules out: an arrangement, a place or a salary."""
    losses: tuple[ScoreItem, ...]
    """The parts without full points, the largest loss first."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, with what is missing from the 100 points."""
        return {
            "reason_for": self.reason_for,
            "reason_against": self.reason_against,
            "dealbreakers": list(self.dealbreakers),
            "missing_points": [
                {"name": item.name, "points": item.lost, "state": item.state, "why": item.why}
                for item in self.losses
            ],
        }


def find_reasons(items: Iterable[ScoreItem], skill_gaps: Sequence[str]) -> MatchReasons:
    """Find the reasons. A dealbreaker is a stronger reason against than any loss of points."""
    items = tuple(items)
    losses = sorted((item for item in items if item.lost > 0), key=lambda item: -item.lost)
    excluded = [item for item in losses if item.state == "excluded"]
    worst = next(iter((*excluded, *losses)), None)
    gains = [item for item in items if item.state == "judged" and item.points > 0]
    others = [item for item in gains if item is not worst or item.name in TWO_SIDED]
    best = max(others, key=lambda item: item.points - item.lost, default=None)
    return MatchReasons(
        best and _label(best, _quote(best, "for") or best.why.partition("; missing: ")[0]),
        worst and _describe_loss(worst, skill_gaps),
        tuple(item.why for item in excluded),
        tuple(losses),
    )


def _describe_loss(item: ScoreItem, skill_gaps: Sequence[str]) -> str:
    if item.name == "skills" and skill_gaps:
        rest = len(skill_gaps) - MAX_SKILLS
        more = f" and {rest} more" if rest > 0 else ""
        return f"Missing skills: {', '.join(skill_gaps[:MAX_SKILLS])}{more}"
    return _label(item, _quote(item, "against") or item.why)


def _label(item: ScoreItem, text: str) -> str:
    label = LABELS.get(item.name)
    return f"{label}: {text}" if label and not text.startswith(label) else text


def _quote(item: ScoreItem, side: Literal["for", "against"]) -> str:
    """The first quote with which a model supports its rating; empty for other items."""
    mark = f"{side}: "
    quotes = (words.removeprefix(mark) for words in item.words if words.startswith(mark))
    quote = next(quotes, "") if item.name == "model" else ""
    return f"“{quote}”" if quote else ""
