"""Read the labelled claims in `report_claims/`; its README.md describes the format."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from jobmill.reports.findings import Evidence, Fact, FactName, QuestionAnswer, SiteFindings

FOLDER = Path(__file__).parent / "report_claims"
READ_AT = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
LABELS = ("true", "outdated", "contradicted", "unsupported", "none")


@dataclass(frozen=True)
class LabelledClaim:
    label: str
    level: str
    text: str


@dataclass(frozen=True)
class LabelledSite:
    findings: SiteFindings
    claims: tuple[LabelledClaim, ...]


def read_half(half: str) -> list[LabelledSite]:
    """The sites of "tuning" or "unseen"."""
    return [_read_site(file.read_text()) for file in sorted((FOLDER / half).glob("*.txt"))]


def _read_site(text: str) -> LabelledSite:
    company = site = ""
    facts: list[Fact] = []
    questions: list[QuestionAnswer] = []
    claims: list[LabelledClaim] = []
    for line in filter(None, text.splitlines()):
        kind, *columns = (column.strip() for column in line.split(" | "))
        word, *rest = kind.split()
        if word == "company":
            company, site = columns
        elif word == "fact":
            value, quote = columns
            facts.append(Fact(cast(FactName, rest[0]), value, Evidence(quote, site + rest[1])))
        elif word == "answer":
            evidence = Evidence(columns[1], site + rest[0])
            questions.append(QuestionAnswer(columns[0], "evaluation", columns[0], evidence))
        else:
            claims.append(LabelledClaim(word, rest[0], columns[0]))
    findings = SiteFindings(site, company, READ_AT, facts=tuple(facts), questions=tuple(questions))
    return LabelledSite(findings, tuple(claims))
