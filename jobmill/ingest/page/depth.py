"""Keeps pages from the parser that are nested so deep that it would take minutes."""

from __future__ import annotations

import re
from itertools import accumulate

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
    step = len(body) // _CUTS + 1
    starts = range(0, len(body), step)
    tags = [body.count(b"<", start, start + step) for start in starts]
    if sum(tags) < _FEW:
        return body
    ends = (body.count(b"</", start, start + step) for start in starts)
    opened = accumulate(some - 2 * ended for some, ended in zip(tags, ends, strict=True))
    # At each cut, no more elements can be open than this.
    return body[: _end(body)] if any(count > DEEPEST for count in opened) else body


def _end(body: bytes) -> int:
    level = 0
    for tag in _BLOCK.finditer(body):
        level = max(0, level - 1) if tag[1] else level + 1
        if level > DEEPEST:
            return tag.start()
    return len(body)
