"""Draft a cover letter: what the company says, quoted with its source, and the facts that answer it."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jobmill.catalog.posting import Posting
from jobmill.matching.llm_review.prompt_injection import find_injection
from jobmill.matching.posting_facts import sections as posting_sections
from jobmill.matching.profile import Profile

from . import fact_lines
from .document import ApplicationDocument, DocumentBlock, DocumentLine, DocumentSection
from .posting_terms import LineAnswer, PostingTerms

MAX_PAIRS = 3
MIN_WEIGHT = 1.0
"""Below this a fact hardly answers a requirement."""
MAX_REQUIREMENTS = 20
MAX_FACTS = 60
MIN_QUOTE_LENGTH, MAX_QUOTE_LENGTH = 12, 180
BULLET = re.compile(r"^\s*(?:[-•*·▪◦●‣\u2013\u2014]|\d{1,2}[.)])\s+")


@dataclass(frozen=True, slots=True)
class CompanyQuote:
    """Words of the company's website."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class _AnsweredRequirement:
    quote: str
    fact: DocumentLine
    heading: DocumentLine | None
    """The job that the fact belongs to, such as `Charge Nurse at Cedar Clinic`."""
    answer: LineAnswer


def draft_letter(
    profile: Profile,
    profile_version: int,
    posting: Posting,
    today: dt.date,
    quotes: Sequence[CompanyQuote] = (),
) -> ApplicationDocument:
    name = profile.person.name
    closing = [_phrase("closing.regards", "Kind regards,")]
    sections = (
        DocumentSection(key="header", layout="header", blocks=fact_lines.header_block(profile)),
        DocumentSection(
            key="recipient",
            layout="text",
            blocks=(DocumentBlock(lines=tuple(_recipient(posting, today))),),
        ),
        DocumentSection(key="body", layout="letter", blocks=tuple(_body(profile, posting, quotes))),
        DocumentSection(
            key="closing",
            layout="text",
            blocks=(
                DocumentBlock(lines=(*closing, *([_phrase("closing.name", name)] if name else []))),
            ),
        ),
    )
    sections = tuple(section for section in sections if section.blocks)
    return ApplicationDocument(kind="letter", profile_version=profile_version, sections=sections)


def _phrase(key: str, text: str, source: str = "") -> DocumentLine:
    return DocumentLine(key=key, text=text, fact=text, source=source)


def _recipient(posting: Posting, today: dt.date) -> Iterator[DocumentLine]:
    yield _phrase("date", f"{today.day} {today:%B %Y}")
    if posting.company:
        yield _phrase("posting.company", posting.company, posting.url)
    yield _phrase("posting.title", f"Application: {posting.title}", posting.url)


def _body(
    profile: Profile, posting: Posting, quotes: Sequence[CompanyQuote]
) -> Iterator[DocumentBlock]:
    yield DocumentBlock(lines=(_phrase("greeting", "Dear hiring team,"),))
    at_company = f" at {posting.company}" if posting.company else ""
    opening = f"I am applying for the position of {posting.title}{at_company}."
    lines = [_phrase("opening", opening, posting.url)]
    for n, quote in enumerate(list(filter(_is_quotable, quotes))[:1]):
        text = f"Your website says: \u201c{quote.text}\u201d."
        lines.append(_phrase(f"website.{n}", text, quote.url))
    yield DocumentBlock(lines=tuple(lines))
    if profile.summary.strip():
        yield DocumentBlock(lines=(fact_lines.make_line("summary", profile.summary),))
    for n, pair in enumerate(_answer_requirements(profile, posting)):
        yield DocumentBlock(lines=tuple(_pair_lines(n, pair, posting)))
    yield DocumentBlock(
        lines=(_phrase("interview", "I would be glad to tell you more in an interview."),)
    )


def _is_quotable(quote: CompanyQuote) -> bool:
    return len(quote.text) <= MAX_QUOTE_LENGTH and find_injection(quote.text) is None


def _pair_lines(n: int, pair: _AnsweredRequirement, posting: Posting) -> Iterator[DocumentLine]:
    quote = f"Your posting asks for: \u201c{pair.quote}\u201d."
    yield _phrase(f"posting.requirement.{n}", quote, posting.url)
    if pair.heading:
        text = f"This relates to my work as {pair.heading.text}:"
        yield _phrase(f"{pair.heading.key}:{n}", text)
    yield pair.fact.model_copy(
        update={"text": _as_sentence(pair.fact.text), "answers": pair.answer.words}
    )


def _as_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _answer_requirements(profile: Profile, posting: Posting) -> list[_AnsweredRequirement]:
    """Pairs of a requirement and the fact that answers it best, each used once."""
    facts = list(_prose_facts(profile))[:MAX_FACTS]
    pairs: list[_AnsweredRequirement] = []
    for quote in list(_requirements(posting))[:MAX_REQUIREMENTS]:
        terms = PostingTerms(Posting(title=quote, description=quote), profile)
        for heading, fact in facts:
            answer = terms.answer(fact.text)
            if answer.weight >= MIN_WEIGHT:
                pairs.append(_AnsweredRequirement(quote, fact, heading, answer))
    chosen: list[_AnsweredRequirement] = []
    for pair in sorted(pairs, key=lambda pair: -pair.answer.weight):
        is_new = all(
            pair.quote != other.quote and pair.fact.key != other.fact.key for other in chosen
        )
        if is_new and len(chosen) < MAX_PAIRS:
            chosen.append(pair)
    return chosen


def _requirements(posting: Posting) -> Iterator[str]:
    """Lines of the posting that ask for something, in its words."""
    text = (posting.description or posting.requirements or "")[:40_000]
    parts = posting_sections.find_sections(text)
    place = 0
    for line in text.split("\n"):
        words = " ".join(BULLET.sub("", line).split()).rstrip(".;,")
        is_bullet = BULLET.match(line) is not None
        part = parts.section_at(place)
        if (
            MIN_QUOTE_LENGTH <= len(words) <= MAX_QUOTE_LENGTH
            and (part == "required" or (part is None and is_bullet))
            and not words.endswith(":")
            and words.count(" ")
            and find_injection(words) is None
        ):
            yield words
        place += len(line) + 1


def _prose_facts(profile: Profile) -> Iterator[tuple[DocumentLine | None, DocumentLine]]:
    """The lines about experience, projects and achievements, each with the heading of its entry."""
    for section in fact_lines.resume_sections(profile):
        if section.key in ("experience", "projects", "achievements"):
            for block in section.blocks:
                heading = _job(profile, block.heading) if section.key == "experience" else None
                for line in block.lines:
                    if not line.key.endswith(".skills"):
                        yield heading, line


def _job(profile: Profile, heading: DocumentLine | None) -> DocumentLine | None:
    if heading is None:
        return None
    entry = profile.resume.experience[int(heading.key.rpartition(".")[2])]
    text = " at ".join(part for part in (entry.title, entry.employer) if part)
    return heading.model_copy(update={"text": text})
