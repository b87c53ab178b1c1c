"""Read the skills and licences that a resume lists in sections of their own, in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ..posting_facts import skills
from ..profile import Skill
from .work_history import BULLET

MAX_SKILLS: Final = 500
MAX_LENGTH: Final = 60
MAX_WORDS: Final = 6
"""Longer entries are sentences."""
LABEL: Final = re.compile(r"^[^,;:()]{2,40}:\s")
"""Groups, as in "Clinical: triage, IV therapy"."""
BREAK: Final = re.compile(r"\s*(?:[,;|\u2022\u00b7\u25aa\u25cf]|\t|\s{3,})\s*(?![^()]{0,200}\))")
"""Between entries, but not inside brackets."""
YEARS: Final = re.compile(
    r"[\s:,(\u2013\u2014-]{1,3}(?:for )?(?P<years>\d{1,2}(?:\.\d)?)\s?\+?\s?(?:years?|yrs?)\b[^,;]{0,20}$",
    re.IGNORECASE,
)
EDGES: Final = " .:;*_\u2013\u2014-"
AND: Final = re.compile(r"^(?:and|und|et|y|&)\s", re.IGNORECASE)
ISSUED: Final = re.compile(
    r"\s*(?:[#(]|\b(?:exp(?:ires|iry|\.)?|issued|since|valid|no\.|number)\b|\b(?:19|20)\d\d\b).*$",
    re.IGNORECASE,
)
"""Number, issuer in brackets or dates of a licence."""
HEADING_WORD: Final = re.compile(r"[^\W\d_]{4,}")


def read_skill_section(lines: Sequence[str]) -> list[Skill]:
    """Read every entry of the section, whether or not our list of skills contains it."""
    by_name: dict[str, Skill] = {}
    for line in _join_wrapped(before_unknown_heading(lines)):
        for entry in BREAK.split(LABEL.sub("", line)):
            if skill := _read_entry(entry):
                by_name.setdefault(skill.name.casefold(), skill)
    return list(by_name.values())[:MAX_SKILLS]


def read_licence_section(lines: Sequence[str]) -> list[Skill]:
    """Read licences and certificates by their names, without issuers, numbers and dates."""
    names = (name for line in before_unknown_heading(lines) for name in licence_names(line))
    licences = filter(None, map(_read_entry, names))
    return list({licence.name.casefold(): licence for licence in licences}.values())[:MAX_SKILLS]


def merge_skills(*groups: Iterable[Skill]) -> list[Skill]:
    """Join lists of skills. Of two with the same name, the one with stated years is kept."""
    by_name: dict[str, Skill] = {}
    for skill in (skill for group in groups for skill in group):
        known = by_name.get(skill.name.casefold())
        if known is None or (known.years is None and skill.years is not None):
            by_name[skill.name.casefold()] = skill
    return list(by_name.values())[:MAX_SKILLS]


def licence_names(line: str) -> list[str]:
    """All names of a list; the first part of a line that also names the issuer or a date."""
    parts = [part for part in BREAK.split(BULLET.sub("", line.strip())) if part]
    is_list = all(len(part.split()) <= 3 and not re.search(r"\d{3}", part) for part in parts)
    return [ISSUED.sub("", part) for part in (parts if is_list else parts[:1])]


def before_unknown_heading(lines: Sequence[str]) -> Iterator[str]:
    """The lines of the section, up to a line of capitals that is likely another heading."""
    for line in lines:
        words = line.split()
        if line.isupper() and len(words) > 1 and all(map(HEADING_WORD.fullmatch, words)):
            return
        if line.strip():
            yield line


def _join_wrapped(lines: Iterable[str]) -> Iterator[str]:
    """Join lines that continue the list of the line before."""
    joined = ""
    for line in lines:
        text = line.strip()
        is_bullet = BULLET.match(line) is not None
        if joined and not is_bullet and (joined.endswith(",") or text[0].islower()):
            joined += f" {text}"
            continue
        if joined:
            yield joined
        joined = BULLET.sub("", text)
    if joined:
        yield joined


def _read_entry(entry: str) -> Skill | None:
    years = YEARS.search(entry)
    name = AND.sub("", YEARS.sub("", entry).strip(EDGES)).strip(EDGES)
    if name.count("(") > name.count(")"):
        name += ")"
    if not 2 <= len(name) <= MAX_LENGTH and skills.canonical_name(name) not in skills.all_names():
        return None
    if len(name.split()) > MAX_WORDS or not re.search(r"[^\W\d_]", name) or "@" in name:
        return None
    return Skill(name=skills.canonical_name(name), years=float(years["years"]) if years else None)
