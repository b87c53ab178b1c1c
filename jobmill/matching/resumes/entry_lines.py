"""Lines of a resume: bullets, wrapped lines, paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from . import date_ranges
from .work_history import BULLET

MAX_LINE_LENGTH: Final = 200
MAX_LINES: Final = 3_000
LONE_BULLET: Final = re.compile(r"\s*[-\u2013*•·▪◦●‣]\s*")
WORD_BULLET: Final = re.compile(r"^\s*o[\t ]\s*(?=[A-Z])")
"""Word's second bullet, an "o"."""
CUT_OFF: Final = re.compile(
    r"(?:\d\s?[-\u2013\u2014]|\d to|\b(?:exp\.?|expires|until|issued|since|no\.|#)|,)$"
)
"""The end of a wrapped line: "03/2018 -", "expires"."""
REST_OF_DATES: Final = re.compile(rf"\s*(?:[#\w]*\.?\s?\d|{date_ranges.NOW})", re.IGNORECASE)
FULL_LINE: Final = 0.75
"""A line this long, as a share of the longest, was probably wrapped at the margin."""
SENTENCE_END: Final = re.compile(r"[.!?;:][\"'\u201d)]?\s*$")


def clean_lines(lines: Iterable[str]) -> list[str]:
    """The lines without trailing spaces; a bullet on a line of its own is joined with its text."""
    cleaned: list[str] = []
    for line in list(lines)[:MAX_LINES]:
        line = WORD_BULLET.sub("• ", line.rstrip().replace("\u200b", ""))
        if cleaned and LONE_BULLET.fullmatch(cleaned[-1]) and cleaned[-1].strip() and line.strip():
            cleaned[-1] = f"• {BULLET.sub('', line).strip()}"
        elif cleaned and _is_cut_off(cleaned[-1], line):
            cleaned[-1] += f" {line.strip()}"
        else:
            cleaned.append(line)
    return [line for line in cleaned if not (line.strip() and LONE_BULLET.fullmatch(line))]


def _is_cut_off(line: str, after: str) -> bool:
    if not after.strip() or BULLET.match(after) or not CUT_OFF.search(line[-20:]):
        return False
    # After a date and a dash, only the other date: "2022 -" may also mean until today.
    return line.endswith(",") or bool(REST_OF_DATES.match(after))


def line_width(lines: Sequence[str]) -> int:
    """The length from which a line counts as full."""
    return int(max((min(len(line.strip()), MAX_LINE_LENGTH) for line in lines), default=0) * FULL_LINE)  # fmt: skip


def continues(line: str, before: str, width: int) -> bool:
    """Whether a line is the rest of the line before, which was wrapped."""
    if not line.strip() or BULLET.match(line):
        return False
    if line.strip()[0].islower():
        return True
    is_full = line[0].isspace() or len(before.strip()) >= max(width, 50)
    return is_full and not SENTENCE_END.search(before)


def join_paragraphs(lines: Sequence[str], width: int) -> list[str]:
    """The bullet points and paragraphs of a text, each with its wrapped lines."""
    paragraphs: list[str] = []
    before = ""
    for line in lines:
        if paragraphs and before and continues(line, before, width):
            paragraphs[-1] += f" {line.strip()}"
        elif line.strip():
            paragraphs.append(BULLET.sub("", line).strip())
        before = line.strip()
    return [" ".join(paragraph.split())[:2_000] for paragraph in paragraphs if paragraph]
