"""Places as sites write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import cast

from . import html_text as texts

LONGEST = 2_000
NOWHERE = re.compile(
    r"(?:location|place)?:?\s*(?:|n/?a|none|null|nil|tbd|tbc|tba|unspecified|not (?:specified"
    r"|applicable|available)|unavailable|unknown|various|multiple|several|flexible"
    r"|other|all locations|[+\d ]*\d+\+?(?: (?:more|other))? ?(?:locations?|offices|cities"
    r"|standorte|sites|places|lieux|ubicaciones|more)?"
    r"|(?:multiple|various|several|many|different|verschiedene|mehrere|plusieurs"
    r"|varias) (?:locations?|cities|offices|sites|places|countries|standorte|sites|lieux"
    r"|ubicaciones|localidades))\.?",
    re.IGNORECASE,
)
# Never inside brackets: "Remote (US or Canada)" is one place.
OUTSIDE = r"(?![^()]*\))"
SEPARATOR = re.compile(
    rf"\s*(?:[;|•·\n\r]|(?<=\s)(?:[Oo]r|(?<!, )OR(?!\s+(?:U\.?S|United|\d))|oder"
    rf"|ou)(?=\s)){OUTSIDE}\s*"
)
SLASH = re.compile(rf"(?<=[^\W\d_]{{3}}) ?/ ?(?=[^\W\d_]{{3}}){OUTSIDE}| / {OUTSIDE}")
AND = re.compile(rf"\s+(?:and|&|und|et|y)\s+{OUTSIDE}")
# "and" is part of these names.
PAIRS = re.compile(
    r"trinidad|bosnia|antigua|kitts|vincent|newfoundland|tyne|brighton|jammu|andaman|turks|são tomé"
    r"|sao tome|wallis|dadra|hammersmith|kensington|windsor"
    r"|telford|redcar|bath|perth|dumfries|argyll|castilla|research|sales|science|arts",
    re.IGNORECASE,
)
METRO = re.compile(
    r"dallas ?/ ?f|minneapolis ?/ ?s|raleigh ?/ ?d|tampa ?/ ?s|seattle ?/ ?t", re.IGNORECASE
)
MODE = re.compile(
    r"(?:fully )?(?:remote|hybrid|on-?site|anywhere|any location|worldwide|home ?office|virtual)",
    re.IGNORECASE,
)


def split(text: object) -> tuple[str, ...]:
    """The places in one text ("Berlin; Paris", "Berlin | Paris", "NYC or SF");
    () for "N/A" and "2 Locations"."""
    if not isinstance(text, str) or not is_place(text := text[:LONGEST]):
        return ()
    return unique([place for part in SEPARATOR.split(text) for place in _split_softly(part)])


def unique(*places: object) -> tuple[str, ...]:
    """Texts, and lists of texts, as places without doubles, in order."""
    found: dict[str, str] = {}
    for place in _flat(places):
        name = (texts.line(place[:LONGEST]) or "").strip(" ,;|•·")
        if name and is_place(name):
            found.setdefault(name.casefold(), name)
    return tuple(found.values())


def address(city: object = None, region: object = None, country: object = None) -> str | None:
    """One line from the parts that are there, none said twice."""
    said: list[str] = []
    for part in unique(city, region, country):
        known = {word.strip().casefold() for one in said for word in one.split(",")}
        if part.casefold() not in known:
            said.append(part)
    return ", ".join(said) or None


def is_place(text: str) -> bool:
    """False for what stands where a place should: "N/A", "Multiple Locations", "3 Locations"."""
    text = text[:LONGEST].strip()
    return any(map(str.isalpha, text)) and not NOWHERE.fullmatch(text)


def _flat(places: Iterable[object]) -> Iterator[str]:
    for place in places:
        if isinstance(place, str):
            yield place
        elif isinstance(place, list | tuple):
            yield from (one for one in cast(Iterable[object], place) if isinstance(one, str))


def _split_softly(part: str) -> list[str]:
    """At slashes and "and", where they stand between places of one kind and not inside a name."""
    places = SLASH.split(part) if "/" in part and not METRO.search(part) else [part]
    if len(places) > 1 and any(MODE.fullmatch(place.strip()) for place in places):
        places = [part]
    return [one for place in places for one in _split_and(place)]


def _split_and(part: str) -> list[str]:
    places = AND.split(part)
    if len(places) < 2 or PAIRS.search(part):
        return [part]
    commas = ["," in place for place in places]
    alike = all(commas) or not any(commas[:-1])
    return places if alike and all(len(place.split()) <= 5 for place in places) else [part]
