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
    words = "\n".join(_shown(line) for line in lines[slice(*best)])
    return words if len(words) >= _SHORTEST else None


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
