"""Compares two reports: one with the previous report of its site, or with that of a competitor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from jobmill.reports.answers import Score
from jobmill.reports.document import FACT_NAMES, NOTHING, SCORE_NAMES, Cell, Section, Table
from jobmill.reports.findings import SiteFindings
from jobmill.reports.report import ReportContents


@dataclass(frozen=True, slots=True)
class ComparedNumber:
    name: str
    first: float | None
    second: float | None
    overlaps: bool | None = None
    """Whether the intervals of the two overlap, so that the difference may be chance; None without
    intervals."""

    @property
    def change(self) -> float | None:
        if self.first is None or self.second is None:
            return None
        return self.second - self.first


@dataclass(frozen=True, slots=True)
class ReportComparison:
    first_id: int
    second_id: int
    same_site: bool
    numbers: tuple[ComparedNumber, ...]
    only_first: tuple[str, ...]
    """Facts and answered questions that only the first report has."""
    only_second: tuple[str, ...]


def compare(first: ReportContents, second: ReportContents) -> ReportComparison:
    numbers = [*_compare_scores(first, second), *_compare_findings(first, second)]
    statements = [_statements(contents.findings) for contents in (first, second)]
    return ReportComparison(
        first.report.id,
        second.report.id,
        first.report.site == second.report.site,
        tuple(number for number in numbers if (number.first, number.second) != (None, None)),
        tuple(text for text in statements[0] if text not in statements[1]),
        tuple(text for text in statements[1] if text not in statements[0]),
    )


def _compare_scores(first: ReportContents, second: ReportContents) -> Iterable[ComparedNumber]:
    befores = {score.name: score for score in first.scores}
    afters = {score.name: score for score in second.scores}
    for key in dict.fromkeys([*befores, *afters]):
        before, after = befores.get(key), afters.get(key)
        yield ComparedNumber(
            SCORE_NAMES[key],
            before.value if before else None,
            after.value if after else None,
            _overlap(before, after) if before and after else None,
        )


def _overlap(first: Score, second: Score) -> bool | None:
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return None
    return first.low <= second.high and second.low <= first.high


def _compare_findings(first: ReportContents, second: ReportContents) -> Iterable[ComparedNumber]:
    before, after = _count(first), _count(second)
    for name in before | after:
        yield ComparedNumber(name, before.get(name), after.get(name))


def _count(contents: ReportContents) -> dict[str, float]:
    findings = contents.findings
    if findings is None:
        return {}
    access = [page.allowed for page in findings.access if page.purpose == "search"]
    shares = findings.postings
    counts: dict[str, float] = {
        "Questions that the site answers": sum(
            item.answer is not None for item in findings.questions
        ),
        "Stated facts": len(findings.facts),
        "Contradictions with the job board": len(findings.structured_data.contradictions),
    }
    if access:
        counts["Percent of pages that search bots may read"] = 100 * sum(access) / len(access)
    if shares.postings:
        counts["Percent of postings with pay"] = 100 * shares.with_pay / shares.postings
        counts["Percent of postings with a place"] = 100 * shares.with_place / shares.postings
    verdicts = Counter(
        claim.verdict
        for stored in contents.answers
        if stored.analysis
        for claim in stored.analysis.claims
    )
    return counts | {f"Claims that are {name}": float(n) for name, n in sorted(verdicts.items())}


def _statements(findings: SiteFindings | None) -> list[str]:
    if findings is None:
        return []
    facts = [f"{FACT_NAMES[fact.name]}: {fact.value}" for fact in findings.facts]
    answered = [item.question for item in findings.questions if item.answer]
    return [*facts, *(f"Answers: {question}" for question in answered)]


def build_comparison(comparison: ReportComparison) -> tuple[Section, ...]:
    """The comparison as sections for pages and exports."""
    ids = (comparison.first_id, comparison.second_id)
    first, second = (f"Report {id}" for id in ids)
    rows = tuple(
        tuple(map(Cell, (number.name, _show(number.first), _show(number.second), _verdict(number))))
        for number in comparison.numbers
    )
    numbers = (Table(("Number", first, second, "Change"), rows),) if rows else ()
    return (
        Section("numbers", "Numbers", tables=numbers),
        Section("only-first", f"Only in report {ids[0]}", comparison.only_first[:100]),
        Section("only-second", f"Only in report {ids[1]}", comparison.only_second[:100]),
    )


def _show(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.0f}"


def _verdict(number: ComparedNumber) -> str:
    if number.change is None:
        return NOTHING
    chance = " (may be chance: the intervals overlap)" if number.overlaps and number.change else ""
    return f"{number.change:+.0f}{chance}"
