"""Cut pages that are built so that parsing them would take minutes."""

from __future__ import annotations

import re
from collections import defaultdict

MAX_DEPTH = 500
"""Elements of the same name inside each other."""
_MIN_TAGS = 16_000
"""Pages with fewer tags take a second at most."""
# The parser climbs the whole stack at each block element and scans all open style elements at each
# style element, so its time is quadratic.
# Elements that close implicitly (p, li, td) are not counted,
# because old pages never close them.
_TAG = re.compile(
    rb"<(/?)(div|[uod]l|section|article|aside|nav|main|header|footer|center|blockquote|fieldset|"
    rb"details|summary|figure|address|menu|dir|pre|hgroup|dialog|search|table|"
    rb"a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u|ruby|rb|rt|rp|rtc)\b"
)
_IN_RUBY = (b"rb", b"rt", b"rp", b"rtc")
"""Elements that the end of their ruby element closes, too."""
MAX_ATTRIBUTES = 2_000
"""Attributes of one tag. The parser compares each with all before it."""
_LONG_TAG = re.compile(rb"<[A-Za-z][^<>]{10000,}")
_QUOTED = re.compile(rb"\"[^\"]*\"|'[^']*'")


def truncate_deep_html(body: bytes) -> bytes:
    """The page up to where it is nested deeper, or a tag is longer, than on any page for people."""
    for tag in _LONG_TAG.finditer(body):
        if len(_QUOTED.sub(b"", tag[0]).split()) > MAX_ATTRIBUTES:
            body = body[: tag.start()]
            break
    return body if body.count(b"<") < _MIN_TAGS else body[: _find_cut(body.lower())]


def _find_cut(body: bytes) -> int:
    # Counted by name: an end tag without a start tag closes nothing.
    levels: defaultdict[bytes, int] = defaultdict(int)
    for tag in _TAG.finditer(body):
        end, name = tag.groups()
        if not end:
            levels[name] += 1
            if levels[name] > MAX_DEPTH:
                return tag.start()
        elif levels[name]:
            levels[name] -= 1
            if name == b"ruby":
                levels.update(dict.fromkeys(_IN_RUBY, 0))
    return len(body)
