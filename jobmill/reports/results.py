"""Everything that follows from the stored answers: analyses, scores and recommendations."""

from __future__ import annotations

from collections.abc import Sequence

from jobmill.reports.answer_analysis import analyze_answer
from jobmill.reports.answers import Prompt, StoredAnswer
from jobmill.reports.claim_review import ClaimReviewAnswer, apply_review
from jobmill.reports.findings import SiteFindings
from jobmill.reports.recommendations import recommend
from jobmill.reports.report import ReportContents, ReportResults
from jobmill.reports.scores import compute_scores
from jobmill.sandbox import read_untrusted

MAX_CPU_SECONDS = 60.0


def compute_results(
    findings: SiteFindings,
    prompts: Sequence[Prompt],
    answers: Sequence[StoredAnswer],
    review: ClaimReviewAnswer | None = None,
) -> ReportResults:
    """Pure: the same answers and the same review have the same results."""
    by_key = {prompt.key: prompt for prompt in prompts}
    analyses = tuple(
        analyze_answer(findings, by_key[answer.prompt_key], answer) for answer in answers
    )
    if review:
        analyses = apply_review(findings, analyses, review)
    return ReportResults(
        analyses, compute_scores(prompts, analyses), recommend(findings, analyses), review
    )


async def compute_in_sandbox(
    findings: SiteFindings,
    prompts: Sequence[Prompt],
    answers: Sequence[StoredAnswer],
    review: ClaimReviewAnswer | None = None,
) -> ReportResults:
    """The results; the answers are read in a child process, because models wrote them."""
    cpu_seconds = min(5 + 0.2 * len(answers), MAX_CPU_SECONDS)
    return await read_untrusted(
        compute_results, findings, tuple(prompts), tuple(answers), review, cpu_seconds=cpu_seconds
    )


async def recompute(contents: ReportContents) -> ReportResults | None:
    """The results by the stored answers; None before the website analysis."""
    if contents.findings is None:
        return None
    prompts = [stored.prompt for stored in contents.prompts]
    answers = [stored.answer for stored in contents.answers if stored.failure is None]
    return await compute_in_sandbox(contents.findings, prompts, answers, contents.review)
