"""What a company's website report tells a job seeker."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.reports.document import FACT_NAMES
from jobmill.reports.findings import FactName
from jobmill.reports.report import ReportContents
from jobmill.web import job_view

SHOWN_FACTS: tuple[FactName, ...] = (
    "description",
    "benefits",
    "remote_policy",
    "hiring_process",
    "values",
    "size",
    "places",
    "tech",
)
MAX_FACTS_OF_A_KIND = 3
MAX_QUESTIONS = 20


@dataclass(frozen=True, slots=True)
class ReportSummary:
    id: int
    read_at: dt.datetime
    facts: Sequence[tuple[str, str, str, str | None]]
    """Name, value, the sentence of the site, and its page."""
    answered: int
    asked: int
    unanswered: Sequence[str]


def summarize_report(contents: ReportContents) -> ReportSummary | None:
    findings = contents.findings
    if findings is None:
        return None
    facts = [
        (FACT_NAMES[name], fact.value, fact.evidence.quote, job_view.web_url(fact.evidence.url))
        for name in SHOWN_FACTS
        for fact in [fact for fact in findings.facts if fact.name == name][:MAX_FACTS_OF_A_KIND]
    ]
    unanswered = [item.question for item in findings.questions if item.answer is None]
    return ReportSummary(
        contents.report.id,
        findings.read_at,
        facts,
        len(findings.questions) - len(unanswered),
        len(findings.questions),
        unanswered[:MAX_QUESTIONS],
    )
