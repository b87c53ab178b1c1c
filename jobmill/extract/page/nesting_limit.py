"""Keeps pages from the parser that are nested so deep that it would take minutes."""

from __future__ import annotations

import re
from collections import defaultdict

MAX_DEPTH = 500
"""Elements of one name, each within the last."""
_MIN_TAGS = 16_000
"""Fewer tags cannot do much harm: a second at the worst."""
# The parser climbs the whole stack at each block, and looks through all open styles at each style:
# its time grows with the square of their number. Elements that end by themselves (p, li, td) are no
# part of it, as old pages never close them.
_TAG = re.compile(
    rb"<(/?)(div|[uod]l|section|article|aside|nav|main|header|footer|center|blockquote|fieldset|"
    rb"details|summary|figure|address|menu|dir|pre|hgroup|dialog|search|table|"
    rb"a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)\b"
)


def truncate_deep_html(body: bytes) -> bytes:
    """The page up to where it is nested deeper than any page for people."""
    return body if body.count(b"<") < _MIN_TAGS else body[: _find_cut(body.lower())]


def _find_cut(body: bytes) -> int:
    # By name: an end that fits no beginning closes nothing, and must not seem to.
    levels: defaultdict[bytes, int] = defaultdict(int)
    for tag in _TAG.finditer(body):
        end, name = tag.groups()
        if not end:
            levels[name] += 1
            if levels[name] > MAX_DEPTH:
                return tag.start()
        elif levels[name]:
            levels[name] -= 1
    return len(body)
