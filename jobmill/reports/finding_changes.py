"""What changed on a site between two reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

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


def compare_findings(before: SiteFindings, after: SiteFindings) -> tuple[FindingChange, ...]:
    """What changed on a site: facts, access of search bots, unreadable pages, answered questions."""
    return (
        *_fact_changes(before, after),
        *_changes("access", _blocked(before), _blocked(after)),
        *_changes("page", _problems(before), _problems(after)),
        *_changes("question", _answered(before), _answered(after)),
        *_changes("contradiction", _contradictions(before), _contradictions(after)),
    )


def _fact_changes(before: SiteFindings, after: SiteFindings) -> list[FindingChange]:
    old, new = _facts(before), _facts(after)
    changes: list[FindingChange] = []
    for name in dict.fromkeys((*old, *new)):
        older, newer = old.get(name, {}), new.get(name, {})
        removed = [entry for key, entry in older.items() if key not in newer]
        added = [entry for key, entry in newer.items() if key not in older]
        if name in _SINGLE_VALUES and removed and added:
            (value, _), (new_value, url) = removed.pop(0), added.pop(0)
            changes.append(FindingChange(f"fact: {name}", "changed", value, new_value, url))
        changes += [
            FindingChange(f"fact: {name}", "removed", value, "", url) for value, url in removed
        ]
        changes += [FindingChange(f"fact: {name}", "added", "", value, url) for value, url in added]
    return changes


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


def _facts(findings: SiteFindings) -> dict[FactName, dict[str, tuple[str, str]]]:
    """By name and folded value: the value and its page."""
    facts: dict[FactName, dict[str, tuple[str, str]]] = {}
    for fact in findings.facts:
        key = " ".join(fact.value.casefold().split())
        facts.setdefault(fact.name, {}).setdefault(key, (fact.value, fact.evidence.url))
    return facts


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
        f"{contradiction.field} of {contradiction.listing_url}": (
            f"{contradiction.on_site} / {contradiction.on_board}",
            contradiction.listing_url,
        )
        for contradiction in findings.structured_data.contradictions
    }
