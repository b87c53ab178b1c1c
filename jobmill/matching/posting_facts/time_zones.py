"""Read a team's hours from UTC, from names of time zones and from known places. Daylight saving is
ignored."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from jobmill.places import gazetteer, utc_offsets

from .quoted_lines import quote_line

UtcOffsets: TypeAlias = tuple[float, ...]

WORDS: dict[str, UtcOffsets] = {
    "pacific": (-8.0,), "mountain": (-7.0,), "central": (-6.0,), "eastern": (-5.0,),
    "pst": (-8.0,), "pdt": (-8.0,), "pt": (-8.0,), "mst": (-7.0,), "mdt": (-7.0,), "mt": (-7.0,),
    "cst": (-6.0,), "cdt": (-6.0,), "ct": (-6.0,), "est": (-5.0,), "edt": (-5.0,), "et": (-5.0,),
    "ast": (-4.0,), "brt": (-3.0,), "art": (-3.0,), "gmt": (0.0,), "utc": (0.0,), "bst": (0.0,),
    "wet": (0.0,), "cet": (1.0,), "cest": (1.0,), "mez": (1.0,), "eet": (2.0,), "eest": (2.0,),
    "sast": (2.0,), "msk": (3.0,), "ist": (5.5,), "sgt": (8.0,), "hkt": (8.0,), "jst": (9.0,),
    "kst": (9.0,), "aest": (10.0,), "aedt": (10.0,), "nzst": (12.0,), "nzdt": (12.0,),
    "us": (-8.0, -5.0), "american": (-8.0, -5.0), "european": (0.0, 2.0), "emea": (0.0, 3.0),
    "uk": (0.0,), "apac": (5.0, 10.0),
}  # fmt: skip
EAST_WEST = "(?:[Pp]acific|[Mm]ountain|[Cc]entral|[Ee]astern)"
CODE = (
    r"(?:[PMCE][SD]T|[PMCE]T|AST|BRT|ART|GMT|UTC|BST|WET|CES?T|MEZ|EES?T|SAST|MSK|IST|SGT|HKT|JST|KST"
    r"|AE[SD]T|NZ[SD]T)"
)
OFFSET = r"(?:UTC|GMT) ?(?P<{0}>[+\-\u2212\u2013] ?\d{{1,2}}(?::?[0345]{{2}})?)"
STATED = re.compile(
    rf"{OFFSET.format('low')}(?:\s*(?:to|and|[-\u2013\u2014/]|through|until)\s*"
    rf"(?:{OFFSET.format('high')}|(?P<bare>[+\-\u2212]\d{{1,2}})))?"
    rf"|\b(?P<one>{CODE}|{EAST_WEST})(?:(?: (?:[Ss]tandard |[Dd]aylight )?[Tt]ime)?(?: ?\([A-Z]+\))?"
    rf"(?: ?(?:/|to|or|and|through|[-\u2013]) ?)(?P<two>{CODE}|{EAST_WEST}))?\b"
    r"|\b(?P<region>US|U\.S\.|American|European|EMEA|UK|APAC)[- ](?:based )?"
    r"(?=(?:business |working |core )?(?:hours|time ?-?zones?|time\b))"
)
ABOUT_HOURS = re.compile(
    r"\b(?:hours?|overlap\w*|time ?-?zones?|standard time|core|schedule|shifts?|work(?:ing)? (?:in|on|from"
    r"|within)|within|between|\u00b1|arbeitszeit\w*|based)\b",
    re.IGNORECASE,
)
NAMED = re.compile(r"\s?(?:\w+ )?time\b|\s?hours\b", re.IGNORECASE)
NOT_HOURS = re.compile(
    r"\b(?:deadline|apply by|applications? (?:close|must|will)|closes?|submit|webinar|call us"
    r"|phone|support line|posted|updated)\b",
    re.IGNORECASE,
)
CONTEXT_LENGTH = 60


def offsets_from_text(text: str) -> tuple[UtcOffsets, str]:
    """The offsets at which the text says the team works, and the words that say so."""
    for match in STATED.finditer(text):
        around = text[max(0, match.start() - CONTEXT_LENGTH) : match.end() + CONTEXT_LENGTH]
        if NOT_HOURS.search(around) or not ABOUT_HOURS.search(around):
            continue
        # "Central" and similar names are also everyday words.
        if (match["one"] or "UTC").isupper() or NAMED.match(text, match.end()):
            return _stated_offsets(match), quote_line(text, *match.span())
    return (), ""


def offsets_from_places(places: Iterable[str]) -> tuple[UtcOffsets, str]:
    """The offsets of the known places, and these places. Unknown places are skipped."""
    offsets = [
        (zones, place) for place in places if (zones := utc_offsets.offsets_of_location(place))
    ]
    hours = sorted({hour for zones, _ in offsets for hour in zones})
    return tuple(hours), "; ".join(place for _, place in offsets)


def _stated_offsets(match: re.Match[str]) -> UtcOffsets:
    if match["low"]:
        low = _parse_offset(match["low"])
        high = match["high"] or match["bare"]
        return gazetteer.hours_between(low, _parse_offset(high)) if high else (low,)
    if match["region"]:
        return gazetteer.hours_between(*_ends(WORDS[match["region"].replace(".", "").lower()]))
    zone = WORDS[match["one"].lower()]
    return (
        gazetteer.hours_between(zone[0], WORDS[match["two"].lower()][0]) if match["two"] else zone
    )


def _parse_offset(offset: str) -> float:
    sign = -1 if offset[0] in "-\u2212\u2013" else 1
    digits = offset[1:].strip()
    hours, _, minutes = digits.partition(":")
    return sign * (int(hours[:2]) + int(minutes or hours[2:] or 0) / 60)


def _ends(zones: UtcOffsets) -> tuple[float, float]:
    return zones[0], zones[-1]
