"""Read company and place from the lines below the title that have no labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from . import main_text, page_locations
from .label_vocabulary import field_of_label
from .text_checks import normalize
from .visible_lines import TextLine, lines_around

_LINES_BELOW_TITLE = 6
_MAX_LINE_LENGTH = 120
_SEPARATOR = re.compile(
    r"\s+[|•·\u2013\u2014-]+\s+|\s*[|•·]\s*|\s+in\s+(?=[A-Z])|\s*[()]\s*|^in\s+(?=[A-Z])"
)
_FACT = re.compile(
    r"(?:full|part)[- ]?time.{0,20}|permanent.{0,20}|contract.{0,15}|temporary|freelance"
    r"|intern(?:ship)?|(?:fully |100% )?(?:remote|hybrid|on-?site)(?: (?:possible|work|friendly))?"
    r"|home ?office|vollzeit.{0,25}|teilzeit.{0,25}|unbefristet|befristet|festanstellung|praktikum"
    r"|minijob|temps plein|cdi|cdd|stage|tiempo completo|jornada completa"
    r"|(?:posted|published|added|listed|updated|ab|from|starting) .{2,40}"
    r"|.{0,15}\b(?:hours?|stunden|days? ago)\b.{0,15}|[$€£].{2,40}|.*\d.*",
    re.IGNORECASE,
)
_TEAM = re.compile(
    r"\b(?:engineering|sales|marketing|product|design|operations|finance|people|support|data|"
    r"legal|it|hr|development|customer|administration|level|senior|junior)\b",
    re.IGNORECASE,
)
_BUTTON = re.compile(
    r"(?:apply|print|e-?mail|save|share|send|back|next|previous|report|view|see|log ?in|sign|search"
    r"|browse|bookmark|add|tell|forward|return|home|jetzt|about|requirements|summary|overview)\b.*"
    r"|.*\b(?:jobs?|description|details|resume)\b.*",
    re.IGNORECASE,
)
_BY = re.compile(r"by (.+?)(?: on .{4,30})?", re.IGNORECASE)
_NAME = re.compile(r"[^\W_a-z][\w.,'\u2019&/+! -]{1,60}")


@dataclass(slots=True)
class Byline:
    """Short pieces of text, sorted by what they can be."""

    places: list[str] = field(default_factory=list[str])
    facts: list[str] = field(default_factory=list[str])
    names: list[str] = field(default_factory=list[str])


def read_byline(lines: list[TextLine], title: str) -> Byline:
    """The pieces of the lines right below the (normalized) title, up to the first paragraph."""
    byline = Byline()
    for line in lines_around(lines, title, -1, _LINES_BELOW_TITLE):
        if (
            len(line.text) > _MAX_LINE_LENGTH
            or line.text.endswith((".", ":"))
            or main_text.is_section_heading(line)
        ):
            break
        for piece in _pieces(line):
            _classify(byline, piece, title)
    return byline


def _pieces(line: TextLine) -> Iterator[str]:
    if field_of_label(line.runs[0].text):
        return
    apart = len({run.in_link for run in line.runs}) > 1 or all(
        run.tag == "span" for run in line.runs
    )
    for words in (run.text for run in line.runs) if apart else (line.text,):
        for piece in _SEPARATOR.split(words):
            if stripped := piece.strip(" ,;|-\u2013\u2014•·"):
                yield stripped


def _classify(byline: Byline, piece: str, title: str) -> None:
    if page_locations.looks_like_place(piece):
        byline.places.append(piece)
    elif by := _BY.fullmatch(piece):
        byline.names.append(by[1])
    elif _FACT.fullmatch(piece):
        byline.facts.append(piece)
    elif not (
        field_of_label(piece)
        or ":" in piece
        or _BUTTON.fullmatch(piece)
        or normalize(piece) == title
    ):
        byline.names.append(piece)


def byline_company(byline: Byline) -> str | None:
    """The only name, if it stands next to a place."""
    names = list(dict.fromkeys(byline.names))
    if byline.places and len(names) == 1 and _NAME.fullmatch(names[0]):
        return names[0]
    return None


def byline_place(byline: Byline, company: str) -> str | None:
    """The piece that looks like a place; else, among other facts, the only name that is not the
    (normalized) company: "Munich · Full-time · Hybrid"."""
    if byline.places:
        return byline.places[0]
    names = [name for name in byline.names if not _TEAM.search(name) and normalize(name) != company]
    if byline.facts and len(names) == 1 and _NAME.fullmatch(names[0]):
        return names[0]
    return None
