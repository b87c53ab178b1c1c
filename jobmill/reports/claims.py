"""Judge what an answer claims about the company against what its site states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from jobmill.matching.llm_review.prompt_injection import find_injection
from jobmill.reports.answers import AnswerAnalysis, JudgedClaim
from jobmill.reports.checks.arrangement import check_arrangement
from jobmill.reports.checks.locations import check_places
from jobmill.reports.checks.numbers import check_amounts, check_founded, check_size
from jobmill.reports.checks.parsed_claim import ParsedClaim, PartVerdict, parse_claim
from jobmill.reports.checks.wording import check_tech, check_wording
from jobmill.reports.company_mentions import CompanyNames, company_names, subject_of
from jobmill.reports.findings import Fact, FactName, SiteFindings
from jobmill.reports.site_statements import SiteStatement, site_statements

_MAX_CLAIM_LENGTH: Final = 600
_WORST_FIRST: Final = ("contradicted", "outdated", "unsupported", "true")
IMPORTANT_FACTS: Final[tuple[FactName, ...]] = (
    "description", "products", "size", "places", "remote_policy", "benefits", "hiring_process", "tech", "founded",
)  # fmt: skip
"""What candidates ask for first; the site's name and slogans are left out."""
_NO_CLAIM: Final = re.compile(
    r"\?\s*$|:\s*$|\b(?:I|I'm|I\u2019m) (?:\w+ )?(?:don't|do not|don\u2019t|could|couldn't|cannot|can't|have|was|am|would"
    r"|recommend|suggest|hope|think|found|didn't|do)\b|\bas an ai\b|\bmy (?:knowledge|training)\b"
    r"|^(?:would you|let me|here (?:is|are)|here's|you (?:should|might want|may want)|check|visit|please|feel free"
    r"|if you|to learn more|for (?:more|the latest|current)|note that|keep in mind|sources?|references?)\b"
    r"|^(?:competitors|alternatives|similar (?:companies|employers))\b|\b(?:not able|unable) to (?:verify|confirm|find)\b"
    r"|\bno (?:reliable |specific |public )?information\b|\b(?:is|are) not (?:publicly )?(?:known|available|disclosed)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ClaimContext:
    """What all claims of a report are judged against."""

    names: CompanyNames
    statements: tuple[SiteStatement, ...]
    year: int


@lru_cache(maxsize=4)
def claim_context(findings: SiteFindings) -> ClaimContext:
    return ClaimContext(company_names(findings), site_statements(findings), findings.read_at.year)


def judge_claim(context: ClaimContext, sentence: str) -> JudgedClaim | None:
    """The verdict on a sentence; None if it claims nothing about this company."""
    text = sentence[:_MAX_CLAIM_LENGTH].strip()
    if not is_claim(text) or subject_of(text, context.names):
        return None
    claim = parse_claim(text, context.year, context.names.words)
    if not claim.stems and not claim.quantities:
        return None
    part = worst_part(_check_all(claim, context.statements))
    statement = part.statement
    return JudgedClaim(
        claim=text,
        verdict=part.verdict,
        evidence=statement.evidence if statement else None,
        reason=part.reason,
        fact=statement.fact if statement else None,
    )


def is_claim(text: str) -> bool:
    """False for questions, advice, statements that nothing is known, and instructions to models."""
    return len(text) > 3 and not _NO_CLAIM.search(text) and not find_injection(text)


def worst_part(parts: Sequence[PartVerdict]) -> PartVerdict:
    return min(parts, key=lambda part: _WORST_FIRST.index(part.verdict))


def find_absent(
    findings: SiteFindings, analyses: Iterable[AnswerAnalysis]
) -> tuple[JudgedClaim, ...]:
    """The important facts of the site that no answer mentions."""
    mentioned = {
        claim.evidence
        for analysis in analyses
        for claim in analysis.claims
        if claim.evidence and claim.verdict != "unsupported"
    }
    absent: dict[tuple[FactName, str], Fact] = {}
    for fact in findings.facts:
        if fact.name in IMPORTANT_FACTS and fact.evidence not in mentioned:
            absent.setdefault((fact.name, fact.evidence.quote), fact)
    facts = sorted(absent.values(), key=lambda fact: IMPORTANT_FACTS.index(fact.name))
    return tuple(
        JudgedClaim(fact.value, "absent", fact.evidence, "No answer mentions it.", fact.name)
        for fact in facts
    )


def _check_all(claim: ParsedClaim, statements: Sequence[SiteStatement]) -> list[PartVerdict]:
    """The verdicts of all checks that recognise something. Words decide only where no check does."""
    arrangement = check_arrangement(claim, statements)
    checks = [
        arrangement,
        check_size(claim, statements),
        check_founded(claim, statements),
        check_places(claim, statements),
        check_tech(claim, statements),
        *([] if arrangement else check_amounts(claim, statements)),
    ]
    parts = [part for part in checks if part]
    return parts or [check_wording(claim, statements)]
