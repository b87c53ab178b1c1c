"""Find the main text of a page, without navigation, footer and other postings."""

from __future__ import annotations

import re

from .visible_lines import TextLine

_END_OF_POSTING = re.compile(
    r"(?:similar|related|recommended|more|other|featured|latest)\s+(?:jobs|positions|openings|"
    r"vacancies|opportunities)|(?:people|jobs) (?:also|you may)|job alerts?|share this|"
    r"(?:copyright|©)|all rights reserved|ähnliche (?:jobs|stellen)|weitere (?:jobs|stellen)|"
    r"ofertas similares",
    re.IGNORECASE,
)
_MIN_LENGTH = 80
_HEADINGS = frozenset(("h2", "h3", "h4", "h5", "h6"))
_MAX_TAIL_LINES = 80
"""Short lines that may follow the text."""
_SECTION_HEADING = re.compile(
    r"(?:(?:job|position|the|about|your|our|key|main|essential|minimum|basic|preferred|required|"
    r"desired|additional|other|specific|what|who|ihre?|deine?|das|die|unsere?|wir)\b.{0,12})?"
    r"\b(?:description|summary|responsibilities|duties|requirements?|qualifications?|skills|role|"
    r"experience|education|benefits|perks|profile?|tasks|you(?: wi|.)ll do|you bring|you.ll need|"
    r"we offer|about you|who you are|aufgaben|anforderungen|profil|bieten|bringst du mit|"
    r"bringen sie mit|benefits|vorteile|qualifikation(?:en)?|missions?|requisitos|funciones|"
    r"ofrecemos)\b.{0,25}$",
    re.IGNORECASE,
)
_BUTTON = re.compile(
    r"(?:apply|print|e-?mail|save|share|send|back|next|report|bookmark|follow|jetzt bewerben|"
    r"bewerben|posted|home|location|company|job (?:id|number|type|location)|date|contact|salary)\b",
    re.IGNORECASE,
)


def find_main_text(lines: list[TextLine]) -> str | None:
    """The part of the lines with the most text; None if there is too little."""
    best, most = (0, 0), 0.0
    start, total = 0, 0.0
    for at, line in enumerate(lines):
        total += _line_score(line)
        if total <= 0:
            start, total = at + 1, 0.0
        elif total > most:
            best, most = (start, at + 1), total
    start, end = best
    shown = lines[_extend_start(lines, start) : _extend_end(lines, end)]
    words = "\n".join(map(_format_line, shown))
    return words if len(words) >= _MIN_LENGTH else None


def _extend_start(lines: list[TextLine], at: int) -> int:
    """Move the start up over short lines that belong to the text."""
    start = at
    for n in range(at - 1, max(-1, at - _MAX_TAIL_LINES), -1):
        if _can_start_text(lines[n]):
            start = n
        elif lines[n].tag not in _HEADINGS or lines[n].is_link:
            break
    return start


def _can_start_text(line: TextLine) -> bool:
    """Whether a short line before the text belongs to it: a list item, a sentence or a heading."""
    if (
        line.is_link
        or "aside" in line.roles
        or _END_OF_POSTING.match(line.text)
        or _BUTTON.match(line.text)
    ):
        return False
    return (
        is_section_heading(line)
        or line.tag == "li"
        or (line.tag == "p" and line.text.endswith("."))
    )


def _extend_end(lines: list[TextLine], at: int) -> int:
    """Move the end down over short lines that belong to the text: lists, and headings with a list."""
    end = at
    for n in range(at, min(at + _MAX_TAIL_LINES, len(lines))):
        line = lines[n]
        if line.is_link or _line_score(line) < -_MIN_LENGTH or _BUTTON.match(line.text):
            break
        if not _is_heading(line):
            if line.tag != "li" and not _continues_text(lines, n):
                break
            end = n + 1
    return end


def is_section_heading(line: TextLine) -> bool:
    """Whether it is the heading of a section that postings have."""
    return len(line.text) <= 60 and not line.is_link and bool(_SECTION_HEADING.match(line.text))


def _is_heading(line: TextLine) -> bool:
    """Whether it may be any heading."""
    if len(line.text) > 60:
        return False
    bold = all(run.tag in ("b", "strong") for run in line.runs)
    return bold or line.tag in _HEADINGS or is_section_heading(line)


def _continues_text(lines: list[TextLine], at: int) -> bool:
    """Whether a short line is in the same block as the one before it, or looks like a list item."""
    line, before = lines[at], lines[at - 1]
    if line.block.mem_id == before.block.mem_id or line.text[:1] in "-•*·":
        return True
    return line.tag == "p" and (before.tag == "p" or _is_heading(before))


def _line_score(line: TextLine) -> float:
    """How much a line looks like running text: high for long lines, negative for links and
    fragments."""
    length = len(line.text)
    if "aside" in line.roles or (length < 80 and _END_OF_POSTING.match(line.text)):
        return -200
    if line.is_link:
        return -25
    if "cookie" in line.text or "Cookie" in line.text:
        return -length
    if line.tag == "li":
        # Many items are only a word or two; menus, which are links, were excluded above.
        return max(min(length, 400) - 25, 3)
    worth = min(length, 400) - 25 if length > 25 or line.tag == "p" else -8
    return worth + (15 if "body" in line.roles else 0)


def _format_line(line: TextLine) -> str:
    return f"- {line.text}" if line.tag == "li" and line.text[:1] not in "-•*·" else line.text
