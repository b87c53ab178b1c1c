"""Lines of a text, to show where something stands."""

from __future__ import annotations

import re

LONGEST = 160
"""Characters that are shown of a line."""
SENTENCE_END = re.compile(r"[.!?;]\s")


def line_bounds(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the line around a place begins and ends."""
    stop = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if stop < 0 else stop


def quote_line(text: str, start: int, end: int) -> str:
    """The line around a place, cut to what stands next to it where it is long."""
    begin, stop = line_bounds(text, start, end)
    room = max(0, LONGEST - (end - start)) // 2
    first, last = max(begin, start - room), min(stop, end + room)
    line = text[first:last].strip(" \t-*•·")
    return f"{'…' if first > begin else ''}{line}{'…' if last < stop else ''}"


def sentence_around(text: str, start: int, end: int) -> str:
    """The sentence around a place, in its line; of a long one, what stands next to it."""
    begin, stop = line_bounds(text, start, end)
    before, after = text[max(begin, start - LONGEST) : start], text[end : min(stop, end + LONGEST)]
    return SENTENCE_END.split(before)[-1] + text[start:end] + SENTENCE_END.split(after)[0]
