"""Keeps pages from the parser that are nested so deep that it would take minutes."""

from __future__ import annotations

import re

DEEPEST = 1_000
_FEW = 8_000
"""Fewer tags cannot do much harm."""
_CUTS = 16
# The parser climbs the whole stack at each of these: its time grows with the square of the depth.
# Elements that end by themselves (p, li, td) are no part of it, as old pages never close them.
_BLOCK = re.compile(
    rb"<(/?)(?:div|[uod]l|section|article|aside|nav|main|header|footer|center|blockquote|fieldset|"
    rb"details|summary|figure|address|menu|dir|pre|hgroup|dialog|search|table)\b",
    re.IGNORECASE,
)


def limit(body: bytes) -> bytes:
    """The page up to where it is nested deeper than any page for people."""
    if body.count(b"<") < _FEW or not _may_be_deep(body):
        return body
    return body[: _end(body)]


def _may_be_deep(body: bytes) -> bool:
    """Whether at some point many more elements were opened than closed; a guess that is never too"
    " low."""
    step = len(body) // _CUTS + 1
    opened = 0
    for start in range(0, len(body), step):
        part = body[start : start + step]
        opened += part.count(b"<") - 2 * part.count(b"</")
        if opened > DEEPEST:
            return True
    return False


def _end(body: bytes) -> int:
    level = 0
    for tag in _BLOCK.finditer(body):
        level = max(0, level - 1) if tag[1] else level + 1
        if level > DEEPEST:
            return tag.start()
    return len(body)
