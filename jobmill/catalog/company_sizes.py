"""How large a company is, from the words in which it says so."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

SizeCategory: TypeAlias = Literal["large", "medium", "small"]

SMALL: Final = 50
"""The most people a small company has."""
MEDIUM: Final = 1_000
"""The most people a medium company has."""

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
    """The size by the number of people, for a range by its upper end; otherwise by a word such as
    "startup"; None if neither is given."""
    if not size:
        return None
    people = [_people(size, match) for match in _NUMBER.finditer(size)]
    if people:
        most = max(people)
        return "small" if most <= SMALL else "medium" if most <= MEDIUM else "large"
    return next((name for name, words in _WORDS if words.search(size)), None)


def _people(size: str, match: re.Match[str]) -> float:
    digits, thousands, plus = match.groups()
    grouped = re.fullmatch(r"\d{1,3}(?:\D\d{3})+", digits)
    number = float(re.sub(r"\D", "", digits) if grouped else digits)
    number *= 1_000 if thousands else 1
    # "1,000+" and "over 50" mean more than the number.
    return number + 1 if plus or _MORE.search(size[: match.start()]) else number
