"""Whether two postings are about the same place, as far as their words tell."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from .company_names import fold

Relation: TypeAlias = Literal["same", "near", "unknown", "other"]

# Words beside a place that do not say which.
NOISE: Final = frozenset(
    (
        "remote", "hybrid", "onsite", "on", "site", "in", "the", "work", "working", "based", "from", "home",
        "office", "hq", "headquarters", "area", "metro", "metropolitan", "greater", "city", "only", "friendly",
        "fully", "full", "anywhere", "worldwide", "global", "flexible", "wfh", "or", "and", "of", "multiple",
        "locations", "location", "various", "first", "possible", "option", "eligible", "zdalnie", "zdalna",
    )
)  # fmt: skip
_ALIASES: Final = {
    "nyc": "new york", "ny": "new york", "manhattan": "new york", "sf": "san francisco",
    "san francisco bay": "san francisco", "bay": "san francisco", "sea": "seattle",
    "us": "united states", "usa": "united states", "u s": "united states", "america": "united states",
    "united states america": "united states", "uk": "united kingdom", "gb": "united kingdom",
    "great britain": "united kingdom", "england": "united kingdom", "bangalore": "bengaluru",
    "munchen": "munich", "koln": "cologne", "wien": "vienna", "warszawa": "warsaw", "praha": "prague",
    "lisboa": "lisbon", "milano": "milan", "roma": "rome", "geneve": "geneva", "zuerich": "zurich",
    "goteborg": "gothenburg", "københavn": "copenhagen", "deutschland": "germany",
    "polska": "poland", "osterreich": "austria", "schweiz": "switzerland", "espana": "spain",
    "muenchen": "munich", "washington dc": "washington", "washington d c": "washington",
    "european union": "europe", "eu": "europe", "gurgaon": "gurugram",
}  # fmt: skip
REGIONS: Final = frozenset(
    (
        "united states", "united kingdom", "europe", "emea", "apac", "amer", "americas", "latam", "canada",
        "germany", "france", "spain", "poland", "india", "ireland", "north america", "eastern europe", "asia",
    )
)  # fmt: skip
_BETWEEN: Final = re.compile(r"[;|•\n]|\s/\s|\s+or\s+", re.IGNORECASE)
_COUNTRY_FIRST: Final = re.compile(r"^\s*([A-Z]{2,3})\s*-\s*(.+)$")


@dataclass(frozen=True, slots=True)
class Places:
    """The places of a posting: `heads` are the most exact names, `parts` these and all around them."""

    heads: frozenset[str]
    parts: frozenset[str]
    text: str
    """What it says, folded: equal words are one place even if we know no name in them."""
    postcodes: frozenset[str] = frozenset()


@lru_cache(maxsize=65_536)
def read(locations: tuple[str, ...]) -> Places:
    """The places in a posting's words."""
    heads: set[str] = set()
    parts: set[str] = set()
    for one in (place for text in locations for place in _BETWEEN.split(text)):
        names = tuple(name for name in _names(one) if name)
        heads.update(names[:1])
        parts.update(names)
    words = sorted(_words(" ".join(locations)))
    codes = frozenset(word for word in words if word.isdigit() and len(word) > 3)
    return Places(frozenset(heads), frozenset(parts), " ".join(words), codes)


def relate(one: Places, other: Places) -> Relation:
    """Same words or names; near where one lies in the other or they share one; other where both say
    something else; unknown where one says nothing that we can compare."""
    if one.text == other.text:
        return "same" if one.text else "unknown"
    if not one.heads or not other.heads:
        return "unknown"
    streets = one.postcodes and other.postcodes and not one.postcodes & other.postcodes
    if one.heads == other.heads and not streets:
        return "same"
    return "near" if one.heads & other.parts or other.heads & one.parts else "other"


def name(text: str) -> str:
    """One place's name, in the form in which names are compared."""
    words = " ".join(word for word in _words(text) if word not in NOISE and not word.isdigit())
    return _ALIASES.get(words, words)


def vocabulary(places: Iterable[Places]) -> frozenset[str]:
    """Names by which a place can be told in a title; the short codes of regions are words, too."""
    return frozenset(part for one in places for part in one.parts if len(part) > 2) | REGIONS


def _names(text: str) -> tuple[str, ...]:
    """From the exact to the wide: "US-Boston" is Boston, US."""
    parts = re.split(r"[,()\[\]]|\s-\s", text)
    countries = [found for part in parts if (found := _COUNTRY_FIRST.match(part))]
    exact = [_COUNTRY_FIRST.sub(r"\2", part) for part in parts]
    return tuple(name(part) for part in (*exact, *(found[1] for found in countries)))


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFD", fold(text))
    return re.findall(r"[^\W_]+", re.sub(r"[\u0300-\u036f.'\u2019]", "", plain))
