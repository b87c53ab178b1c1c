"""What a company's website report tells a job seeker."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.reports.document import FACT_NAMES
from jobmill.reports.findings import FactName
from jobmill.reports.report import ReportContents
from jobmill.web import job_view
from jobmill.web.translations import say

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
MAX_CLAIMS_OF_A_KIND = 5


@dataclass(frozen=True, slots=True)
class ReportSummary:
    id: int
    read_at: dt.datetime
    facts: Sequence[tuple[str, str, str, str | None]]
    """Name, value, the sentence of the site, and its page."""
    answered: int
    asked: int
    unanswered: Sequence[str]
    answers: Sequence[tuple[str, str, str | None]]
    """Questions that the site answers: the question, the sentence and its page."""
    claims: Sequence[tuple[str, str, str, str | None]]
    """What assistants say: the verdict, the claim, the sentence of the site and its page."""


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
        [
            (item.question, item.answer.quote, job_view.web_url(item.answer.url))
            for item in findings.questions
            if item.answer
        ][:MAX_QUESTIONS],
        _list_claims(contents),
    )


def _list_claims(contents: ReportContents) -> Sequence[tuple[str, str, str, str | None]]:
    """The claims that the site decides, wrong ones first, those of most answers first."""
    verdicts = {
        "contradicted": say("The site says otherwise"),
        "outdated": say("Outdated"),
        "true": say("The site says so, too"),
    }
    counts = Counter(
        claim
        for stored in contents.answers
        if stored.analysis
        for claim in stored.analysis.claims
        if claim.verdict in verdicts and claim.evidence
    )
    ranks = list(verdicts)
    ordered = sorted(counts, key=lambda claim: (ranks.index(claim.verdict), -counts[claim]))
    by_verdict = {
        verdict: [claim for claim in ordered if claim.verdict == verdict][:MAX_CLAIMS_OF_A_KIND]
        for verdict in ranks
    }
    return [
        (
            verdicts[claim.verdict],
            claim.claim,
            claim.evidence.quote,
            job_view.web_url(claim.evidence.url),
        )
        for claims in by_verdict.values()
        for claim in claims
        if claim.evidence
    ]
