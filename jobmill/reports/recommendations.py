"""What to change on the site. Provisional."""

from __future__ import annotations

from collections.abc import Sequence

from jobmill.reports.answers import AnswerAnalysis, Recommendation
from jobmill.reports.findings import SiteFindings


def recommend(
    findings: SiteFindings, analyses: Sequence[AnswerAnalysis]
) -> tuple[Recommendation, ...]:
    return ()
