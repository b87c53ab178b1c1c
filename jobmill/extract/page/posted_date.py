"""Find the posting date on a page."""

from __future__ import annotations

import datetime as dt
import re

from ..fields import dates
from . import visible_lines
from .label_vocabulary import FieldName
from .labelled_values import LabelledValue
from .visible_lines import TextLine

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
# Old pages write years with two digits. `dates` does not parse those, because it cannot know
# which part is the year.
_SHORT_YEARS = (
    (re.compile(r"(?<![\d/.-])(\d{1,2})([/-])(\d{1,2})\2(\d\d)(?![\d/-])"), r"\1\2\3\g<2>20\4"),
    (re.compile(r"\b(\d{1,2})([ -])([A-Za-z]{3,9})\2'?(\d\d)(?![\d:/-])"), r"\1 \3 20\4"),
    (re.compile(r"\b([A-Za-z]{3,9}\.? \d{1,2})(?:, ?'?| '|-)(\d\d)(?![\d:/-])"), r"\1, 20\2"),
)
_BY_AUTHOR_ON_DATE = re.compile(r"^(?:\w+ )?by .{2,60}? on (.{5,30})$", re.IGNORECASE)
_SEPARATORS = " .|-\u2013•"


def find_posted_date(
    top: list[TextLine], labelled: list[LabelledValue], times: set[str], *, day_first: bool
) -> dt.datetime | None:
    """The posting date by a label, else by a line, an element name or a time element. If the page
    has only an update date, that one: job boards renew their postings."""
    short = [line for line in top if len(line.text) <= 100]
    lines = visible_lines.lines_containing(short, _POSTED_WORDS)
    texts = [match[1] for line in lines if (match := _POSTED.search(line.text))]
    texts += [
        match[1]
        for line in visible_lines.lines_containing(short, ("by ",))
        if (match := _BY_AUTHOR_ON_DATE.match(line.text))
    ]
    marked = [words for line in short for words, marks in line.parts if "posted" in marks]
    # A single time on the page belongs to the posting; one of several may not.
    timed = times if len(times) == 1 else ()
    words = (
        *_labelled_texts(labelled, "posted"),
        *texts,
        *marked,
        *timed,
        *_labelled_texts(labelled, "updated"),
    )
    return _first_date(words, day_first=day_first)


def find_updated_date(labelled: list[LabelledValue], *, day_first: bool) -> dt.datetime | None:
    """The labelled update date."""
    return _first_date(_labelled_texts(labelled, "updated"), day_first=day_first)


def _labelled_texts(labelled: list[LabelledValue], name: FieldName) -> tuple[str, ...]:
    return tuple(entry.value for entry in labelled if entry.field == name)


def _first_date(texts: tuple[str, ...], *, day_first: bool) -> dt.datetime | None:
    dates_found = (
        dates.parse_date(_with_century(text.strip(_SEPARATORS)), day_first=day_first)
        for text in texts
    )
    return next((day for day in dates_found if day), None)


def _with_century(words: str) -> str:
    for pattern, full_year in _SHORT_YEARS:
        words, changed = pattern.subn(full_year, words[:100], count=1)
        if changed:
            break
    return words
