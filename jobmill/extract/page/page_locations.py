"""Find the job location on a page."""

from __future__ import annotations

import re

from jobmill.places import gazetteer, location_text

from .labelled_values import LabelledValue
from .page_metadata import PageMetadata
from .text_checks import EvidenceTally, contains_words, normalize
from .visible_lines import TextLine, lines_around

_STATE_CODES = "|".join(["PR", *(state.code for state in gazetteer.states("US", "CA", "AU"))])
_STATE_NAMES = "|".join(state.name.title() for state in gazetteer.states("US", "CA"))
_CITY = r"[A-Z][\w.'\u2019-]{1,25}(?:[ -][A-Z][\w.'\u2019-]{1,25}){0,3}"
_PATTERN = re.compile(
    rf"(?<![\w-]){_CITY}, ?(?:{_STATE_CODES}|{_STATE_NAMES})(?![\w-])(?: \d{{5}}(?:-\d{{4}})?)?"
    rf"|\bUS-[A-Z]{{2}}-{_CITY}"
)
# A cheap check before the pattern, which would be tried at each character.
_MAYBE_PLACE = re.compile(r", ?[A-Z]|US-[A-Z]")
_IN_TITLE = re.compile(r"\b(?:in|bei|à|en|te)\s+([^|:]{2,60}?)(?:\s*[|:]|\s+[-\u2013\u2014]\s|$)")
_NO_PLACE = re.compile(
    r"^(?:view|see|click|search|change|select|show|all locations)\b"
    r"|\b(?:jobs?|apply|login|resume|posted|salary|full[- ]time|part[- ]time)\b"
    r"|[@?!=]|https?:|\d{6}",
    re.IGNORECASE,
)
_NEVER_PLACE = re.compile(r"[@?!=]|https?:", re.IGNORECASE)
_MAP_LINK = re.compile(
    r"\s*[\[(|-]*\s*\b(?:view |see |show |get )?(?:on |it on |a )?(?:map|directions)\b.*$",
    re.IGNORECASE,
)
_COMMA = re.compile(r"[^\W\d_a-z][\w.'\u2019 -]{1,30}(?:, [^\W\d_a-z][\w.'\u2019 -]{1,30}){1,2}")
_BAR = re.compile(r"\s+[|•·\u2013\u2014-]\s+|\s*[|•·]\s*")
_ADDRESS_FIELDS = ("city", "state", "country")


def find_location(
    lines: list[TextLine],
    labelled: list[LabelledValue],
    metadata: PageMetadata,
    title: str,
    below: str | None,
) -> str | None:
    """The location in the words of the page; `below` is a candidate from the lines under the title."""
    tally = EvidenceTally()
    for entry in labelled:
        if entry.field == "location":
            _vote(tally, entry.value, "label", 4 * entry.confidence)
    if parts := _city_and_state(labelled):
        _vote(tally, parts, "parts", 3.5 if "," in parts else 3)
    for line in lines:
        _vote_line(tally, line)
    if metadata.place:
        _vote(tally, metadata.place, "meta", 1.5)
    for match in (*_PATTERN.finditer(metadata.title), *_PATTERN.finditer(metadata.description)):
        _vote(tally, match[0], "head pattern", 1.5)
    if match := _IN_TITLE.search(metadata.title):
        _vote(tally, match[1], "head", 1)
    _vote_near_title(tally, lines, normalize(title))
    if below:
        _vote(tally, below, "below", 2.1)
    _adjust(tally, metadata)
    return tally.best(2) or _location_placeholder(labelled)


def _location_placeholder(labelled: list[LabelledValue]) -> str | None:
    """A placeholder such as "Multiple locations", if that is all the labels say."""
    locations = (entry.value for entry in labelled if entry.field == "location")
    return next((words for words in locations if not location_text.names_place(words)), None)


def looks_like_place(words: str) -> bool:
    """Whether the text looks like a city and its state."""
    return bool(_PATTERN.fullmatch(words.strip()))


def _vote(tally: EvidenceTally, words: str, kind: str, weight: float) -> None:
    words = _MAP_LINK.sub("", words).strip(" .")
    if words.startswith("(") and words.endswith(")"):
        words = words[1:-1]
    # Labelled text is checked less than text that only looks like a place.
    no_place = _NEVER_PLACE if kind in ("label", "parts") else _NO_PLACE
    if 2 <= len(words) <= 120 and location_text.names_place(words) and not no_place.search(words):
        tally.add(words, kind, weight)


def _vote_line(tally: EvidenceTally, line: TextLine) -> None:
    if len(line.text) > 120:
        return
    for words, marked in line.parts:
        if "location" in marked and words[:1].isupper() and len(words) <= 80 and ":" not in words:
            _vote(tally, words, "mark", 2.5)
    if not _MAYBE_PLACE.search(line.text):
        return
    for match in _PATTERN.finditer(line.text):
        # A line with only the place is better evidence than a place within a sentence.
        alone = len(match[0]) > 0.8 * len(line.text)
        _vote(tally, match[0], "pattern", 1.5 if alone else 0.7)


def _vote_near_title(tally: EvidenceTally, lines: list[TextLine], title: str) -> None:
    """Count text that looks like a place right below the title."""
    for line in lines_around(lines, title, -1, 5):
        for words in (*_BAR.split(line.text[:200]), *(run.text for run in line.runs[:6])):
            if _COMMA.fullmatch(words.strip()):
                _vote(tally, words, "near", 1.2)


def _city_and_state(labelled: list[LabelledValue]) -> str | None:
    """The first labelled city, with the state and country labelled near it."""
    first = {
        name: next((entry for entry in labelled if entry.field == name), None)
        for name in _ADDRESS_FIELDS
    }
    city = first["city"]
    if not city:
        return None
    near = [
        entry for entry in first.values() if entry and abs(entry.line_index - city.line_index) < 12
    ]
    return location_text.format_address(*(entry.value for entry in near))


def _adjust(tally: EvidenceTally, metadata: PageMetadata) -> None:
    title, about = normalize(metadata.title), normalize(metadata.description)
    for key in tally.candidates():
        town = normalize(tally.texts[key].partition(",")[0])
        if contains_words(town, title):
            tally.adjust(key, "in title", 0.8)
        if contains_words(town, about):
            tally.adjust(key, "in meta", 0.4)
