"""The parts of a verdict: the filter result, the score, and suggestions for an application."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter

Priority: TypeAlias = Literal["High", "Medium", "Low"]

ItemState: TypeAlias = Literal["judged", "open", "unknown", "excluded"]
"""judged: posting and profile were compared; open: the profile accepts anything; unknown: the posting
or the profile does not say; excluded: a dealbreaker, because the profile rules it out."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A reason that rejects a listing on its own."""

    rule: str
    reason: str
    words: str
    """The evidence, quoted from the posting."""


@dataclass(frozen=True, slots=True)
class Strike:
    rule: str
    reason: str
    strikes: int
    words: str


@dataclass(frozen=True, slots=True)
class FilterResult:
    passed: bool
    total_strikes: int
    hard_rejections: tuple[Rejection, ...]
    strikes: tuple[Strike, ...]
    rejection_summary: str

    def to_dict(self) -> dict[str, Any]:
        """The JSON form stored in the queue and the database and shown by `--json`."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ScoreItem:
    """One part of a score."""

    name: str
    points: int
    most: int
    why: str
    words: tuple[str, ...] = ()
    """The evidence, quoted from the posting, the profile or the company."""
    state: ItemState = "judged"

    @property
    def lost(self) -> int:
        """The points that are missing from the maximum."""
        return self.most - self.points


@dataclass(frozen=True, slots=True)
class ResumeIntake:
    """What a resume for this listing should say, using only what the profile states."""

    professional_summary: str = ""
    prioritized_skills: tuple[str, ...] = ()
    experience_highlights: tuple[str, ...] = ()
    projects_to_include: tuple[str, ...] = ()
    achievement_angles: tuple[str, ...] = ()
    ats_keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchResult:
    match_score: int
    """The sum of the items' points. The sum of their maximums is 100."""
    application_priority: Priority
    matched_skills: tuple[str, ...]
    skill_gaps: tuple[str, ...]
    items: tuple[ScoreItem, ...]
    threshold: int
    threshold_why: str
    resume_intake: ResumeIntake = ResumeIntake()
    scored_by: str = "local"
    """"local", or the name of the model."""
    dropped_claims: tuple[str, ...] = ()
    """Claims of the model that neither text supports."""

    @property
    def fits(self) -> bool:
        return self.match_score >= self.threshold

    def to_dict(self) -> dict[str, Any]:
        """The JSON form stored in the queue and the database and shown by `--json`."""
        return asdict(self)


_FILTER = TypeAdapter(FilterResult)
_MATCH = TypeAdapter(MatchResult)
_ITEMS = TypeAdapter(tuple[ScoreItem, ...])


def parse_filter_result(record: Mapping[str, Any]) -> FilterResult:
    """Read a result that `to_dict` wrote."""
    return _FILTER.validate_python(record)


def parse_match_result(record: Mapping[str, Any]) -> MatchResult:
    """Read a result that `to_dict` wrote."""
    return _MATCH.validate_python(record)


def parse_score_items(records: Iterable[Mapping[str, Any]]) -> tuple[ScoreItem, ...]:
    """Read the items of a stored score."""
    return _ITEMS.validate_python(tuple(records))
