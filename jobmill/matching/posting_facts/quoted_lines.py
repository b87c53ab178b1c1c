"""Quote the line or sentence around a position in a text."""

from __future__ import annotations

import re

MAX_QUOTE_LENGTH = 160
"""Maximum length of a quote."""
SENTENCE_END = re.compile(r"[.!?;]\s")


def line_bounds(text: str, start: int, end: int) -> tuple[int, int]:
    """Start and end of the line around a position."""
    stop = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if stop < 0 else stop


def quote_line(text: str, start: int, end: int) -> str:
    """The line around a position; a long line is shortened to the part next to it."""
    begin, stop = line_bounds(text, start, end)
    room = max(0, MAX_QUOTE_LENGTH - (end - start)) // 2
    first, last = max(begin, start - room), min(stop, end + room)
    line = text[first:last].strip(" \t-*•·")
    return f"{'…' if first > begin else ''}{line}{'…' if last < stop else ''}"


def sentence_around(text: str, start: int, end: int) -> str:
    """The sentence around a position, within its line; a long one is shortened."""
    begin, stop = line_bounds(text, start, end)
    before, after = (
        text[max(begin, start - MAX_QUOTE_LENGTH) : start],
        text[end : min(stop, end + MAX_QUOTE_LENGTH)],
    )
    return SENTENCE_END.split(before)[-1] + text[start:end] + SENTENCE_END.split(after)[0]
