"""What the second and third phase of a website report produce: prompts, answers and judged claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from jobmill.reports.findings import Evidence, FactName, QuestionStage

ClaimVerdict: TypeAlias = Literal["true", "outdated", "contradicted", "unsupported", "absent"]
"""`absent`: something the site says that no answer mentions."""
Tone: TypeAlias = Literal["positive", "neutral", "negative"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question that a candidate would ask an assistant."""

    key: str
    """Stable within a report."""
    text: str
    stage: QuestionStage
    audience: str
    names_company: bool


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer of a model to a prompt."""

    prompt_key: str
    model: str
    run: int
    text: str


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    claim: str
    """The sentence of the answer."""
    verdict: ClaimVerdict
    evidence: Evidence | None
    """The site's sentence that decides it."""
    reason: str
    fact: FactName | None = None
    """The fact of the site that decides it; None for an answered question or if nothing decides it."""


@dataclass(frozen=True, slots=True)
class AnswerAnalysis:
    prompt_key: str
    model: str
    run: int
    named: bool
    position: int | None
    """1 for the first company that the answer names."""
    beside: tuple[str, ...]
    tone: Tone
    cited_domains: tuple[str, ...]
    claims: tuple[JudgedClaim, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """A score from 0 to 100 with the interval that repeated answers span, and its arithmetic."""

    name: Literal["visibility", "placement", "accuracy"]
    value: float | None
    """None if no answer allows it."""
    low: float | None
    high: float | None
    arithmetic: str


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What to change on the site; larger effects first."""

    page: str
    problem: str
    proposed_text: str
    effect: float
    """Roughly how many points of the report it concerns; only the order has a meaning."""
    finding: str = ""
    """The finding it rests on, such as "question:pay" or "access:OAI-SearchBot"."""
    evidence: Evidence | None = None
    """The sentence of the site, where there is one."""
