"""Texts that a site could add: the sentence for a fact, and the outline of an answer."""

from __future__ import annotations

import re
from typing import Final

from jobmill.plain_text import single_line
from jobmill.reports.findings import Evidence, FactName, SiteFindings

_FACT_SENTENCES: Final[dict[FactName, str]] = {
    "size": "{company} has {value} ({year}).",
    "founded": "{company} was founded in {value}.",
    "remote_policy": "Where we work at {company} ({year}): {value}.",
    "benefits": "{company} offers: {value} ({year}).",
    "tech": "{company} works with {value} ({year}).",
    "hiring_process": "How {company} hires ({year}): {value}.",
    "industry": "{company} works in this field: {value}.",
}
_ANSWERS: Final = (
    (r"pay|salary|earn|wage|compensation", "We pay [amount] to [amount] a [year or hour] for [role], plus [bonus]."),
    (r"remote|home|hybrid|on.?site", "You work [on site / from home] [number] days a week; [exceptions]."),
    (r"interview|process|apply|application", "You have [number] conversations in [number] weeks: [steps]."),
    (r"benefit|insurance|pension|holiday|vacation|leave", "Everyone gets [number] days of leave, [benefit] and [benefit]."),
    (r"visa|sponsor|relocat", "We [do / do not] sponsor visas and pay [amount] towards a move."),
    (r"hour|shift|overtime|part.?time", "The working week has [number] hours; shifts start at [time]."),
    (r"train|learn|career|grow|promot", "You get [training] in the first [period], and [number] days of training a year."),
    (r"where|office|location", "We work in [places]; this job is in [place]."),
    (r"team|manager|report", "You work in a team of [number] and report to [role]."),
    (r"tool|tech|stack|equipment", "We work with [tools]."),
)  # fmt: skip
_ANSWER_PATTERNS: Final = tuple(
    (re.compile(rf"\b(?:{words})", re.IGNORECASE), text) for words, text in _ANSWERS
)


def propose_answer(question: str) -> str:
    """A question with the outline of its answer; the site's owner fills in the brackets."""
    outline = next(
        (text for pattern, text in _ANSWER_PATTERNS if pattern.search(question)),
        "[The answer in one sentence with a number, a place or a name.]",
    )
    return f"{single_line(question) or ''}\n{outline}"


def propose_fact(findings: SiteFindings, evidence: Evidence, name: FactName | None) -> str:
    """A sentence that states a fact on its own: with the company's name, and a year where it changes."""
    values = [
        fact.value for fact in findings.facts if fact.name == name and fact.evidence == evidence
    ]
    if name not in _FACT_SENTENCES or not values:
        return f"{findings.company} ({findings.read_at.year}): {evidence.quote}"
    return _FACT_SENTENCES[name].format(
        company=findings.company, value=", ".join(values), year=findings.read_at.year
    )
