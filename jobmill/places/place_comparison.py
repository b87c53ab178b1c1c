"""Compare the places of two postings by the words of their locations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from .gazetteer import REGION_NAMES, canonical_name, normalize

Relation: TypeAlias = Literal["same", "near", "unknown", "other"]

_SEPARATOR: Final = re.compile(r"[;|•\n]|\s/\s|\s+or\s+", re.IGNORECASE)
_PART_SEPARATOR: Final = re.compile(r"[,()\[\]]|\s-\s")
_COUNTRY_FIRST: Final = re.compile(r"^\s*([A-Z]{2,3})\s*-\s*(.+)$")


@dataclass(frozen=True, slots=True)
class PostingPlaces:
    """The places of a posting, as canonical names."""

    cities: frozenset[str]
    """The most exact name of each place; a country where no city is named."""
    names: frozenset[str]
    """Those, and the areas around them."""
    text: str
    """All words, normalized and sorted: equal words are the same place even if no name is known."""
    postcodes: frozenset[str] = frozenset()


@lru_cache(maxsize=65_536)
def read_places(locations: tuple[str, ...]) -> PostingPlaces:
    """The places in the locations of a posting."""
    cities: set[str] = set()
    names: set[str] = set()
    for place in (place for text in locations for place in _SEPARATOR.split(text)):
        place_names = tuple(name for name in _names(place) if name)
        cities.update(place_names[:1])
        names.update(place_names)
    words = sorted(normalize(" ".join(locations)).split())
    postcodes = frozenset(word for word in words if word.isdigit() and len(word) > 3)
    return PostingPlaces(frozenset(cities), frozenset(names), " ".join(words), postcodes)


def compare(first: PostingPlaces, second: PostingPlaces) -> Relation:
    """Returns "same" for equal words or names; "near" where one lies in the other or they share a place;
    "other" where both name different places; "unknown" where one names none."""
    if first.text == second.text:
        return "same" if first.text else "unknown"
    if not first.cities or not second.cities:
        return "unknown"
    other_street = first.postcodes and second.postcodes and not first.postcodes & second.postcodes
    if first.cities == second.cities and not other_street:
        return "same"
    return "near" if first.cities & second.names or second.cities & first.names else "other"


def title_vocabulary(places: Iterable[PostingPlaces]) -> frozenset[str]:
    """Names that mean a place when they stand in a job title: those of the postings, and regions."""
    return (
        frozenset(name for place in places for name in place.names if len(name) > 2) | REGION_NAMES
    )


def _names(text: str) -> tuple[str, ...]:
    """From the exact name to the widest: "US-Boston" is Boston, US."""
    parts = _PART_SEPARATOR.split(text)
    countries = [match[1] for part in parts if (match := _COUNTRY_FIRST.match(part))]
    exact = [_COUNTRY_FIRST.sub(r"\2", part) for part in parts]
    return tuple(canonical_name(part) for part in (*exact, *countries))
