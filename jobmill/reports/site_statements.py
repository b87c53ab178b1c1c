"""The sentences of a site against which claims are judged, split into what is true and what was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from jobmill.plain_text import single_line
from jobmill.reports.findings import Evidence, FactName, SiteFindings

_MAX_STATEMENTS: Final = 200
_MAX_LENGTH: Final = 400
_MAX_CLAUSES: Final = 10
_CHANGE: Final = re.compile(
    r"\bfrom (?P<from>[^.;]{1,60}?) to\b"
    r"|\bno longer (?P<dropped>[^.;,]{1,60})"
    r"|\b(?:formerly|previously|used to(?: be)?|until (?:19|20)\d\d,?) (?P<before>[^.;,]{1,60})"
    r"|\breplac(?:ed|es|ing) (?P<replaced>[^.;]{1,60})"
    r"|\binstead of (?P<instead>[^.;,]{1,60})"
    r"|\b(?:retir|phas|clos)(?:ed|ing)(?: out)? (?P<retired>[^.;,]{1,60})",
    re.IGNORECASE,
)
_CHANGE_VERB: Final = re.compile(
    r"\b(?:moved?|moving|switch(?:ed|ing)?|migrat(?:ed|ing)|grow[ns]?|grew|chang(?:ed|ing)|went|rose|relocat\w+"
    r"|expanded|converted|transition\w*)\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"\s*(?:;|:|,\s(?=\w)|\u2014|\u2013| - |\bbut\b|\bwhile\b)\s*")


@dataclass(frozen=True, slots=True)
class SiteStatement:
    """A sentence of the site, with the fact that was read from it, if any."""

    fact: FactName | None
    value: str
    text: str
    """The sentence on one line."""
    former: str
    """Its words about an earlier state: "moved from Malmo to Gothenburg" has "Malmo"."""
    current: str
    """The sentence without those."""
    clauses: tuple[str, ...]
    evidence: Evidence


def site_statements(findings: SiteFindings) -> tuple[SiteStatement, ...]:
    """Every sentence of the findings that states something, each fact once."""
    statements: dict[tuple[str, str], SiteStatement] = {}
    for statement in _all_statements(findings):
        if len(statements) == _MAX_STATEMENTS:
            break
        statements.setdefault((statement.text, statement.value), statement)
    return tuple(statements.values())


def former_words(text: str) -> str:
    """The parts of a sentence that describe an earlier state, one on each line."""
    parts = list[str]()
    for match in _CHANGE.finditer(text):
        words = next(group for group in match.groups() if group)
        # "From Monday to Friday" is a span; only a verb of change makes it an earlier state.
        if match["from"] is None or _CHANGE_VERB.search(text[: match.start()]):
            parts.append(words)
    return "\n".join(parts)


def _all_statements(findings: SiteFindings) -> Iterator[SiteStatement]:
    for fact in findings.facts:
        yield _statement(fact.name, fact.value, fact.evidence)
    for question in findings.questions:
        if question.answer:
            yield _statement(None, "", question.answer)


def _statement(fact: FactName | None, value: str, evidence: Evidence) -> SiteStatement:
    text = _clean(evidence.quote)
    former = former_words(text)
    current = text
    for words in filter(None, former.split("\n")):
        current = current.replace(words, " ")
    clauses = tuple(
        clause for clause in _CLAUSE.split(current, maxsplit=_MAX_CLAUSES) if clause.strip()
    )
    return SiteStatement(fact, _clean(value), text, former, current, clauses, evidence)


def _clean(text: str) -> str:
    return single_line(text[:_MAX_LENGTH]) or ""
