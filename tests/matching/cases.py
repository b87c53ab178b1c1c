"""Profiles, postings and facts for tests, with defaults for everything a test does not set."""

from __future__ import annotations

from typing import Any

from jobmill.catalog.posting import Posting
from jobmill.matching.posting_facts import Importance, PostingFacts, PostingSkill
from jobmill.matching.profile import Profile, Skill

SKILLS = (
    {"name": "Python", "rank": "primary", "years": 8},
    {"name": "PostgreSQL", "rank": "strong"},
    {"name": "Docker", "rank": "familiar"},
)


def profile(**changed: Any) -> Profile:
    """A senior backend engineer in Portland, Oregon."""
    values = {
        "skills": SKILLS,
        "titles": ["Senior Software Engineer"],
        "seniority": ["senior", "staff"],
        "role_types": ["ic"],
        "experience_years": 8,
    }
    return Profile.model_validate(values | changed)


def posting(title: str = "Senior Software Engineer", **changed: Any) -> Posting:
    values: dict[str, Any] = {
        "url": "https://wells.example/openings/7",
        "company": "Wells & Co",
        "location": "Remote",
        "arrangement": "remote",
        "description": "Keep the pumps running.",
    }
    return Posting(title, **values | changed)


def asked(name: str, importance: Importance = "required", words: str = "") -> PostingSkill:
    return PostingSkill(name, importance, words or f"Experience with {name}")


def facts(*skills: PostingSkill | str, **changed: Any) -> PostingFacts:
    """Facts of a remote senior role that requires these skills."""
    values: dict[str, Any] = {
        "skills": tuple(asked(skill) if isinstance(skill, str) else skill for skill in skills),
        "arrangement": "remote",
        "seniority": "senior",
        "seniority_words": "Senior Software Engineer",
        "role": "ic",
    }
    return PostingFacts(**values | changed)


def with_skill(of: Profile, name: str, rank: str = "familiar") -> Profile:
    more = Skill.model_validate({"name": name, "rank": rank})
    return of.model_copy(update={"skills": (*of.skills, more)})


def without_skill(of: Profile, name: str) -> Profile:
    rest = tuple(skill for skill in of.skills if skill.name != name)
    return of.model_copy(update={"skills": rest})
