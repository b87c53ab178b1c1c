"""When a page says that it was posted."""

from __future__ import annotations

import datetime as dt
import re

from ..fields import dates
from . import text_lines
from .label_vocabulary import FieldName
from .labelled_values import LabelledValue
from .text_lines import TextLine

_POSTED_WORDS = (
    "posted", "published", "listed", "added", "veröffentlicht", "erschienen", "eingestellt",
    "publié", "publicad", "pubblicat", "geplaatst", "publicerad",
)  # fmt: skip
_POSTED = re.compile(
    r"\b(?:(?:re)?posted|published|listed|added|veröffentlicht|erschienen|eingestellt|publiée?|"
    r"publicad[oa]|pubblicat[oa]|geplaatst|publicerad)\b\s*(?:date|on|am|le|el|il|op|"
    r"em)?[:\s]*(.{3,40})$",
    re.IGNORECASE,
)
# Old pages write years in two digits; `dates` leaves those alone, as it cannot know which part is
# the year.
_SHORT_YEARS = (
    (re.compile(r"(?<![\d/.-])(\d{1,2})([/-])(\d{1,2})\2(\d\d)(?![\d/-])"), r"\1\2\3\g<2>20\4"),
    (re.compile(r"\b(\d{1,2})([ -])([A-Za-z]{3,9})\2'?(\d\d)(?![\d:/-])"), r"\1 \3 20\4"),
    (re.compile(r"\b([A-Za-z]{3,9}\.? \d{1,2})(?:, ?'?| '|-)(\d\d)(?![\d:/-])"), r"\1, 20\2"),
)
_BY_AUTHOR_ON_DATE = re.compile(r"^(?:\w+ )?by .{2,60}? on (.{5,30})$", re.IGNORECASE)
_SEPARATORS = " .|-\u2013•"


def find_posted_date(
    top: list[TextLine], pairs: list[LabelledValue], times: set[str], *, day_first: bool
) -> dt.datetime | None:
    """The day it was posted: what a label says, else a line, a mark or a time element; where the
    page has only a day of its last change, that: boards renew what they show."""
    short = [line for line in top if len(line.text) <= 100]
    telling = text_lines.lines_containing(short, _POSTED_WORDS)
    said = [found[1] for line in telling if (found := _POSTED.search(line.text))]
    said += [
        found[1]
        for line in text_lines.lines_containing(short, ("by ",))
        if (found := _BY_AUTHOR_ON_DATE.match(line.text))
    ]
    marked = [words for line in short for words, marks in line.parts if "posted" in marks]
    # One time on the whole page is its own; among several it is anybody's.
    timed = times if len(times) == 1 else ()
    words = (
        *_labelled_texts(pairs, "posted"),
        *said,
        *marked,
        *timed,
        *_labelled_texts(pairs, "updated"),
    )
    return _first_date(words, day_first=day_first)


def find_updated_date(pairs: list[LabelledValue], *, day_first: bool) -> dt.datetime | None:
    """The day of its last change, if a label says it."""
    return _first_date(_labelled_texts(pairs, "updated"), day_first=day_first)


def _labelled_texts(pairs: list[LabelledValue], name: FieldName) -> tuple[str, ...]:
    return tuple(pair.value for pair in pairs if pair.field == name)


def _first_date(words: tuple[str, ...], *, day_first: bool) -> dt.datetime | None:
    found = (
        dates.parse_date(_with_century(one.strip(_SEPARATORS)), day_first=day_first)
        for one in words
    )
    return next((day for day in found if day), None)


def _with_century(words: str) -> str:
    for pattern, whole in _SHORT_YEARS:
        words, changed = pattern.subn(whole, words[:100], count=1)
        if changed:
            break
    return words
