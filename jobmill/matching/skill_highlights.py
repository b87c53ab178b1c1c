"""Find the skills that a text names, so that a page can highlight them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from .posting_facts import MAX_TEXT_LENGTH, skills


class TextPiece(NamedTuple):
    text: str
    is_skill: bool


def split_at_skills(text: str, names: Iterable[str]) -> list[TextPiece]:
    """Split a text into pieces and mark those that name one of the skills. Joined, the pieces are
    the text. The end of a very long text is not searched."""
    pieces: list[TextPiece] = []
    end = 0
    searched = text[:MAX_TEXT_LENGTH]
    for start, stop in sorted(_find_positions(searched, list(names))):
        if start < end:
            continue
        if start > end:
            pieces.append(TextPiece(text[end:start], False))
        pieces.append(TextPiece(text[start:stop], True))
        end = stop
    return [*pieces, TextPiece(text[end:], False)] if end < len(text) else pieces


def _find_positions(text: str, names: list[str]) -> Iterable[tuple[int, int]]:
    canonical_names = {skills.canonical_name(name) for name in names}
    yield from (
        (hit.start, hit.end) for hit in skills.find_skills(text) if hit.name in canonical_names
    )
    # Skills that are not in our list are found by their spelling in the profile.
    for name in canonical_names - skills.all_names():
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE):
            yield match.span()
