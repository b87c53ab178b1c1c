"""A draft of a profile, for the person to review."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from jobmill.matching.profile import Profile

Format: TypeAlias = Literal["pdf", "docx", "json-resume", "linkedin", "text"]


@dataclass(frozen=True, slots=True)
class ParsedResume:
    """A profile read from a resume, for the person to review."""

    format: Format
    profile: Profile
    missing: tuple[str, ...]
    """Profile fields that the resume does not mention."""


def build_profile(**values: Any) -> Profile:
    """Set only the fields that the resume mentions, so that the draft does not state defaults."""
    return Profile.model_validate({name: value for name, value in values.items() if value})


def find_missing_fields(profile: Profile) -> Iterator[str]:
    stated = profile.model_fields_set
    if not profile.person.name:
        yield "person.name"
    names = (
        "summary",
        "experience_years",
        "seniority",
        "skills",
        "titles",
        "languages",
        "highlights",
    )
    yield from (name for name in names if name not in stated)
    yield from (
        f"person.{name}"
        for name in ("home_city", "timezone")
        if name not in profile.person.model_fields_set
    )
    yield from ("locations", "salary_floor", "stop_lists")
