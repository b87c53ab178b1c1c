"""A website report: its options, its status and how its results are stored as JSON."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, NewType, TypeAlias, cast

from pydantic import TypeAdapter

from jobmill.reports.answers import AnswerAnalysis, Prompt, Recommendation, Score, StoredAnswer
from jobmill.reports.claim_review import ClaimReviewAnswer
from jobmill.reports.findings import SiteFindings

ReportId = NewType("ReportId", int)
ReportStatus: TypeAlias = Literal[
    "not-started", "prompt-forming", "model-analysis", "completed", "failed"
]
ReportPhase: TypeAlias = Literal["website-analysis", "prompt-forming", "model-analysis"]

STATUS_OF_PHASE: dict[ReportPhase, ReportStatus] = {
    "website-analysis": "not-started",
    "prompt-forming": "prompt-forming",
    "model-analysis": "model-analysis",
}
"""The status in which a report waits for a phase, or is in it."""

LIMITS = (
    (
        "Answers of an API are not what the apps of the same vendors show: those search the web, know "
        "the person who asks and use other instructions."
    ),
    "How often candidates ask these questions is unknown.",
    "A first report has no baseline: compare it with a later one.",
)
"""What every report states about itself."""


@dataclass(frozen=True, slots=True)
class ReportOptions:
    models: tuple[str, ...] = ()
    """provider:model; empty: those of the settings."""
    runs: int = 5
    prompt_count: int = 7
    review: bool = False
    """Whether a person approves the prompts before they run."""
    site_only: bool = False
    """Whether the report ends after the website analysis, as for competitors."""
    budget: Decimal | None = None
    """US dollars for its answers; None: the setting budget_run."""
    repeat_every: dt.timedelta | None = None


@dataclass(frozen=True, slots=True)
class Report:
    id: ReportId
    site: str
    company_id: int | None
    company: str
    status: ReportStatus
    in_progress: bool
    in_progress_since: dt.datetime | None
    item_id: int | None
    failed_status: ReportStatus | None
    reason: str | None
    note: str | None
    models: list[str]
    runs: int
    prompt_count: int
    review: bool
    approved_at: dt.datetime | None
    site_only: bool
    budget: Decimal | None
    repeat_every: dt.timedelta | None
    repeat_at: dt.datetime | None
    previous_id: int | None
    competitor_of: int | None
    """The report that it is compared with."""
    round: int
    results_round: int | None
    """The round of the stored results, which a rerun keeps until it has completed."""
    limits: list[str]
    created_by: str | None
    created_at: dt.datetime
    changed_at: dt.datetime
    completed_at: dt.datetime | None

    @property
    def awaits_approval(self) -> bool:
        return self.status == "model-analysis" and self.review and self.approved_at is None

    @property
    def shown_round(self) -> int:
        return self.results_round or self.round

    @property
    def ledger_run(self) -> str:
        """The name under which the ledger counts the calls of this report."""
        return f"report {self.id} round {self.round}"


@dataclass(frozen=True, slots=True)
class ReportPrompt:
    """A stored prompt, and whether it was edited or asked."""

    prompt: Prompt
    edited_by: str | None
    answers: int


@dataclass(frozen=True, slots=True)
class ReportAnswer:
    answer: StoredAnswer
    failure: str | None
    """Why there is no text."""
    cost: Decimal | None
    asked_at: dt.datetime
    analysis: AnswerAnalysis | None


@dataclass(frozen=True, slots=True)
class ReportResults:
    """What the stored answers and the stored review lead to; computed from them alone."""

    analyses: tuple[AnswerAnalysis, ...]
    scores: tuple[Score, ...]
    recommendations: tuple[Recommendation, ...]
    review: ClaimReviewAnswer | None = None


@dataclass(frozen=True, slots=True)
class ReportContents:
    """Everything that a report holds."""

    report: Report
    findings: SiteFindings | None
    prompts: tuple[ReportPrompt, ...]
    answers: tuple[ReportAnswer, ...]
    scores: tuple[Score, ...]
    recommendations: tuple[Recommendation, ...]
    review: ClaimReviewAnswer | None = None
    next_prompts: tuple[ReportPrompt, ...] = ()
    """The prompts of a rerun that has not completed, while the results are those of the round before."""


FINDINGS = TypeAdapter(SiteFindings)
SCORES = TypeAdapter(tuple[Score, ...])
RECOMMENDATIONS = TypeAdapter(tuple[Recommendation, ...])
ANALYSIS = TypeAdapter(AnswerAnalysis)
REVIEW: TypeAdapter[ClaimReviewAnswer | None] = TypeAdapter(ClaimReviewAnswer | None)


def to_json(adapter: TypeAdapter[Any], value: object) -> Any:
    """A value for a jsonb column, without the characters that PostgreSQL cannot store."""
    return _without_unstorable(adapter.dump_python(value, mode="json"))


def storable(text: str) -> str:
    """Text without zero characters and lone surrogates."""
    return text.replace("\0", "").encode(errors="replace").decode()


def _without_unstorable(value: object) -> object:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_without_unstorable(part) for part in cast("list[object]", value)]
    if isinstance(value, dict):
        parts = cast("dict[str, object]", value)
        return {name: _without_unstorable(part) for name, part in parts.items()}
    return value
