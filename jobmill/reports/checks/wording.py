"""Compare the words of a claim with the site's sentences: technology, benefits, products, anything."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from jobmill.matching.posting_facts import skills
from jobmill.reports.checks.parsed_claim import ParsedClaim, PartVerdict
from jobmill.reports.claim_words import content_stems, is_negative
from jobmill.reports.site_statements import SiteStatement

_MIN_COVERAGE: Final = 0.6
"""The share of a claim's words that one sentence of the site must contain."""
_USES: Final = re.compile(
    r"\b(?:uses?|using|built|builds?|written|stack|works? (?:with|in)|develops?|runs? on|codes?|kept in|done in|tools?"
    r"|manages?|programs?)\b",
    re.IGNORECASE,
)
_STAFF_PAYS: Final = re.compile(
    r"\b(?:themselves|yourself|own (?:cost|expense|pocket)|(?:have|has|need) to (?:pay|cover)|must (?:pay|cover)"
    r"|at their expense)\b",
    re.IGNORECASE,
)
_COMPANY_PAYS: Final = re.compile(
    r"\b(?:free|we (?:pay|cover|match)|paid|pays for|covered|included|at no cost|company pays)\b",
    re.IGNORECASE,
)
_OPPOSITES: Final = (
    (r"\bonly\b|\bexclusively\b", r"\bbilingual\b|\bboth\b|\btwo\b"),
    (r"\bboarding\b", r"\bday school\b"),
    (
        r"\brequired\b|\bmandatory\b|\bcompulsory\b",
        r"\boptional\b|\bvoluntary\b|\bnobody\b|\bnever\b",
    ),
    (r"\bfamily[- ](?:owned|run)\b|\bindependent\b", r"\bsubsidiary\b|\bpart of a group\b"),
    (r"\bpublicly (?:traded|listed)\b", r"\bprivately (?:held|owned)\b|\bfamily[- ]owned\b"),
)
"""Words that exclude each other in either direction."""
_OPPOSITE_PATTERNS: Final = tuple(
    (re.compile(first, re.IGNORECASE), re.compile(second, re.IGNORECASE))
    for first, second in _OPPOSITES
)


def check_tech(claim: ParsedClaim, statements: Sequence[SiteStatement]) -> PartVerdict | None:
    """The tools that a claim says are used."""
    if not _USES.search(claim.text):
        return None
    names = skills.skill_names(claim.text)
    about_tech = [statement for statement in statements if statement.fact == "tech"]
    if not names or not about_tech:
        return None
    verdicts = [_check_tool(name, claim, about_tech) for name in names]
    order = ("contradicted", "outdated", "unsupported", "true")
    return min(verdicts, key=lambda part: order.index(part.verdict))


def _check_tool(name: str, claim: ParsedClaim, statements: Sequence[SiteStatement]) -> PartVerdict:
    for statement in statements:
        if name in skills.skill_names(statement.former):
            verdict = "true" if claim.negative else "outdated"
            return PartVerdict(verdict, f"The site says that {name} is no longer used.", statement)
        if name in skills.skill_names(f"{statement.current}\n{statement.value}"):
            if claim.planned:
                return PartVerdict("outdated", f"By the site, {name} is in use already.", statement)
            verdict = "contradicted" if claim.negative else "true"
            return PartVerdict(verdict, f"The site names {name}.", statement)
    return PartVerdict("unsupported", f"The site does not name {name}.")


def check_wording(claim: ParsedClaim, statements: Sequence[SiteStatement]) -> PartVerdict:
    """The sentence of the site that contains most of the claim's words decides."""
    unsupported = PartVerdict("unsupported", "The site says nothing about it.")
    scored = [(_coverage(claim, statement), statement) for statement in statements]
    if not claim.stems or not scored:
        return unsupported
    coverage, statement = max(scored, key=lambda entry: entry[0])
    shared = claim.stems & content_stems(f"{statement.text} {statement.value}")
    if opposed := _opposed(claim, statements):
        return PartVerdict("contradicted", "The site states the opposite.", opposed)
    if coverage < _MIN_COVERAGE or not shared:
        return unsupported
    return _judge_shared(claim, statement, shared)


def _judge_shared(
    claim: ParsedClaim, statement: SiteStatement, shared: frozenset[str]
) -> PartVerdict:
    former = content_stems(statement.former)
    if former and len(shared & former) * 2 >= len(shared) and not claim.negative:
        return PartVerdict("outdated", "The site describes this as an earlier state.", statement)
    if claim.planned or (claim.news and _names_past_year(statement.text, claim.year)):
        return PartVerdict("outdated", "By the site, this has already happened.", statement)
    if all(claim.negative != is_negative(clause) for clause in _nearest_clauses(statement, shared)):
        return PartVerdict("contradicted", "The site states the opposite.", statement)
    return PartVerdict("true", "The site states it.", statement)


def _names_past_year(text: str, year: int) -> bool:
    return any(int(number) < year - 1 for number in re.findall(r"\b(?:19|20)\d\d\b", text))


def _nearest_clauses(statement: SiteStatement, shared: frozenset[str]) -> list[str]:
    """The clauses with most of the shared words."""
    clauses = statement.clauses or (statement.text,)
    counts = [len(shared & content_stems(clause)) for clause in clauses]
    return [clause for clause, count in zip(clauses, counts, strict=True) if count == max(counts)]


def _coverage(claim: ParsedClaim, statement: SiteStatement) -> float:
    words = content_stems(f"{statement.text} {statement.value}")
    return len(claim.stems & words) / (len(claim.stems) or 1)


def _opposed(claim: ParsedClaim, statements: Sequence[SiteStatement]) -> SiteStatement | None:
    """A sentence about the same thing with a word that excludes one of the claim's."""
    for statement in statements:
        shared = claim.stems & content_stems(f"{statement.text} {statement.value}")
        if shared and _exclude_each_other(claim.text, statement.current):
            return statement
    return None


def _exclude_each_other(claim: str, site: str) -> bool:
    if _STAFF_PAYS.search(claim) and _COMPANY_PAYS.search(site) and not is_negative(claim):
        return True
    return any(
        (first.search(claim) and second.search(site))
        or (second.search(claim) and first.search(site))
        for first, second in _OPPOSITE_PATTERNS
    )
