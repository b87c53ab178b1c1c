"""The main text of a page: no navigation, no footer, no other postings."""

from __future__ import annotations

import re

from jobmill.ingest.page.lines import Line

_END = re.compile(
    r"(?:similar|related|recommended|more|other|featured|latest)\s+(?:jobs|positions|openings|"
    r"vacancies|opportunities)|(?:people|jobs) (?:also|you may)|job alerts?|share this|"
    r"(?:copyright|©)|all rights reserved|ähnliche (?:jobs|stellen)|weitere (?:jobs|stellen)|"
    r"ofertas similares",
    re.IGNORECASE,
)
_SHORTEST = 80
_TAIL = 80
"""Short lines that may follow the text."""
_PART = re.compile(
    r"(?:(?:job|position|the|about|your|our|key|main|essential|minimum|basic|preferred|required|"
    r"desired|additional|other|specific|what|who|ihre?|deine?|das|die|unsere?|wir)\b.{0,12})?"
    r"\b(?:description|summary|responsibilities|duties|requirements?|qualifications?|skills|role|"
    r"experience|education|benefits|perks|profile?|tasks|you.ll do|you bring|you.ll need|"
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


def find(lines: list[Line]) -> str | None:
    """The stretch of lines that has most to read, whole; None where there is no such stretch."""
    best, most = (0, 0), 0.0
    start, total = 0, 0.0
    for at, line in enumerate(lines):
        total += _worth(line)
        if total <= 0:
            start, total = at + 1, 0.0
        elif total > most:
            best, most = (start, at + 1), total
    start, end = best
    while start and _is_heading(lines[start - 1]):
        start -= 1
    words = "\n".join(_shown(line) for line in lines[start : _end(lines, end)])
    return words if len(words) >= _SHORTEST else None


def _end(lines: list[Line], at: int) -> int:
    """Where the text ends that goes on in short lines: lists, and headings with a list."""
    end = at
    for n in range(at, min(at + _TAIL, len(lines))):
        line = lines[n]
        if line.linked or _worth(line) < -_SHORTEST or _BUTTON.match(line.text):
            break
        if not _is_heading(line):
            if line.tag != "li" and not _goes_on(lines, n):
                break
            end = n + 1
    return end


def _is_heading(line: Line) -> bool:
    """Whether it is the heading of a part of a posting."""
    return len(line.text) <= 60 and not line.linked and bool(_PART.match(line.text))


def _goes_on(lines: list[Line], at: int) -> bool:
    """Whether a short line has the block of the one before it, or looks like an item of a list."""
    line, before = lines[at], lines[at - 1]
    same = at > 0 and line.block.mem_id == before.block.mem_id
    return same or line.text[:1] in "-•*·" or (line.tag == "p" and before.tag == line.tag)


def _worth(line: Line) -> float:
    """How much a line reads like a text: long ones do, links and scraps do not."""
    length = len(line.text)
    if "aside" in line.marks or (length < 80 and _END.match(line.text)):
        return -200
    if line.linked:
        return -25
    if "cookie" in line.text or "Cookie" in line.text:
        return -length
    worth = min(length, 400) - 25 if length > 25 or line.tag in ("li", "p") else -8
    return worth + (15 if "body" in line.marks else 0)


def _shown(line: Line) -> str:
    return f"- {line.text}" if line.tag == "li" and line.text[:1] not in "-•*·" else line.text
