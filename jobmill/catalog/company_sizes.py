"""How large a company is, from the words in which it says so."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

SizeCategory: TypeAlias = Literal["large", "medium", "small"]

SMALL: Final = 50
"""Up to so many people a company is small."""
MEDIUM: Final = 1_000
"""Up to so many it is medium, and above them large."""

_NUMBER = re.compile(
    r"(\d{1,3}(?:[,.\s\u2019']\d{3})+|\d+(?:\.\d+)?)(\s?k\b)?(\s?\+)?", re.IGNORECASE
)
_MORE = re.compile(r"\b(?:over|more than|above|exceed\w*|über|plus de|más de)\s*$", re.IGNORECASE)
_WORDS: Final[tuple[tuple[SizeCategory, re.Pattern[str]], ...]] = (
    ("medium", re.compile(r"\bmid(?:dle)?[\s-]?(?:siz|market)|\bmedium\b|mittelst", re.IGNORECASE)),
    ("small", re.compile(r"\b(?:start-?up|small|boutique|tiny|family[\s-]run)\b", re.IGNORECASE)),
    ("large", re.compile(r"\b(?:large|enterprise|multinational)\b", re.IGNORECASE)),
)


def categorize_size(size: str | None) -> SizeCategory | None:
    """By the number of people, of a range by its upper end; else by a word; None if neither says."""
    if not size:
        return None
    people = [_people(size, found) for found in _NUMBER.finditer(size)]
    if people:
        most = max(people)
        return "small" if most <= SMALL else "medium" if most <= MEDIUM else "large"
    return next((name for name, words in _WORDS if words.search(size)), None)


def _people(size: str, found: re.Match[str]) -> float:
    digits, thousands, plus = found.groups()
    grouped = re.fullmatch(r"\d{1,3}(?:\D\d{3})+", digits)
    number = float(re.sub(r"\D", "", digits) if grouped else digits)
    number *= 1_000 if thousands else 1
    # "1,000+" and "over 50" are more than what they name.
    return number + 1 if plus or _MORE.search(size[: found.start()]) else number
