"""Split, deduplicate and join locations as job sites write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, cast

from jobmill.plain_text import single_line

_MAX_LENGTH: Final = 2_000
_PLACEHOLDER: Final = re.compile(
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
_OUTSIDE_BRACKETS: Final = r"(?![^()]*\))"
_SEPARATOR: Final = re.compile(
    rf"\s*(?:[;|•·\n\r]|(?<=\s)(?:[Oo]r|(?<!, )OR(?!\s+(?:U\.?S|United|\d))|oder"
    rf"|ou)(?=\s)){_OUTSIDE_BRACKETS}\s*"
)
_SLASH: Final = re.compile(
    rf"(?<=[^\W\d_]{{3}}) ?/ ?(?=[^\W\d_]{{3}}){_OUTSIDE_BRACKETS}| / {_OUTSIDE_BRACKETS}"
)
_AND: Final = re.compile(rf"\s+(?:and|&|und|et|y)\s+{_OUTSIDE_BRACKETS}")
_NAMES_WITH_AND: Final = re.compile(
    r"trinidad|bosnia|antigua|kitts|vincent|newfoundland|tyne|brighton|jammu|andaman|turks|são tomé"
    r"|sao tome|wallis|dadra|hammersmith|kensington|windsor"
    r"|telford|redcar|bath|perth|dumfries|argyll|castilla|research|sales|science|arts",
    re.IGNORECASE,
)
_METRO_WITH_SLASH: Final = re.compile(
    r"dallas ?/ ?f|minneapolis ?/ ?s|raleigh ?/ ?d|tampa ?/ ?s|seattle ?/ ?t", re.IGNORECASE
)
_ARRANGEMENT: Final = re.compile(
    r"(?:fully )?(?:remote|hybrid|on-?site|anywhere|any location|worldwide|home ?office|virtual)",
    re.IGNORECASE,
)


def split_locations(text: object) -> tuple[str, ...]:
    """The places in one text ("Berlin; Paris", "Berlin | Paris", "NYC or SF"); () for "N/A" and
    "2 Locations"."""
    if not isinstance(text, str) or not names_place(text := text[:_MAX_LENGTH]):
        return ()
    return unique_locations(
        [place for part in _SEPARATOR.split(text) for place in _split_at_slashes(part)]
    )


def unique_locations(*locations: object) -> tuple[str, ...]:
    """Texts and lists of texts as one tuple of places, in order, without duplicates and placeholders."""
    unique: dict[str, str] = {}
    for location in _flatten(locations):
        name = (single_line(location[:_MAX_LENGTH]) or "").strip(" ,;|•·")
        if name and names_place(name):
            unique.setdefault(name.casefold(), name)
    return tuple(unique.values())


def format_address(
    city: object = None, region: object = None, country: object = None
) -> str | None:
    """One line from the parts that are present, without repeating any."""
    parts: list[str] = []
    for part in unique_locations(city, region, country):
        words = {word.strip().casefold() for earlier in parts for word in earlier.split(",")}
        if part.casefold() not in words:
            parts.append(part)
    return ", ".join(parts) or None


def names_place(text: str) -> bool:
    """False for a placeholder in the location field: "N/A", "Multiple Locations", "3 Locations"."""
    text = text[:_MAX_LENGTH].strip()
    return any(map(str.isalpha, text)) and not _PLACEHOLDER.fullmatch(text)


def _flatten(locations: Iterable[object]) -> Iterator[str]:
    for location in locations:
        if isinstance(location, str):
            yield location
        elif isinstance(location, list | tuple):
            members = cast(Iterable[object], location)
            yield from (member for member in members if isinstance(member, str))


def _split_at_slashes(part: str) -> list[str]:
    """Split at slashes and "and" between places, not inside a name and not before an arrangement."""
    places = _SLASH.split(part) if "/" in part and not _METRO_WITH_SLASH.search(part) else [part]
    if len(places) > 1 and any(_ARRANGEMENT.fullmatch(place.strip()) for place in places):
        places = [part]
    return [name for place in places for name in _split_at_and(place)]


def _split_at_and(part: str) -> list[str]:
    places = _AND.split(part)
    if len(places) < 2 or _NAMES_WITH_AND.search(part):
        return [part]
    commas = ["," in place for place in places]
    alike = all(commas) or not any(commas[:-1])
    return places if alike and all(len(place.split()) <= 5 for place in places) else [part]
