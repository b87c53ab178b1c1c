"""Draft a resume for one posting: the facts that answer it, in the person's own words, on as many
pages as employers expect."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from jobmill.catalog.posting import Posting
from jobmill.matching.profile import RANKS, Profile
from jobmill.matching.resumes import work_history
from jobmill.matching.resumes.work_history import Employment

from . import fact_lines
from .document import (
    ApplicationDocument,
    DocumentBlock,
    DocumentLine,
    DocumentSection,
    disable_lines,
    iter_lines,
    map_lines,
)
from .posting_terms import PostingTerms

JUNIOR_YEARS = 5.0
"""With less experience, a resume has one page; with more, two."""
MAX_BULLETS = (7, 5, 4)
"""Lines of the newest entries. Older entries have fewer."""
MAX_OLD_BULLETS = 3
MAX_SKILLS = 24
MAX_PROJECTS = 4
ESSENTIAL = 100.0
"""The value of lines that are left out only if nothing else is left."""


@dataclass(frozen=True, slots=True)
class ResumeDraft:
    document: ApplicationDocument
    max_pages: int
    drop_order: tuple[str, ...]
    """Keys of lines, in the order in which they are left out until the document fits."""


def draft_resume(
    profile: Profile, profile_version: int, posting: Posting, today: dt.date
) -> ResumeDraft:
    terms = PostingTerms(posting, profile)
    sections = tuple(
        _order_section(section, terms, profile) for section in fact_lines.resume_sections(profile)
    )
    document = ApplicationDocument(
        kind="resume", profile_version=profile_version, sections=sections
    )
    document = map_lines(document, lambda line: _with_answers(line, terms))
    document = disable_lines(document, frozenset(_beyond_limits(document)))
    values = dict(_line_values(document, terms))
    order = sorted(values, key=lambda key: values[key])
    return ResumeDraft(document, max_pages(profile, today), tuple(order))


def fit_pages(
    draft: ResumeDraft, count_pages: Callable[[ApplicationDocument], int]
) -> ApplicationDocument:
    """Leave out as few lines as possible so that the document has at most its number of pages."""

    def without(count: int) -> ApplicationDocument:
        return disable_lines(draft.document, frozenset(draft.drop_order[:count]))

    least, most = 0, len(draft.drop_order)
    while least < most:
        count = (least + most) // 2
        if count_pages(without(count)) <= draft.max_pages:
            most = count
        else:
            least = count + 1
    return without(least)


def max_pages(profile: Profile, today: dt.date) -> int:
    years = profile.experience_years
    if years is None:
        years = work_history.total_years(_employments(profile, today)) or 0.0
    return 1 if years < JUNIOR_YEARS else 2


def _employments(profile: Profile, today: dt.date) -> Iterator[Employment]:
    this_month = today.year * 12 + today.month
    for entry in profile.resume.experience:
        if entry.start:
            start = _month_number(entry.start)
            is_open = entry.end in (None, "present")
            end = this_month if is_open else _month_number(str(entry.end)) + 1
            yield Employment(start, max(start, end), [entry.title])


def _month_number(month: str) -> int:
    year, _, number = month.partition("-")
    return int(year) * 12 + (int(number) - 1 if number else 6)


def _with_answers(line: DocumentLine, terms: PostingTerms) -> DocumentLine:
    if line.key.startswith(("person.", "resume.contact.")):
        return line
    return line.model_copy(update={"answers": terms.answer(line.text).words})


def _order_section(
    section: DocumentSection, terms: PostingTerms, profile: Profile
) -> DocumentSection:
    """Skills, projects and the lines of an entry by relevance; entries of a career stay in order."""
    ranks = {f"skills.{n}.name": RANKS[skill.rank] for n, skill in enumerate(profile.skills)}

    def by_relevance(line: DocumentLine) -> tuple[bool, float, int]:
        is_last = line.key.endswith(".skills")
        is_first = line.key.endswith((".summary", ".grade"))
        weight = float("inf") if is_first else terms.answer(line.text).weight
        return is_last, -weight, -ranks.get(line.key, 0)

    if section.key in ("header", "licences", "languages"):
        return section
    blocks = tuple(
        block.model_copy(update={"lines": tuple(sorted(block.lines, key=by_relevance))})
        for block in section.blocks
    )
    if section.key == "projects":
        blocks = tuple(sorted(blocks, key=lambda block: -_block_weight(block, terms)))
    return section.model_copy(update={"blocks": blocks})


def _block_weight(block: DocumentBlock, terms: PostingTerms) -> float:
    lines = (*block.lines, *((block.heading,) if block.heading else ()))
    return max((terms.answer(line.text).weight for line in lines), default=0.0)


def _beyond_limits(document: ApplicationDocument) -> Iterator[str]:
    """Lines that would be too many for a reader, however much room there is."""
    for section in document.sections:
        for place, block in enumerate(section.blocks):
            if section.key == "skills":
                yield from (line.key for line in block.lines[MAX_SKILLS:])
            elif section.key == "projects" and place >= MAX_PROJECTS and block.heading:
                yield block.heading.key
            elif section.layout == "bullets" and block.heading:
                limit = MAX_BULLETS[place] if place < len(MAX_BULLETS) else MAX_OLD_BULLETS
                yield from (line.key for line in block.lines[limit:])


def _line_values(document: ApplicationDocument, terms: PostingTerms) -> Iterator[tuple[str, float]]:
    """How much would be lost without each line."""
    enabled = {line.key for line in iter_lines(document) if line.enabled}
    for section in document.sections:
        for place, block in enumerate(section.blocks):
            recent = 2.0 / (place + 1)
            if block.heading and block.heading.key in enabled:
                yield block.heading.key, _heading_value(section, block, place, terms)
            for position, line in enumerate(block.lines):
                if line.key in enabled:
                    value = terms.answer(line.text).weight + recent - 0.1 * position
                    yield line.key, value + _section_bonus(section, line)


def _heading_value(
    section: DocumentSection, block: DocumentBlock, place: int, terms: PostingTerms
) -> float:
    weight = _block_weight(block, terms)
    if section.key == "projects":
        return weight + 1.0
    # A career without gaps: the newest jobs and the highest degree are never left out for space.
    return ESSENTIAL if place < 3 else weight + 6.0 / (place + 1)


def _section_bonus(section: DocumentSection, line: DocumentLine) -> float:
    if section.key == "header":
        return 10 * ESSENTIAL
    if line.key.endswith(".skills"):
        return -2.0
    return {"licences": 5.0, "languages": 4.0, "authorisation": 3.0, "summary": 3.0}.get(
        section.key, 0.0
    )
