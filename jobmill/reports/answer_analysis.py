"""What an answer says about the company. Provisional."""

from __future__ import annotations

from jobmill.reports.answers import AnswerAnalysis, Prompt, StoredAnswer
from jobmill.reports.findings import SiteFindings


def analyze_answer(findings: SiteFindings, prompt: Prompt, answer: StoredAnswer) -> AnswerAnalysis:
    named = findings.company.lower() in answer.text.lower()
    return AnswerAnalysis(
        answer.prompt_key,
        answer.model,
        answer.run,
        named,
        1 if named else None,
        (),
        "neutral",
        (),
        (),
    )
