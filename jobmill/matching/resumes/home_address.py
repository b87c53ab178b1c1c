"""Find the home city in the address at the top of a resume."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Iterable
from typing import Final

from jobmill.places import gazetteer, parsed_place, utc_offsets

from ..rules.working_hours import standard_offset
from .work_history import ROLE

MAX_LINE_LENGTH: Final = 160
PART: Final = re.compile(r"\s*[|\u2022\u00b7\t]\s*|\s{3,}|\s[-\u2013\u2014]\s")
LABEL: Final = re.compile(
    r"^(?:(?:home )?address|location|city|based in|lives? in|adresse|anschrift|wohnort|ville"
    r"|direcci\u00f3n)\s?:?\s+",
    re.IGNORECASE,
)
POSTCODE: Final = re.compile(r"\b(?:[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|\d{4,6}(?:-\d{4})?)\b")
CITY: Final = re.compile(r"[^\W\d_][^\d@/:]{1,40}")
PREFERRED_ZONES: Final = frozenset(
    ("America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles",
     "America/Toronto", "America/Vancouver", "America/Sao_Paulo", "Australia/Sydney",
     "Europe/Lisbon", "Europe/London", "Europe/Madrid", "Europe/Moscow", "Pacific/Auckland")
)  # fmt: skip
"""Chosen before other zones of the same country with the same hours."""


def find_home_city(lines: Iterable[str], name: str | None) -> str | None:
    """The city with its state or country, or a large city alone; None if nothing is certain."""
    for line in lines:
        for part in PART.split(line[:MAX_LINE_LENGTH].strip()):
            if city := _read_city(LABEL.sub("", part), name):
                return city
    return None


def find_time_zone(home_city: str) -> str | None:
    """The time zone of a city; None if its country or its hours are unknown."""
    places = parsed_place.parse_places(home_city)
    areas = [gazetteer.countries(area) for area in places[0].lies_in] if places else []
    countries = frozenset[str].intersection(*areas) if areas else frozenset[str]()
    offsets = utc_offsets.offsets_of_location(home_city)
    if len(countries) != 1 or not offsets:
        return None
    zones = [
        zone
        for zone in zoneinfo.available_timezones()
        if "/" in zone
        and gazetteer.country_of_time_zone(zone) == countries
        and standard_offset(zone) in offsets
    ]
    return min(zones, key=lambda zone: (zone not in PREFERRED_ZONES, zone), default=None)


def _read_city(part: str, name: str | None) -> str | None:
    words = [" ".join(POSTCODE.sub("", word).split()).strip(" .") for word in part.split(",")]
    words = [word for word in words if word]
    areas: list[str] = []
    while len(words) > 1 and len(areas) < 2 and gazetteer.find_area(words[-1]):
        if areas and gazetteer.is_city_and_area(gazetteer.canonical_name(words[-1])):
            break
        areas.insert(0, words.pop())
    if not words or not _is_city(words[-1], name):
        return None
    # Without a state or country, only a large city is certain.
    if not areas and not gazetteer.country_of_city(words[-1]):
        return None
    return ", ".join([words[-1], *areas])


def _is_city(text: str, name: str | None) -> bool:
    # "Dana Pell, MD" is a name with a degree, and "Registered Nurse, CA" is a title.
    if not CITY.fullmatch(text) or not text[0].isupper() or len(text.split()) > 4:
        return False
    return not ROLE.search(text) and text.casefold() != (name or "").casefold()
