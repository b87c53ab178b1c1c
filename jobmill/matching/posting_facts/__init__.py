"""What a posting asks for and offers, in the terms of the rules, each with the words that say it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from jobmill.catalog.posting import Arrangement, Posting, Seniority

from . import (
    experience_years,
    remote_hints,
    required_skills,
    residence,
    role_type,
    sections,
    time_zones,
)
from .experience_years import RequiredYears
from .quoted_lines import quote_line
from .required_skills import PostingSkill
from .role_type import Role
from .sections import TextSections
from .time_zones import UtcOffsets

Importance: TypeAlias = required_skills.Importance

LONGEST = 40_000
"""Characters of a text that are looked at."""
LONGEST_TAG, MOST_TAGS = 200, 200
ARRANGED: dict[Arrangement, re.Pattern[str]] = {
    "remote": re.compile(
        r"\bremot\w*|\bwork(?:ing)? from (?:home|anywhere)|\banywhere\b|\bworldwide\b|\bdistributed\b"
        r"|\bhome[- ]?(?:based|office)\b|\btelecommut\w*|télétravail|\bzdaln\w*",
        re.IGNORECASE,
    ),
    "hybrid": re.compile(
        r"\bhybrid\w*|\bhíbrid\w*|\bdays? (?:a|per|each) week (?:in|on|at)\b[^.\n]{0,30}"
        r"|\b(?:partial(?:ly)?|part) remote",
        re.IGNORECASE,
    ),
    "onsite": re.compile(
        r"\bon[- ]?site\b|\bin[- ](?:office|person)\b|\bvor ort\b|\bprésentiel\b|\bpresencial\b"
        r"|\b(?:no|not)(?: \w+)? remote",
        re.IGNORECASE,
    ),
}


@dataclass(frozen=True, slots=True)
class PostingFacts:
    """None and () mean that the posting does not say; nothing is guessed."""

    skills: tuple[PostingSkill, ...] = ()
    """Each once, with the highest importance that it has anywhere."""
    years: RequiredYears | None = None
    """Overall: not of one tool, and not the company's age."""
    seniority: Seniority | None = None
    seniority_words: str = ""
    role: Role | None = None
    role_words: str = ""
    arrangement: Arrangement | None = None
    arrangement_words: str = ""
    """Also where the arrangement is not said: then they say that it might be remote."""
    places: tuple[str, ...] = ()
    """Where one would work, or live to work remotely."""
    required_residence: tuple[str, ...] = ()
    """Countries or regions of which the text says that one must live there."""
    utc_offsets: tuple[float, ...] = ()
    """Hours from UTC at which the team works, as far as words or places tell."""
    zone_words: str = ""


def read_facts(posting: Posting) -> PostingFacts:
    """The facts of a posting."""
    text = (posting.description or posting.requirements or "")[:LONGEST]
    parts = sections.find_sections(text)
    places = _places(posting)
    role, role_words = role_type.read_role(posting.title, text)
    hours, zone_words = _zones(text, places)
    return PostingFacts(
        skills=_skills(posting, text, parts),
        years=experience_years.read_years(text, parts),
        seniority=posting.seniority,
        seniority_words=posting.title if posting.seniority else "",
        role=role,
        role_words=role_words,
        arrangement=posting.arrangement,
        arrangement_words=_arrangement_words(posting, places, text),
        places=places,
        required_residence=residence.find_required_residence(text),
        utc_offsets=hours,
        zone_words=zone_words,
    )


def _skills(posting: Posting, text: str, parts: TextSections) -> tuple[PostingSkill, ...]:
    requirements = (posting.requirements or "")[:LONGEST]
    # A tag is a word or two: what is longer is a text without end.
    tags = [tag[:LONGEST_TAG] for tag in posting.tags[:MOST_TAGS]]
    return tuple(required_skills.read_skills(posting.title, text, parts, requirements, tags))


def _places(posting: Posting) -> tuple[str, ...]:
    said = posting.locations or ((posting.location,) if posting.location else ())
    return tuple(dict.fromkeys((*said, *posting.remote_from)))


def _zones(text: str, places: Sequence[str]) -> tuple[UtcOffsets, str]:
    """As the text states them, else those of the places."""
    hours, words = time_zones.offsets_from_text(text)
    return (hours, words) if hours else time_zones.offsets_from_places(places)


def _arrangement_words(posting: Posting, places: Sequence[str], text: str) -> str:
    """Where its word stands: a place or the title, else the text; else the places, or nothing."""
    if posting.arrangement is None:
        return remote_hints.find_remote_hint(text)
    pattern = ARRANGED[posting.arrangement]
    shown = (posting.location or "", *places, posting.title)
    if short := next((one for one in shown if pattern.search(one)), None):
        return short
    found = pattern.search(text)
    return quote_line(text, *found.span()) if found else "; ".join(places)
