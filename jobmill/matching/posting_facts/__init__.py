"""Read the facts that the rules need from a posting, each with the words that state it."""

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

MAX_TEXT_LENGTH = 40_000
"""Characters of a text to read."""
MAX_TAG_LENGTH, MAX_TAGS = 200, 200
ARRANGEMENT_PATTERNS: dict[Arrangement, re.Pattern[str]] = {
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
    """Facts stated by a posting. None and () mean that the posting does not say; nothing is
    guessed."""

    skills: tuple[PostingSkill, ...] = ()
    """Each skill once, with its highest importance."""
    years: RequiredYears | None = None
    """Overall experience, not with one tool, and not the age of the company."""
    seniority: Seniority | None = None
    seniority_words: str = ""
    role: Role | None = None
    role_words: str = ""
    arrangement: Arrangement | None = None
    arrangement_words: str = ""
    """The words for the arrangement. If it is unknown: words that suggest remote work."""
    places: tuple[str, ...] = ()
    """Where employees work, or must live to work remotely."""
    required_residence: tuple[str, ...] = ()
    """Countries or regions where the text requires employees to live."""
    utc_offsets: tuple[float, ...] = ()
    """Hours from UTC at which the team works, from the text or the places."""
    zone_words: str = ""


def read_facts(posting: Posting) -> PostingFacts:
    text = (posting.description or posting.requirements or "")[:MAX_TEXT_LENGTH]
    parts = sections.find_sections(text)
    places = list_places(posting)
    role, role_words = role_type.read_role(posting.title, text)
    hours, zone_words = _utc_offsets(text, places)
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
    requirements = (posting.requirements or "")[:MAX_TEXT_LENGTH]
    # Cut tags: a real tag is one or two words.
    tags = [tag[:MAX_TAG_LENGTH] for tag in posting.tags[:MAX_TAGS]]
    return tuple(required_skills.read_skills(posting.title, text, parts, requirements, tags))


def list_places(posting: Posting) -> tuple[str, ...]:
    """Where employees work, or must live to work remotely."""
    locations = posting.locations or ((posting.location,) if posting.location else ())
    return tuple(dict.fromkeys((*locations, *posting.remote_from)))


def _utc_offsets(text: str, places: Sequence[str]) -> tuple[UtcOffsets, str]:
    """Offsets that the text states, else those of the places."""
    hours, words = time_zones.offsets_from_text(text)
    return (hours, words) if hours else time_zones.offsets_from_places(places)


def _arrangement_words(posting: Posting, places: Sequence[str], text: str) -> str:
    """The words for the arrangement: from a place or the title, else from the text, else the
    places."""
    if posting.arrangement is None:
        return remote_hints.find_remote_hint(text)
    pattern = ARRANGEMENT_PATTERNS[posting.arrangement]
    shown = (posting.location or "", *places, posting.title)
    if short := next((shown_text for shown_text in shown if pattern.search(shown_text)), None):
        return short
    match = pattern.search(text)
    return quote_line(text, *match.span()) if match else "; ".join(places)
