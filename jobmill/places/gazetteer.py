"""Look up countries, states, cities and regions by name: what a name can mean, and its hours from UTC.

All names are in `gazetteer.txt`. A country is "US", a state "US-OR".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final, Literal, TypeAlias

from jobmill.plain_text import fold_case

Area: TypeAlias = frozenset[str]
"""All that a name can mean: "DE" is Germany or Delaware, "Europe" any country of it."""
UtcOffsets: TypeAlias = tuple[float, ...]
"""Hours from UTC in winter; a country that spans several time zones has all of them."""

LOCATION_NOISE: Final = frozenset(
    (
        "remote", "hybrid", "onsite", "on", "site", "in", "the", "work", "working", "based", "from", "home",
        "office", "hq", "headquarters", "area", "metro", "metropolitan", "greater", "city", "only", "friendly",
        "fully", "full", "anywhere", "worldwide", "global", "flexible", "wfh", "or", "and", "of", "multiple",
        "locations", "location", "various", "first", "possible", "option", "eligible", "zdalnie", "zdalna",
    )
)  # fmt: skip
"""Words beside a place name that do not say which place it is."""
REGION_NAMES: Final = frozenset(
    (
        "united states", "united kingdom", "europe", "emea", "apac", "amer", "americas", "latam", "canada",
        "germany", "france", "spain", "poland", "india", "ireland", "north america", "eastern europe", "asia",
    )
)  # fmt: skip
"""Countries and regions that postings add to a job title ("Account Executive, Germany")."""
_OTHER_COUNTRY_CODES: Final = {
    "USA": "US", "UK": "GB", "UAE": "AE", "GBR": "GB", "DEU": "DE", "IND": "IN", "CAN": "CA",
}  # fmt: skip
_COUNTRIES_WITH_STATE_CODES: Final = frozenset(("US", "CA"))
"""Where a location is usually written with the two letters of its state."""
_NAME: Final = re.compile(r"([^,/(]+)(?:\(([^)]*)\))?")
_Kind: TypeAlias = Literal["region", "country", "state", "city"]


@dataclass(frozen=True, slots=True)
class State:
    country: str
    code: str
    name: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """One place, or one name of it that is not an alias of another."""

    kind: _Kind
    codes: Area
    name: str
    aliases: tuple[str, ...]
    offsets: UtcOffsets


@dataclass(frozen=True, slots=True)
class _Tables:
    """The gazetteer by name. Some names are normalized, others canonical: see the functions below."""

    entries: list[_Entry]
    aliases: dict[str, str]
    codes: dict[str, Area]
    areas: dict[str, Area]
    """By normalized name."""
    cities: frozenset[str]
    """Normalized names."""
    countries: dict[str, Area]
    """By the canonical name of a city."""
    offsets: dict[str, set[UtcOffsets]]
    """By canonical name; several where places of one name are in different time zones."""


def normalize(text: str) -> str:
    """The words of a text, folded, without accents and punctuation."""
    return " ".join(_words(text))


def canonical_name(text: str) -> str:
    """The name under which a place is compared: "Greater München Area" is "munich"."""
    name = _without_noise(text)
    return _tables().aliases.get(name, name)


def find_area(name: str) -> Area:
    """What a name of a country, state or region can mean; a code only in capitals; empty if unknown."""
    code = _tables().codes.get(name.strip().replace(".", "")) or frozenset()
    return code | _tables().areas.get(normalize(name), frozenset())


def country_of_city(city: str) -> Area:
    """The country of a large city; empty if unknown, or if several countries have a city of that name."""
    return _tables().countries.get(canonical_name(city), frozenset())


def country_of_time_zone(zone: str) -> Area:
    """The country of a time zone such as Europe/Berlin, which is named after a city."""
    return country_of_city(zone.rsplit("/", 1)[-1].replace("_", " "))


def is_city_and_area(name: str) -> bool:
    """Whether a city has the same name as a state or country, such as New York and Singapore."""
    return name in _tables().cities and name in _tables().areas


def is_place_name(name: str) -> bool:
    """Whether this canonical name is in the gazetteer."""
    tables = _tables()
    return name in tables.cities or name in tables.areas or name in tables.offsets


def utc_offsets(name: str) -> UtcOffsets:
    """The hours of the place with this canonical name; empty if unknown or ambiguous."""
    offsets = _tables().offsets.get(name, ())
    return next(iter(offsets)) if len(offsets) == 1 else ()


def utc_offset_of_state(code: str) -> float | None:
    """The hours of a US state or Canadian province, by its code in capitals."""
    return _state_offsets().get(code)


def is_country_code(code: str) -> bool:
    return any("-" not in area for area in _tables().codes.get(code, ()))


def is_country_or_state(name: str) -> bool:
    """Whether this is the full name of a country or state; False for regions and codes."""
    return normalize(name) in _country_and_state_names()


def states(*of_countries: str) -> list[State]:
    """The states of these countries, with their usual names."""
    states_by_area: dict[str, State] = {}
    for entry in _tables().entries:
        for area in entry.codes if entry.kind == "state" else ():
            country, _, code = area.partition("-")
            if country in of_countries:
                states_by_area.setdefault(area, State(country, code, entry.name))
    return list(states_by_area.values())


def overlap(first: Area, second: Area) -> bool:
    """Whether two names can mean the same area, or one area inside the other."""
    return any(
        a == b or a.startswith(f"{b}-") or b.startswith(f"{a}-") for a in first for b in second
    )


def lies_within(area: Area, others: Iterable[Area]) -> bool:
    """Whether all that a name can mean lies in each of the others."""
    return all(
        any(code == outer or code.startswith(f"{outer}-") for outer in other)
        for other in others
        for code in area
    )


def countries(area: Iterable[str]) -> Area:
    """The countries of an area's states."""
    return frozenset(code.partition("-")[0] for code in area)


def hours_between(first: float, last: float) -> UtcOffsets:
    """Every hour from one offset to the other, so that people between them fit both."""
    low, high = min(first, last), max(first, last)
    steps = int(high - low) if high - low <= 24 else 0
    return tuple(dict.fromkeys([*(low + step for step in range(steps + 1)), high]))


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFD", fold_case(text))
    return re.findall(r"[^\W_]+", re.sub(r"[\u0300-\u036f.'\u2019]", "", plain))


def _without_noise(text: str) -> str:
    return " ".join(
        word for word in _words(text) if word not in LOCATION_NOISE and not word.isdigit()
    )


@cache
def _country_and_state_names() -> frozenset[str]:
    return frozenset(
        normalize(name)
        for entry in _tables().entries
        if entry.kind in ("country", "state")
        for name in (entry.name, *entry.aliases)
    )


@cache
def _state_offsets() -> dict[str, float]:
    return {
        area.rpartition("-")[2]: entry.offsets[0]
        for entry in _tables().entries
        if entry.kind == "state" and entry.offsets
        for area in entry.codes
        if countries({area}) <= _COUNTRIES_WITH_STATE_CODES
    }


@cache
def _tables() -> _Tables:
    text = (resources.files("jobmill.places") / "gazetteer.txt").read_text("utf-8")
    entries = list(_parse(text))
    aliases = {
        _without_noise(alias): _without_noise(entry.name)
        for entry in entries
        for alias in entry.aliases
    }
    codes: dict[str, Area] = {}
    areas: dict[str, Area] = {}
    offsets: dict[str, set[UtcOffsets]] = {}
    for entry in entries:
        for code in entry.codes if entry.kind in ("country", "state") else ():
            short = code.rpartition("-")[2]
            codes[short] = codes.get(short, frozenset()) | {code}
        for name in map(normalize, (entry.name, *entry.aliases)):
            if entry.kind == "region":
                areas[name] = entry.codes
            elif entry.kind != "city":
                areas[name] = areas.get(name, frozenset()) | entry.codes
        if entry.offsets:
            name = _without_noise(entry.name)
            offsets.setdefault(aliases.get(name, name), set()).add(entry.offsets)
    codes |= {other: frozenset({code}) for other, code in _OTHER_COUNTRY_CODES.items()}
    areas["washington"] |= {"US-DC"}
    cities = frozenset(normalize(entry.name) for entry in entries if entry.kind == "city")
    return _Tables(
        entries, aliases, codes, areas, cities, _countries_by_city(entries, aliases), offsets
    )


def _countries_by_city(entries: list[_Entry], aliases: dict[str, str]) -> dict[str, Area]:
    """By canonical name. A country without cities in the gazetteer counts as one: time zones such as
    Europe/Malta are named after it."""
    with_cities = {code for entry in entries if entry.kind == "city" for code in entry.codes}
    countries_by_name: dict[str, Area] = {}
    for entry in entries:
        if entry.kind == "city" or (entry.kind == "country" and not entry.codes & with_cities):
            name = _without_noise(entry.name)
            name = aliases.get(name, name)
            countries_by_name[name] = countries_by_name.get(name, frozenset()) | (
                entry.codes or {"?"}
            )
    return {
        name: codes
        for name, codes in countries_by_name.items()
        if len(codes) == 1 and "?" not in codes
    }


def _parse(text: str) -> Iterator[_Entry]:
    """The entries of the file, regions last: their countries come from the lines between."""
    region_lines: list[list[str]] = []
    members: dict[str, set[str]] = {}
    country = ""
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        columns = [column.strip() for column in line.split("|")]
        if line.startswith("+"):
            region_lines.append(columns)
        elif line.startswith(" "):
            hours, states, cities = columns
            for state in filter(None, (state.strip() for state in states.split(","))):
                code, _, names = state.partition(" ")
                yield from _entries("state", frozenset({f"{country}-{code}"}), names, hours)
            yield from _entries("city", frozenset({country}), cities, hours)
        else:
            country, region, hours, names = columns
            members.setdefault(region, set()).add(country)
            yield from _entries("country", frozenset({country}), names, hours)
    for _, regions, hours, names in region_lines:
        parts = [members.get(region.strip(), ()) for region in regions.split(",")]
        codes = frozenset(code for part in parts for code in part)
        yield from _entries("region", codes, names, hours)


def _entries(kind: _Kind, codes: Area, names: str, hours: str) -> Iterator[_Entry]:
    numbers = [float(hour) for hour in hours.split()]
    offsets = hours_between(numbers[0], numbers[-1]) if numbers else ()
    for match in _NAME.finditer(names):
        name = match[1].strip()
        if name:
            aliases = tuple(alias.strip() for alias in (match[2] or "").split(",") if alias)
            # A city that other countries have, too, does not tell its country.
            country_codes = frozenset[str]() if name.endswith("?") else codes
            yield _Entry(kind, country_codes, name.rstrip("?"), aliases, offsets)
