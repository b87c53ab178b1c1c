"""What a judgement says: the filter's part, the score's part, and what to put into an application."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter

Priority: TypeAlias = Literal["High", "Medium", "Low"]

LIMIT = "limit"
"""The item that keeps a sum within 0 to 100."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A reason that is enough by itself."""

    rule: str
    reason: str
    words: str
    """What was seen, in the posting's own words."""


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

    def record(self) -> dict[str, Any]:
        """For the queue, the database and programs."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Item:
    """One part of a score."""

    name: str
    points: int
    most: int
    why: str
    words: tuple[str, ...] = ()
    """What was seen, in the words of the posting, the profile or the company."""


@dataclass(frozen=True, slots=True)
class Intake:
    """What a resume for this listing should say; nothing that the profile does not."""

    professional_summary: str = ""
    prioritized_skills: tuple[str, ...] = ()
    experience_highlights: tuple[str, ...] = ()
    projects_to_include: tuple[str, ...] = ()
    achievement_angles: tuple[str, ...] = ()
    ats_keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchResult:
    match_score: int
    """The sum of the items' points."""
    application_priority: Priority
    matched_skills: tuple[str, ...]
    skill_gaps: tuple[str, ...]
    items: tuple[Item, ...]
    threshold: int
    threshold_why: str
    resume_intake: Intake = Intake()
    scored_by: str = "local"
    """Or the model."""
    dropped_claims: tuple[str, ...] = ()
    """What a model claimed and the texts do not hold."""

    @property
    def fits(self) -> bool:
        return self.match_score >= self.threshold

    def record(self) -> dict[str, Any]:
        """For the queue, the database and programs."""
        return asdict(self)


_FILTER = TypeAdapter(FilterResult)
_MATCH = TypeAdapter(MatchResult)


def read_filter(record: Mapping[str, Any]) -> FilterResult:
    """The result that `record` wrote."""
    return _FILTER.validate_python(record)


def read_match(record: Mapping[str, Any]) -> MatchResult:
    """The result that `record` wrote."""
    return _MATCH.validate_python(record)
