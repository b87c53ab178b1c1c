"""Read an answer of an assistant: whether and where it names the company, beside which companies, in
which tone, which domains it cites, and what it claims."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from jobmill.catalog.company_names import company_key
from jobmill.reports.answer_text import AnswerLine, read_lines, read_sentences, visible_text
from jobmill.reports.answers import AnswerAnalysis, JudgedClaim, Prompt, StoredAnswer, Tone
from jobmill.reports.cited_domains import cited_domains
from jobmill.reports.claims import claim_context, judge_claim
from jobmill.reports.company_mentions import (
    CompanyNames,
    find_other_companies,
    is_other_company,
    subject_of,
)
from jobmill.reports.findings import SiteFindings

_MAX_CLAIMS: Final = 50
_MAX_BESIDE: Final = 30
_PRAISE: Final = re.compile(
    r"\b(?:good|great|excellent|strong|best|leading|renowned|respected|popular|friendly|supportive|generous"
    r"|competitive|flexible|innovative|stable|well[- ]regarded|highly (?:rated|regarded)|attractive|welcoming|fair"
    r"|inclusive|praised?|award[- ]winning|reputable|rewarding|recommend(?:ed)?|positive|outstanding|solid|love[sd]?"
    r"|collaborative|transparent|meaningful|reputation for)\b",
    re.IGNORECASE,
)
_CRITICISM: Final = re.compile(
    r"\b(?:bad|poor|weak|worst|toxic|stressful|underpaid|low pay|below[- ]average|high turnover|layoffs?|laid off"
    r"|burn-?out|overwork\w*|complain\w*|critici[sz]\w*|controvers\w*|lawsuits?|scandal|unstable|chaotic|micromanag\w*"
    r"|negative|disappoint\w*|unfair|discriminat\w*|mandatory overtime|limited (?:growth|career)|slow promotions?|struggl\w*"
    r"|exhausting|strict|understaffed|declin\w*|problems?)\b",
    re.IGNORECASE,
)
_NEGATION: Final = re.compile(r"\b(?:not|no|never|isn't|aren't|without|less|hardly|few)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)  # fmt: skip

Subject: TypeAlias = Literal["company", "other", "unknown"]


@dataclass(slots=True)
class _Mentions:
    """Where companies are named first: line and character."""

    company: tuple[int, int] | None = None
    others: dict[str, tuple[tuple[int, int], str]] = field(
        default_factory=dict[str, tuple[tuple[int, int], str]]
    )

    @property
    def position(self) -> int | None:
        if self.company is None:
            return None
        return 1 + sum(spot < self.company for spot, _ in self.others.values())


def analyze_answer(findings: SiteFindings, prompt: Prompt, answer: StoredAnswer) -> AnswerAnalysis:
    """Analyze one stored answer by rules; the same answer always gives the same analysis."""
    context = claim_context(findings)
    text = visible_text(answer.text)
    lines = read_lines(text)
    mentions = _find_mentions(lines, context.names, prompt)
    sentences = list(_sentences_about(lines, context.names, prompt.names_company))
    claims = list[JudgedClaim]()
    for sentence in dict.fromkeys(sentences):
        if len(claims) < _MAX_CLAIMS and (claim := judge_claim(context, sentence)):
            claims.append(claim)
    return AnswerAnalysis(
        prompt_key=answer.prompt_key,
        model=answer.model,
        run=answer.run,
        named=mentions.company is not None,
        position=mentions.position,
        beside=tuple(name for _, name in sorted(mentions.others.values()))[:_MAX_BESIDE],
        tone=_read_tone(sentences),
        cited_domains=cited_domains(text, findings.site),
        claims=tuple(claims),
    )


def _find_mentions(lines: list[AnswerLine], names: CompanyNames, prompt: Prompt) -> _Mentions:
    mentions = _Mentions()
    for index, line in enumerate(lines):
        start = names.find(line.text)
        if start is not None and mentions.company is None:
            mentions.company = (index, start)
        is_list = not prompt.names_company
        for position, name in find_other_companies(line, names, tools_are_companies=is_list):
            mentions.others.setdefault(company_key(name), ((index, position), name))
    return mentions


def _sentences_about(
    lines: list[AnswerLine], names: CompanyNames, names_company: bool
) -> Iterator[str]:
    """The sentences whose subject is the company. A pronoun continues the subject before it, and a
    list item or heading that names a company starts a new one."""
    default: Subject = "company" if names_company else "unknown"
    subject = section = default
    for line in lines:
        subject = _subject_of_line(line, names, section)
        if line.is_heading:
            section = subject = subject if line.head and subject != section else default
            continue
        for sentence in read_sentences(line):
            subject = _subject_of_sentence(sentence, names, subject)
            if subject == "company":
                yield sentence


def _subject_of_line(line: AnswerLine, names: CompanyNames, before: Subject) -> Subject:
    if not line.head:
        return before
    if names.find(line.head) is not None:
        return "company"
    # A label such as "Founded" or "Benefits" is no company and continues the subject.
    is_other = is_other_company(line.head, names, tools_are_companies=before != "company")
    return "other" if is_other and line.text != line.head else before


def _subject_of_sentence(sentence: str, names: CompanyNames, before: Subject) -> Subject:
    if subject_of(sentence, names):
        return "other"
    return "company" if names.find(sentence) is not None else before


def _read_tone(sentences: Iterable[str]) -> Tone:
    """The tone of the sentences about the company; a negated word counts for the other side."""
    good = bad = 0
    for sentence in sentences:
        for pattern, is_praise in ((_PRAISE, True), (_CRITICISM, False)):
            for match in pattern.finditer(sentence):
                denied = bool(
                    _NEGATION.search(sentence[max(0, match.start() - 40) : match.start()])
                )
                if is_praise != denied:
                    good += 1
                else:
                    bad += 1
    return "positive" if good > bad else "negative" if bad > good else "neutral"
