"""What a posting asks for and offers, in the terms of the rules, each with the words that say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from jobmill.catalog.posting import Arrangement, Posting, Seniority

Importance: TypeAlias = Literal["required", "preferred", "mentioned"]
Role: TypeAlias = Literal["ic", "management"]


@dataclass(frozen=True, slots=True)
class AskedSkill:
    """A skill that a posting names."""

    name: str
    """As `skills.canonical` has it."""
    importance: Importance
    words: str
    """The line in which it stands, cut short."""


@dataclass(frozen=True, slots=True)
class AskedYears:
    """Years of experience that a posting asks for."""

    least: float
    most: float | None
    words: str


@dataclass(frozen=True, slots=True)
class Said:
    """Something a posting says in its own words."""

    value: str
    words: str


@dataclass(frozen=True, slots=True)
class Facts:
    """None and () mean that the posting does not say; nothing is guessed."""

    skills: tuple[AskedSkill, ...] = ()
    """Each once, with the highest importance that it has anywhere."""
    years: AskedYears | None = None
    """Overall: not of one tool, and not the company's age."""
    seniority: Seniority | None = None
    seniority_words: str = ""
    role: Role | None = None
    role_words: str = ""
    arrangement: Arrangement | None = None
    arrangement_words: str = ""
    places: tuple[str, ...] = ()
    """Where one would work, or live to work remotely."""
    zones: tuple[float, ...] = ()
    """Hours from UTC at which the team works, as far as words or places tell."""
    zone_words: str = ""


def read(posting: Posting) -> Facts:
    """The facts of a posting."""
    raise NotImplementedError
