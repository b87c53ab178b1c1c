"""Compares two reports: one with the previous report of its site, or with that of a competitor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from jobmill.reports.answers import Score
from jobmill.reports.document import NOTHING, SCORE_NAMES, Cell, Section, build_table
from jobmill.reports.finding_changes import FindingChange, compare_findings
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
    changes: tuple[FindingChange, ...]
    """What changed on the site; empty for different sites."""
    only_first: tuple[str, ...]
    """Questions that only the first site answers; empty for the same site."""
    only_second: tuple[str, ...]


def compare(first: ReportContents, second: ReportContents) -> ReportComparison:
    numbers = [*_compare_scores(first, second), *_compare_findings(first, second)]
    same_site = first.report.site == second.report.site
    changes: tuple[FindingChange, ...] = ()
    answered: list[list[str]] = [[], []]
    if same_site and first.findings and second.findings:
        changes = compare_findings(first.findings, second.findings)
    elif not same_site:
        answered = [_answered_questions(contents.findings) for contents in (first, second)]
    return ReportComparison(
        first.report.id,
        second.report.id,
        same_site,
        tuple(number for number in numbers if (number.first, number.second) != (None, None)),
        changes,
        tuple(text for text in answered[0] if text not in answered[1]),
        tuple(text for text in answered[1] if text not in answered[0]),
    )


def _compare_scores(first: ReportContents, second: ReportContents) -> Iterable[ComparedNumber]:
    scores_before = {score.name: score for score in first.scores}
    scores_after = {score.name: score for score in second.scores}
    for key in dict.fromkeys([*scores_before, *scores_after]):
        before, after = scores_before.get(key), scores_after.get(key)
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


def _answered_questions(findings: SiteFindings | None) -> list[str]:
    return [item.question for item in findings.questions if item.answer] if findings else []


def build_comparison(comparison: ReportComparison) -> tuple[Section, ...]:
    """The comparison as sections for pages and exports."""
    ids = (comparison.first_id, comparison.second_id)
    first, second = (f"Report {id}" for id in ids)
    rows = [
        (number.name, _show(number.first), _show(number.second), _verdict(number))
        for number in comparison.numbers
    ]
    changes = [
        (Cell(change.subject, change.url), change.kind, change.before, change.after)
        for change in comparison.changes
    ]
    sections = (
        Section(
            "numbers", "Numbers", tables=build_table(("Number", first, second, "Change"), rows)
        ),
        Section(
            "changes",
            "Changes of the site",
            tables=build_table(("What", "Change", "Before", "After"), changes),
        ),
        Section("only-first", f"Answered only in report {ids[0]}", comparison.only_first[:100]),
        Section("only-second", f"Answered only in report {ids[1]}", comparison.only_second[:100]),
    )
    return tuple(section for section in sections if section.has_content)


def _show(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.0f}"


def _verdict(number: ComparedNumber) -> str:
    if number.change is None:
        return NOTHING
    chance = " (may be chance: the intervals overlap)" if number.overlaps and number.change else ""
    return f"{number.change:+.0f}{chance}"
