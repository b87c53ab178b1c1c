"""Read licences and certificates with issuer, number and dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from jobmill.matching.master_resume import LicenceEntry

from . import contact_lines, date_ranges, entry_lines, languages, skill_sections
from .built_entry import build_entry
from .entry_header import trim_part
from .work_history import BULLET

MAX_ENTRIES: Final = 100
NUMBER: Final = re.compile(
    r"[(,;|]?\s?(?:#|\b(?:(?:licen[cs]e|certificate|registration|credential|bar) )?(?:no\b\.?|number\b|nr\b\.?|id\b|pin\b)\s?:?)\s?"
    r"(?P<number>[A-Z0-9][A-Z0-9./-]{2,30})\)?",
    re.IGNORECASE,
)
EXPIRES: Final = re.compile(
    r"[(,;|]?\s?\b(?:exp(?:ires|iry|iration|\.)?(?: date)?|valid (?:until|through|thru|to|till)|gültig bis|valable jusqu['\u2019]en|renewal)\s?:?\s+",
    re.IGNORECASE,
)
ISSUED_BY: Final = re.compile(r"\b(?:issued|granted|awarded|accredited) by\s+", re.IGNORECASE)
ISSUED: Final = re.compile(r"\b(?:issued|since|obtained|granted|admitted|earned|passed|seit|depuis)\b:?\s*", re.IGNORECASE)  # fmt: skip
PART: Final = re.compile(r"\s*[|•·\t;]\s*|\s+[-\u2013\u2014]+\s+|\s{3,}|\s*,\s*(?![^()]*\))")
BRACKETS: Final = re.compile(r"\s*\(([^()]{3,80})\)")
EDGES: Final = " ,:;.*_\u2013\u2014-()"


def find_licences(lines: Sequence[str]) -> list[LicenceEntry]:
    """Each licence once, in the order of the resume."""
    entries: dict[str, LicenceEntry] = {}
    for line in skill_sections.before_unknown_heading(entry_lines.clean_lines(lines)):
        if languages.SPOKEN.match(line) or contact_lines.AUTHORISATION.match(line.strip()[:300]):
            continue
        for entry in _read_line(BULLET.sub("", line.strip())[: entry_lines.MAX_LINE_LENGTH]):
            entries.setdefault(entry.name.casefold(), entry)
    return list(entries.values())[:MAX_ENTRIES]


def _read_line(text: str) -> list[LicenceEntry]:
    names = skill_sections.licence_names(text)
    if len(names) > 1:
        return [build_entry(LicenceEntry, name=name.strip(EDGES)) for name in names if name.strip(EDGES)]  # fmt: skip
    number = expires = issued = ""
    if match := NUMBER.search(text):
        number = match["number"].rstrip(".,")
        text = f"{text[: match.start()]}\t{text[match.end() :]}"
    if match := EXPIRES.search(text):
        date = date_ranges.POINT.match(text, match.end())
        if date:
            expires = date_ranges.point_text(date)
            text = f"{text[: match.start()]}\t{text[date.end() :]}"
    if period := date_ranges.find_period(text):
        issued, text = period[0].start or "", period[1]
        expires = expires or ("" if period[0].end == "present" else period[0].end or "")
    elif point := date_ranges.find_point(text):
        issued, text = point
    text = ISSUED.sub("\t", ISSUED_BY.sub("\t", text))
    # A long text in brackets is the issuer; a short one is the abbreviation of the name.
    text = BRACKETS.sub(lambda match: f"\t{match[1]}\t" if " " in match[1] else match[0], text)
    parts = [trim_part(part) for part in PART.split(text)]
    parts = [part for part in parts if part]
    if not parts or len(parts[0].split()) > 15:
        return []
    issuer = ", ".join(parts[1:])
    entry = build_entry(
        LicenceEntry, name=parts[0], issuer=issuer, number=number, issued=issued, expires=expires
    )
    return [entry]
