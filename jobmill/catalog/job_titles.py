"""Parses job titles: the words that matter, and the places in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from jobmill.places import gazetteer
from jobmill.plain_text import fold_case

_LETTER = r"(?:m|w|f|d|x|h|k|gn|divers|male|female|diverse)"
_GENDER: Final = re.compile(
    rf"[(\[]?\s*\b{_LETTER}(?:\s*[/|,*]\s*{_LETTER}){{1,3}}\b\s*[)\]]?"
    r"|[(\[]\s*(?:all genders?|gn|m f d|any gender)\s*[)\]]|\ball genders\b",
    re.IGNORECASE,
)
_FEMININE: Final = re.compile(r"(?<=\w{4})(?:[:*_]in(?:nen)?|/-?in(?:nen)?|\(in\))(?![-\w])")
_TECHNICAL: Final = (
    (re.compile(r"(?i)\bc\+\+"), " cpp "),
    (re.compile(r"(?i)\b([cf])#"), r" \1sharp "),
    (re.compile(r"(?i)\.net\b"), " dotnet "),
    (re.compile(r"(?i)\b(full|front|back)[\s-]+(stack|end)\b"), r"\1\2"),
)
_SEGMENT: Final = re.compile(r"\s[-\u2013\u2014]+\s|[-\u2013\u2014]\s|[|()\[\],@;\u2022]|\s/\s")
_NUMBER: Final = re.compile(r"(?:jr|req|r|id|ref|nr|no)?\d{5,}")
_ABBREVIATIONS: Final[dict[str, str]] = {
    "sr": "senior", "snr": "senior", "jr": "junior", "jnr": "junior", "mgr": "manager",
    "dev": "developer", "ii": "2", "iii": "3", "iv": "4",
}  # fmt: skip
_STOP_WORDS: Final = frozenset({"and", "the", "of", "a", "an", "ref", "req", "id"})
# Noise words of locations, and those that aggregators append to titles.
_NOISE_WORDS: Final = gazetteer.LOCATION_NOISE | {
    "fulltime",
    "time",
    "vollzeit",
    "new",
    "urgent",
    "percent",
    "100",
}


@dataclass(frozen=True, slots=True)
class ParsedTitle:
    words: tuple[str, ...]
    """The words of the title, sorted."""
    places: frozenset[str]
    """The places that the title names."""


@lru_cache(maxsize=65_536)
def parse_title(title: str, place_names: frozenset[str] = gazetteer.REGION_NAMES) -> ParsedTitle:
    """The title without gender marks, arrangement, numbers and the places in `place_names`."""
    text = _FEMININE.sub("", _GENDER.sub(" ", title))
    for pattern, replacement in _TECHNICAL:
        text = pattern.sub(replacement, text)
    words: list[str] = []
    places: set[str] = set()
    for segment in _SEGMENT.split(text):
        place = gazetteer.canonical_name(segment)
        if words and place in place_names:
            places.add(place)
        elif not words or not _is_noise(segment):
            words += _words(segment)
    return ParsedTitle(tuple(sorted(_strip_arrangement(words))), frozenset(places))


def _is_noise(segment: str) -> bool:
    return all(word in _NOISE_WORDS or _NUMBER.fullmatch(word) for word in _words(segment))


def _words(text: str) -> list[str]:
    folded = fold_case(text).replace("'", "").replace("\u2019", "")
    tokens: list[str] = re.findall(r"[^\W_]+", folded)
    words = (_ABBREVIATIONS.get(word, word) for word in tokens)
    return [word for word in words if word not in _STOP_WORDS and not _NUMBER.fullmatch(word)]


def _strip_arrangement(words: list[str]) -> list[str]:
    """Remove "remote" and similar words from the start and end; inside they may belong to the
    title."""
    edge = {"remote", "hybrid", "onsite"}
    start, end = 0, len(words)
    while end - start > 1 and words[end - 1] in edge:
        end -= 1
    while end - start > 1 and words[start] in edge:
        start += 1
    return words[start:end]
