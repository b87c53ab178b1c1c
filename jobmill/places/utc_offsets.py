"""Hours from UTC of the places in a location text."""

from __future__ import annotations

import re
from typing import Final

from . import gazetteer
from .gazetteer import UtcOffsets

_SEPARATOR: Final = re.compile(r"[;|•\n]")
_PART_SEPARATOR: Final = re.compile(r"[,()\[\]/]| [-\u2013\u2014] |(?<=\b[A-Z]{2})-|\b(?:or|and)\b")
_STATE_CODE: Final = re.compile(r"(?<!\w)[A-Z]{2}(?!\w)")
"""In capitals only: "in" and "or" are words."""
_MAX_LENGTH: Final = 500


def offsets_of_location(text: str) -> UtcOffsets:
    """The offsets of all places in a text; empty where none is known."""
    places = _SEPARATOR.split(text[:_MAX_LENGTH])
    return tuple(hour for place in places for hour in _offsets_of_place(place))


def _offsets_of_place(place: str) -> UtcOffsets:
    """By the code of a state, else by the most exact names: "Austin, TX, US" is Austin, and "NYC, SF"
    is both."""
    parts = [part.strip() for part in _PART_SEPARATOR.split(place) if part.strip()]
    known_offsets = [
        offsets
        for part in parts
        if (offsets := gazetteer.utc_offsets(gazetteer.canonical_name(part)))
    ]
    wide = [offsets for offsets in known_offsets if len(offsets) > 1]
    exact = {
        offsets[0]
        for offsets in known_offsets
        if len(offsets) == 1 and all(offsets[0] in outer for outer in wide)
    }
    codes = {code for part in parts for code in _STATE_CODE.findall(part)}
    if exact:
        # "Berlin, DE" is not in Delaware: next to a known city, the city decides.
        codes = {code for code in codes if not gazetteer.is_country_code(code)}
    by_state = {
        offset for code in codes if (offset := gazetteer.utc_offset_of_state(code)) is not None
    }
    return tuple(sorted(by_state or exact or {hour for offsets in wide for hour in offsets}))
