"""The scores of a report. Provisional."""

from __future__ import annotations

from collections.abc import Sequence

from jobmill.reports.answers import AnswerAnalysis, Prompt, Score


def compute_scores(
    prompts: Sequence[Prompt], analyses: Sequence[AnswerAnalysis]
) -> tuple[Score, ...]:
    if not analyses:
        return (Score("visibility", None, None, None, "no answers"),)
    named = sum(analysis.named for analysis in analyses)
    value = 100 * named / len(analyses)
    return (Score("visibility", value, value, value, f"100 * {named} / {len(analyses)}"),)
