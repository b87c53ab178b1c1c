"""The questions of candidates. Provisional."""

from __future__ import annotations

from jobmill.reports.answers import Prompt
from jobmill.reports.findings import SiteFindings


def form_prompts(findings: SiteFindings, count: int = 7) -> tuple[Prompt, ...]:
    return tuple(
        Prompt(f"p{n}", f"Question {n}: is {findings.company} a good place to work?", "discovery",
               "engineers", True)
        for n in range(1, count + 1)
    )  # fmt: skip
