"""Compare two reports of one site over time, and two companies with each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from jobmill.reports.answers import Score
from jobmill.reports.findings import BotAccess, FactName, SiteFindings

ChangeKind: TypeAlias = Literal["added", "removed", "changed"]
_SINGLE_VALUES: Final[tuple[FactName, ...]] = (
    "name",
    "description",
    "industry",
    "size",
    "founded",
    "remote_policy",
)
"""Facts of which a site has one value; a new value replaces the old one."""


@dataclass(frozen=True, slots=True)
class FindingChange:
    """Something that one report has and the other has not."""

    subject: str
    """Such as "fact: size", "access: OAI-SearchBot", "question: pay", "page: /careers"."""
    kind: ChangeKind
    before: str
    after: str
    url: str


@dataclass(frozen=True, slots=True)
class ScoreChange:
    name: str
    before: float | None
    after: float | None
    is_clear: bool
    """Whether the intervals do not overlap; otherwise the change can be chance."""


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One figure of two companies; None where it is unknown."""

    label: str
    first: float | None
    second: float | None
    unit: Literal["percent", "count", "score"]


def compare_findings(before: SiteFindings, after: SiteFindings) -> tuple[FindingChange, ...]:
    """What changed on a site: facts, access of search bots, unreadable pages, answered questions."""
    return (
        *_fact_changes(before, after),
        *_changes("access", _blocked(before), _blocked(after)),
        *_changes("page", _problems(before), _problems(after)),
        *_changes("question", _answered(before), _answered(after)),
        *_changes("contradiction", _contradictions(before), _contradictions(after)),
    )


def compare_scores(before: Iterable[Score], after: Iterable[Score]) -> tuple[ScoreChange, ...]:
    earlier = {score.name: score for score in before}
    return tuple(
        ScoreChange(score.name, old.value if old else None, score.value, _is_clear(old, score))
        for score in after
        for old in (earlier.get(score.name),)
    )


def compare_companies(
    first: SiteFindings,
    second: SiteFindings,
    first_scores: Sequence[Score] = (),
    second_scores: Sequence[Score] = (),
) -> tuple[ComparisonRow, ...]:
    """The figures of two companies side by side. Scores are compared only where both have them."""
    figures, others = _figures(first), _figures(second)
    rows = [
        ComparisonRow(label, value, others[label][0], unit)
        for label, (value, unit) in figures.items()
    ]
    values = {score.name: score.value for score in second_scores}
    rows += [
        ComparisonRow(score.name, score.value, values[score.name], "score")
        for score in first_scores
        if score.name in values
    ]
    return tuple(rows)


def _fact_changes(before: SiteFindings, after: SiteFindings) -> list[FindingChange]:
    old, new = _facts(before), _facts(after)
    changes: list[FindingChange] = []
    for name in _SINGLE_VALUES:
        values = [(key, value) for key, value in old.items() if key[0] == name]
        newer = [(key, value) for key, value in new.items() if key[0] == name]
        if len(values) == len(newer) == 1 and values[0][0] != newer[0][0]:
            (old_key, _), (new_key, (value, url)) = values[0], newer[0]
            changes.append(
                FindingChange(f"fact: {name}", "changed", old.pop(old_key)[0], value, url)
            )
            del new[new_key]
    named = [
        {(f"{name}: {key}"): entry for (name, key), entry in each.items()} for each in (old, new)
    ]
    return changes + [
        FindingChange(
            f"fact: {change.subject.split(': ')[1]}",
            change.kind,
            change.before,
            change.after,
            change.url,
        )
        for change in _changes("fact", *named)
    ]


def _changes(
    subject: str, before: dict[str, tuple[str, str]], after: dict[str, tuple[str, str]]
) -> list[FindingChange]:
    """Differences of two tables from a name to its value and page."""
    changes: list[FindingChange] = []
    for name in (*before, *(name for name in after if name not in before)):
        old, new = before.get(name), after.get(name)
        label = f"{subject}: {name}"
        if old and new and old[0] != new[0]:
            changes.append(FindingChange(label, "changed", old[0], new[0], new[1]))
        elif old and not new:
            changes.append(FindingChange(label, "removed", old[0], "", old[1]))
        elif new and not old:
            changes.append(FindingChange(label, "added", "", new[0], new[1]))
    return changes


def _facts(findings: SiteFindings) -> dict[tuple[str, str], tuple[str, str]]:
    return {
        (fact.name, " ".join(fact.value.casefold().split())): (fact.value, fact.evidence.url)
        for fact in findings.facts
    }


def _blocked(findings: SiteFindings) -> dict[str, tuple[str, str]]:
    """Search bots that may not read a page, with the number of such pages."""
    pages: dict[str, list[BotAccess]] = {}
    for access in findings.access:
        if access.purpose == "search" and not access.allowed:
            pages.setdefault(access.bot, []).append(access)
    return {
        bot: (f"{len(blocked)} pages blocked", blocked[0].url) for bot, blocked in pages.items()
    }


def _problems(findings: SiteFindings) -> dict[str, tuple[str, str]]:
    return {page.url: (page.problem, page.url) for page in findings.readability if page.problem}


def _answered(findings: SiteFindings) -> dict[str, tuple[str, str]]:
    return {
        question.question_id: (question.answer.quote, question.answer.url)
        for question in findings.questions
        if question.answer
    }


def _contradictions(findings: SiteFindings) -> dict[str, tuple[str, str]]:
    return {
        f"{each.field} of {each.listing_url}": (
            f"{each.on_site} / {each.on_board}",
            each.listing_url,
        )
        for each in findings.structured_data.contradictions
    }


def _is_clear(before: Score | None, after: Score) -> bool:
    if before is None or before.low is None or before.high is None:
        return False
    if after.low is None or after.high is None:
        return False
    return after.low > before.high or after.high < before.low


def _figures(
    findings: SiteFindings,
) -> dict[str, tuple[float | None, Literal["percent", "count"]]]:
    search = [access.allowed for access in findings.access if access.purpose == "search"]
    readable = [page.problem is None for page in findings.readability]
    answered = [question.answer is not None for question in findings.questions]
    postings = findings.postings
    counts = {
        "postings with pay": postings.with_pay,
        "postings with place": postings.with_place,
        "postings with arrangement": postings.with_arrangement,
        "postings with closing date": postings.with_closing_date,
        "postings with structured data": findings.structured_data.postings_with_data,
    }
    return {
        "questions answered": (_percent(sum(answered), len(answered)), "percent"),
        "pages open to search bots": (_percent(sum(search), len(search)), "percent"),
        "pages readable without JavaScript": (_percent(sum(readable), len(readable)), "percent"),
        "facts stated": (float(len({fact.name for fact in findings.facts})), "count"),
        "open postings": (float(postings.postings), "count"),
        **{
            label: (_percent(count, postings.postings), "percent")
            for label, count in counts.items()
        },
    }


def _percent(count: int, total: int) -> float | None:
    return round(100 * count / total, 1) if total else None
