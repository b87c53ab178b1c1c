"""Parse a location into a city and the areas around it, and compare it with another one:
"Portland, Oregon, USA" is "Portland, OR" and not "Portland, ME"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from . import gazetteer
from .gazetteer import Area

# "OR" between two places is never in capitals: that is Oregon.
_SEPARATOR: Final = re.compile(r"[;|•·\n]|\s/\s|\s(?:or|and|&)\s|(?<=[^\W\d_]{3})/(?=[^\W\d_]{3})")
_PART_SEPARATOR: Final = re.compile(r"[,()\[\]:]|\s[-\u2013\u2014]+\s|(?<=^[A-Z]{2})-|(?<=^[A-Z]{3})-|(?<=-[A-Z]{2})-")  # fmt: skip
_DISTRICT_PREFIX: Final = re.compile(r"^(?:downtown|central|inner|raum|gro(?:ss|ß)raum|region) ")
_CODE_LAST: Final = re.compile(r"(.+?[^\W\d_]{3,})\s+([A-Z]{2})")
_POSTCODE_OR_COUNTY: Final = re.compile(r"\s*\b\d[\d-]{3,}$|^.* County$")
_MAX_LENGTH: Final = 500


@dataclass(frozen=True, slots=True)
class ParsedPlace:
    """A city, and the areas that the text puts around it; either may be missing."""

    city: str
    areas: tuple[Area, ...]

    @property
    def lies_in(self) -> tuple[Area, ...]:
        """The areas in the text, and the country of a large city unless the text contradicts it."""
        country = gazetteer.country_of_city(self.city)
        return (*self.areas, country) if country and agree(self.areas, (country,)) else self.areas


@lru_cache(maxsize=65_536)
def parse_places(text: str) -> tuple[ParsedPlace, ...]:
    """The places in a text; none for "Remote"."""
    parts = _SEPARATOR.split(text[:_MAX_LENGTH])
    return tuple(place for part in parts for place in _parse_part(part))


def parse_all(texts: Iterable[str | None]) -> tuple[ParsedPlace, ...]:
    """The places in all texts, each once."""
    return tuple(dict.fromkeys(place for text in texts if text for place in parse_places(text)))


def is_in(place: ParsedPlace, home: ParsedPlace) -> bool:
    """Whether a place is in the home city, or in the home area if no home city is named."""
    if not home.city:
        return any(gazetteer.lies_within(area, home.areas) for area in place.lies_in)
    return _is_same_city(place.city, home) and agree(place.areas, home.areas)


def is_any_in(texts: Iterable[str | None], cities: Iterable[str]) -> bool:
    """Whether one of these texts names one of these cities."""
    places = parse_all(texts)
    homes = parse_all(cities)
    return any(is_in(place, home) for place in places for home in homes)


def agree(first: Iterable[Area], second: Iterable[Area]) -> bool:
    """Whether the areas around one place do not contradict those around the other."""
    others = tuple(second)
    return all(gazetteer.overlap(a, b) for a in first for b in others)


def _is_same_city(city: str, home: ParsedPlace) -> bool:
    """Also a part of it: "Berlin-Mitte", "Downtown Portland"; "Portland Maine" is another city."""
    bare = _DISTRICT_PREFIX.sub("", city)
    rest = bare.removeprefix(f"{home.city} ")
    if bare == home.city or rest == bare:
        return bare == home.city
    area = gazetteer.find_area(rest)
    return not area or agree((area,), home.areas)


def _parse_part(text: str) -> list[ParsedPlace]:
    """Usually one place; a second city, or a country that cannot contain the first city, starts another."""
    places = [ParsedPlace("", ())]
    for part in _split_parts(text):
        last = places[-1]
        name = gazetteer.canonical_name(part)
        area = (
            gazetteer.find_area(part)
            or gazetteer.find_area(part.upper() if last.city else name)
            or gazetteer.find_area(name)
        )
        is_city = bool(name) and (not area or _is_city_here(name, last))
        if (is_city and last.city) or (area and not _can_contain(area, last)):
            places.append(last := ParsedPlace("", ()))
        places[-1] = ParsedPlace(
            name if is_city else last.city, (*last.areas, area) if area else last.areas
        )
    return [place for place in places if place.city or place.areas]


def _is_city_here(name: str, last: ParsedPlace) -> bool:
    """New York is a city at the start and after another large city, else the state around a city."""
    if not gazetteer.is_city_and_area(name):
        return False
    return not last.city or (bool(gazetteer.country_of_city(last.city)) and name != "washington")


def _can_contain(area: Area, last: ParsedPlace) -> bool:
    # A state overrides the country of the large city that has the same name.
    areas = last.areas if any("-" in code for code in area) else last.lies_in
    return agree(areas, (area,))


def _split_parts(text: str) -> list[str]:
    parts: list[str] = []
    for part in _PART_SEPARATOR.split(text):
        match = _CODE_LAST.fullmatch(part.strip())
        parts += [match[1], match[2]] if match and gazetteer.find_area(match[2]) else [part.strip()]
    # A postcode follows the state; a county says less than the state after it.
    bare = (_POSTCODE_OR_COUNTY.sub("", part) for part in parts)
    return [part for part in bare if part]
