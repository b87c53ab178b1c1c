"""Whether a place is somebody's: "Portland, Oregon, USA" is "Portland, OR" and not "Portland, ME"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from jobmill.catalog import place_comparison as words
from jobmill.matching.rules.geography import Area

from . import geography

# "OR" between two places is never in capitals: that is Oregon.
_BETWEEN: Final = re.compile(r"[;|•·\n]|\s/\s|\s(?:or|and|&)\s|(?<=[^\W\d_]{3})/(?=[^\W\d_]{3})")
_PARTS: Final = re.compile(r"[,()\[\]:]|\s[-\u2013\u2014]+\s|(?<=^[A-Z]{2})-|(?<=^[A-Z]{3})-|(?<=-[A-Z]{2})-")  # fmt: skip
_AROUND: Final = re.compile(r"^(?:downtown|central|inner|raum|gro(?:ss|ß)raum|region) ")
_CODE_LAST: Final = re.compile(r"(.+?[^\W\d_]{3,})\s+([A-Z]{2})")


@dataclass(frozen=True, slots=True)
class Place:
    """A city, and what is said of where it lies; either may be missing."""

    city: str
    areas: tuple[Area, ...]

    @property
    def is_said(self) -> bool:
        return bool(self.city or self.areas)

    @property
    def lies_in(self) -> tuple[Area, ...]:
        """As said, and as everybody knows of a large city where that is no contradiction."""
        known = geography.around(self.city)
        return (*self.areas, known) if known and agree(self.areas, (known,)) else self.areas


@lru_cache(maxsize=65_536)
def read(text: str) -> tuple[Place, ...]:
    """The places in a text, one or several; none for "Remote"."""
    return tuple(place for part in _BETWEEN.split(text[:500]) for place in _read(part))


def read_all(texts: Iterable[str | None]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys(place for text in texts if text for place in read(text)))


def is_in(place: Place, home: Place) -> bool:
    """Whether a place is the home city, as far as its words tell; a country alone is not."""
    if not home.city:
        return any(geography.within(area, home.areas) for area in place.lies_in)
    return _is_same_city(place.city, home) and agree(place.areas, home.areas)


def _is_same_city(city: str, home: Place) -> bool:
    """Also a part of it: "Berlin-Mitte", "Downtown Portland"; "Portland Maine" is another one."""
    bare = _AROUND.sub("", city)
    behind = bare.removeprefix(f"{home.city} ")
    if bare == home.city or behind == bare:
        return bare == home.city
    area = geography.area(behind)
    return not area or agree((area,), home.areas)


def is_any_in(texts: Iterable[str | None], cities: Iterable[str]) -> bool:
    """Whether one of these texts names one of these cities."""
    spots = read_all(texts)
    homes = read_all(cities)
    return any(is_in(spot, home) for spot in spots for home in homes)


def agree(one: Iterable[Area], other: Iterable[Area]) -> bool:
    """Whether nothing said of one place contradicts what is said of the other."""
    others = tuple(other)
    return all(geography.overlap(a, b) for a in one for b in others)


def _read(text: str) -> list[Place]:
    """Usually one; a second city, or a country that cannot be around the first, begins another."""
    found = [Place("", ())]
    for part in _split(text):
        last = found[-1]
        name = words.name(part)
        area = geography.area(part) or geography.area(part.upper() if last.city else name)
        area = area or geography.area(name)
        is_city = bool(name) and (not area or _is_also_a_city(name, last))
        if (is_city and last.city) or (area and not _is_around(area, last)):
            found.append(last := Place("", ()))
        found[-1] = Place(
            name if is_city else last.city, (*last.areas, area) if area else last.areas
        )
    return [place for place in found if place.is_said]


def _is_also_a_city(name: str, last: Place) -> bool:
    """New York is a city at the beginning and behind another large city, else the state around one."""
    if name not in geography.ALSO_CITIES:
        return False
    return not last.city or (bool(geography.around(last.city)) and name != "washington")


def _is_around(area: Area, last: Place) -> bool:
    # A state is right about its city, whatever large city has the same name.
    known = last.areas if any("-" in code for code in area) else last.lies_in
    return agree(known, (area,))


def _split(text: str) -> list[str]:
    parts: list[str] = []
    for part in _PARTS.split(text):
        ends = _CODE_LAST.fullmatch(part.strip())
        parts += [ends[1], ends[2]] if ends and geography.area(ends[2]) else [part.strip()]
    # A postcode stands behind the state; a county says less than what stands around it.
    bare = (re.sub(r"\s*\b\d[\d-]{3,}$|^.* County$", "", part) for part in parts)
    return [part for part in bare if part]
