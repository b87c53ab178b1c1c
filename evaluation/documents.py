"""Write documents for generated profiles and postings, with an honest and a hostile model stand-in, and
look for anything that the profile does not say."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from evaluation import document_checks
from evaluation.document_pairs import DocumentPair, make_pairs
from evaluation.goal import Goal, Report
from jobmill.catalog.posting import Posting
from jobmill.documents import drafting, letter_draft, pdf_file, rewording, word_file
from jobmill.documents.document import (
    PAPERS,
    TEMPLATES,
    ApplicationDocument,
    DocumentLine,
    iter_lines,
    printed_sections,
)
from jobmill.documents.letter_draft import CompanyQuote
from jobmill.documents.rewording import RewordedLine, RewordingAnswer
from jobmill.matching import resumes
from jobmill.matching.posting_facts import skills
from jobmill.matching.profile import Profile

PAIRS = 200
TODAY = dt.date(2026, 11, 17)
INVENTIONS = (
    "{text}, holding an MSc from Stanford",
    "{text} at Hooli",
    "{text} with 97% accuracy",
    "{text}, using Kubernetes and COBOL",
    "{text} since May 1987",
    "Single-handedly {text}",
    "Directed 40 people: {text}",
    "Award-winning: {text}",
)
MARKS = ("MSc from Stanford", "Hooli", "97%", "COBOL", "May 1987", "Single-handedly", "40 people", "Award-winning")  # fmt: skip


@dataclass
class DocumentCounts:
    documents: int = 0
    foreign: list[str] = field(default_factory=list)
    invented: int = 0
    dropped: int = 0
    printed_inventions: int = 0
    reworded: int = 0
    offered: int = 0
    too_long: int = 0
    out_of_order: int = 0
    lost: list[str] = field(default_factory=list)
    misquoted: int = 0
    pages: Counter[int] = field(default_factory=Counter)


def report(_data: Path, pairs: int = PAIRS) -> Report:
    counts = measure(pairs)
    rows = [
        ("pairs", str(pairs)),
        ("files checked", str(counts.documents)),
        ("resumes with one page", str(counts.pages[1])),
        ("resumes with two pages", str(counts.pages[2])),
        ("inventions of the hostile model", str(counts.invented)),
        ("rewordings of the honest model kept", f"{counts.reworded} of {counts.offered}"),
    ]
    goals = [
        Goal("words absent from the profile", len(counts.foreign), 0, at_most=True),
        Goal("inventions printed", counts.printed_inventions, 0, at_most=True),
        Goal("inventions counted", counts.dropped / max(1, counts.invented), 1),
        Goal("quotes absent from their source", counts.misquoted, 0, at_most=True),
        Goal("resumes with too many pages", counts.too_long, 0, at_most=True),
        Goal("files out of order", counts.out_of_order, 0, at_most=True),
        Goal("facts lost by our resume reader", len(counts.lost), 0, at_most=True),
        Goal("honest rewordings kept", counts.reworded / max(1, counts.offered), 0.9),
    ]
    notes = [*(f"foreign: {words}" for words in counts.foreign[:10]), *counts.lost[:10]]
    return Report("Documents from profiles", ("what", "figure"), rows, goals, notes)


def measure(pairs: int = PAIRS) -> DocumentCounts:
    counts = DocumentCounts()
    for number, pair in enumerate(make_pairs(pairs)):
        profile = Profile.model_validate(pair.profile)
        posting = Posting(
            title=pair.posting_title,
            url="https://jobs.example/1",
            company=pair.posting_company,
            description=pair.posting_text,
        )
        layout = {"template": TEMPLATES[number % 3], "paper": PAPERS[number % 2]}
        drafted = drafting.draft_fitting_resume(profile, 1, posting, TODAY)
        quotes = [CompanyQuote(pair.website_quote, "https://company.example")]
        letter = letter_draft.draft_letter(profile, 1, posting, TODAY, quotes)
        _check_resume(counts, pair, drafted.model_copy(update=layout))
        _check_letter(counts, pair, letter.model_copy(update=layout))
        _check_hostile_model(counts, pair, drafted.model_copy(update=layout), number)
        _check_honest_model(counts, pair, drafted.model_copy(update=layout))
    return counts


def _files(document: ApplicationDocument) -> Iterator[tuple[str, bytes]]:
    yield "pdf", pdf_file.write_pdf(document).data
    yield "docx", word_file.write_word(document)


def _text(kind: str, data: bytes) -> str:
    return document_checks.read_pdf(data) if kind == "pdf" else document_checks.read_docx(data)


def _check_resume(
    counts: DocumentCounts, pair: DocumentPair, document: ApplicationDocument
) -> None:
    facts = [
        text
        for section in printed_sections(document)
        for entry in section.entries
        for text in (entry.heading, *entry.lines)
        if text
    ]
    for kind, data in _files(document):
        text = _text(kind, data)
        counts.documents += 1
        counts.foreign += document_checks.find_foreign_words(text, pair.profile)
        counts.out_of_order += not document_checks.is_in_order(text, facts)
        counts.lost += _lost_facts(document, data, kind)
        if kind == "pdf":
            pages = document_checks.count_pages(data)
            counts.pages[pages] += 1
            counts.too_long += pages > (1 if pair.is_junior else 2)


def _lost_facts(document: ApplicationDocument, data: bytes, kind: str) -> Iterator[str]:
    """Facts that our own resume reader does not find in the file, or finds in another order."""
    draft = resumes.read_resume(data, f"resume.{kind}", today=TODAY).profile
    sections = {section.key: section for section in printed_sections(document)}
    lines = [line for entry in sections["experience"].entries for line in entry.lines]
    if list(draft.highlights) != lines:
        yield f"{kind}: highlights {set(lines) ^ set(draft.highlights)}"
    listed = {name.casefold() for skill in draft.skills for name in (skill.name,)}
    own = [skills.canonical_name(name) for name in sections["skills"].entries[0].lines]
    yield from (f"{kind}: skill {name}" for name in own if name.casefold() not in listed)
    titles = {entry.heading.split(",")[0] for entry in sections["experience"].entries}
    yield from (f"{kind}: title {title}" for title in titles if title not in draft.titles)
    name = next(line.text for line in iter_lines(document) if line.key == "person.name")
    if draft.person.name != name:
        yield f"{kind}: name {draft.person.name} instead of {name}"


def _check_letter(counts: DocumentCounts, pair: DocumentPair, letter: ApplicationDocument) -> None:
    phrases = (
        *document_checks.LETTER_PHRASES,
        pair.posting_title,
        pair.posting_company,
        f"{TODAY.day} {TODAY:%B %Y}",
    )
    for kind, data in _files(letter):
        text = _text(kind, data)
        counts.documents += 1
        sources = (pair.posting_text, pair.website_quote)
        counts.misquoted += len(document_checks.find_unquoted(text, sources))
        own = document_checks.without_quotes(text)
        counts.foreign += document_checks.find_foreign_words(own, pair.profile, phrases)


def _check_hostile_model(
    counts: DocumentCounts, pair: DocumentPair, document: ApplicationDocument, number: int
) -> None:
    """A model that adds degrees, employers, numbers, skills and dates to every line."""
    lines = [
        RewordedLine(
            key=line.key, text=INVENTIONS[(number + n) % len(INVENTIONS)].format(text=line.fact)
        )
        for n, line in enumerate(rewording.lines_to_send(document))
    ]
    lines += [RewordedLine(key="resume.education.0", text="PhD, Physics, Stanford")]
    checked = rewording.check_answer(document, RewordingAnswer(lines=lines))
    counts.invented += len(lines)
    counts.dropped += len(checked.dropped)
    changed = rewording.apply_rewording(document, checked, "stand-in")
    for kind, data in _files(changed):
        text = " ".join(_text(kind, data).split())
        counts.documents += 1
        counts.printed_inventions += sum(mark in text for mark in MARKS)
        counts.foreign += document_checks.find_foreign_words(text, pair.profile)


def _check_honest_model(
    counts: DocumentCounts, pair: DocumentPair, document: ApplicationDocument
) -> None:
    """A model that only shortens lines and changes the form of words."""
    lines = [
        RewordedLine(key=line.key, text=_shorten(line))
        for line in rewording.lines_to_send(document)
    ]
    checked = rewording.check_answer(document, RewordingAnswer(lines=lines))
    counts.offered += len(lines)
    counts.reworded += len(lines) - len(checked.dropped)
    changed = rewording.apply_rewording(document, checked, "stand-in")
    for kind, data in _files(changed):
        counts.documents += 1
        counts.foreign += document_checks.find_unsupported_lines(_text(kind, data), pair.profile)


def _shorten(line: DocumentLine) -> str:
    words = line.fact.split()
    chance = random.Random(line.fact)
    small = [n for n, word in enumerate(words) if word in ("a", "the", "new", "each", "every")]
    if small:
        del words[chance.choice(small)]
    return " ".join(words)


if __name__ == "__main__":
    from evaluation.run import line

    for goal in report(Path()).goals:
        print(line(goal, "documents"))
