"""Where a text names skills, for whoever shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from .posting_facts import skills


class Piece(NamedTuple):
    text: str
    marked: bool


def cut(text: str, names: Iterable[str]) -> list[Piece]:
    """The text in pieces that together are the text, those marked that name one of the skills."""
    pieces: list[Piece] = []
    end = 0
    for start, stop in sorted(_places(text, list(names))):
        if start < end:
            continue
        if start > end:
            pieces.append(Piece(text[end:start], False))
        pieces.append(Piece(text[start:stop], True))
        end = stop
    return [*pieces, Piece(text[end:], False)] if end < len(text) else pieces


def _places(text: str, names: list[str]) -> Iterable[tuple[int, int]]:
    wanted = {skills.canonical(name) for name in names}
    yield from ((hit.start, hit.end) for hit in skills.find(text) if hit.name in wanted)
    # What only this profile calls a skill is found as it is written there.
    for name in wanted - skills.names():
        for found in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE):
            yield found.span()
