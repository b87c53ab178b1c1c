"""Measure how similar a posting's title is to the wanted titles, by role and field."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from jobmill.catalog import job_titles
from jobmill.plain_text import fold_case, read_word_groups

# The first word in a title that is listed here is its role: a "Product Manager, Developer Tools" is
# not a developer.
ROLES: Final = {
    "manager": "manager", "mgr": "manager", "head": "director", "director": "director",
    "vp": "director", "president": "director", "chief": "director", "cto": "director",
    "recruiter": "recruiter", "sourcer": "recruiter", "advocate": "advocate", "evangelist": "advocate",
    "writer": "writer", "editor": "writer", "assistant": "assistant", "executive": "seller", "representative": "seller",
    "counsel": "lawyer", "attorney": "lawyer", "lawyer": "lawyer", "solicitor": "lawyer", "accountant": "accountant", "specialist": "specialist",
    "coordinator": "specialist", "consultant": "consultant", "designer": "designer",
    "analyst": "analyst", "scientist": "scientist", "researcher": "scientist",
    "architect": "architect", "administrator": "administrator", "admin": "administrator",
    "technician": "technician", "engineer": "engineer", "engineers": "engineer", "developer": "engineer",
    "developers": "engineer", "programmer": "engineer", "swe": "engineer", "sde": "engineer",
    "sdet": "engineer", "sre": "engineer", "entwickler": "engineer", "softwareentwickler": "engineer",
    "ingenieur": "engineer", "développeur": "engineer", "ingénieur": "engineer",
    "entwicklerin": "engineer", "softwareentwicklerin": "engineer", "ingenieurin": "engineer",
    "développeuse": "engineer", "ingénieure": "engineer", "desarrolladora": "engineer",
    "desarrollador": "engineer", "mts": "engineer", "lead": "lead", "owner": "manager",
}  # fmt: skip
NEAR_ROLES: Final[dict[frozenset[str], float]] = {
    frozenset(("engineer", "lead")): 0.5, frozenset(("engineer", "architect")): 0.6,
    frozenset(("manager", "lead")): 0.7, frozenset(("manager", "director")): 0.7,
    frozenset(("scientist", "engineer")): 0.5, frozenset(("scientist", "analyst")): 0.5,
    frozenset(("administrator", "engineer")): 0.4,
}  # fmt: skip
NEAR_FIELDS: Final[dict[tuple[str, str], float]] = {
    ("software", "backend"): 0.9, ("software", "fullstack"): 0.9, ("software", "frontend"): 0.5,
    ("software", "infrastructure"): 0.7, ("software", "mobile"): 0.5, ("software", "learning"): 0.5,
    ("software", "data"): 0.5, ("software", "security"): 0.4, ("software", "embedded"): 0.4,
    ("software", "quality"): 0.3, ("fullstack", "backend"): 0.8, ("fullstack", "frontend"): 0.8,
    ("backend", "infrastructure"): 0.6, ("backend", "data"): 0.5, ("frontend", "mobile"): 0.3,
    ("data", "learning"): 0.5, ("infrastructure", "security"): 0.4, ("data", "infrastructure"): 0.3,
    ("backend", "learning"): 0.3, ("embedded", "hardware"): 0.4, ("software", "product"): 0.2, ("backend", "frontend"): 0.2,
    ("sales", "customers"): 0.5, ("sales", "marketing"): 0.3, ("data", "product"): 0.4,
}  # fmt: skip
# Seniority is judged separately.
_LEVEL_WORDS: Final = (
    "senior junior staff principal lead intern internship entry mid associate graduate 1 2 3 4 5 i ii iii"
    " iv v level remote hybrid onsite"
)
LEVELS: Final = frozenset(_LEVEL_WORDS.split())
OPEN_FIELD, UNKNOWN_FIELD = 0.7, 0.2
"""Similarity if one title leaves the field open, and if it names a field that we do not know."""

_FIELD_OF: Final = read_word_groups("jobmill.matching.rules", "title_fields.txt")
_SPELLINGS: Final = (
    (re.compile(r"\b(full|front|back)[\s-]+(stack|end)\b"), r"\1\2"),
    (re.compile(r"\bmembers? of (?:the )?technical staff\b"), "software engineer"),
    (re.compile(r"\bproduct (?=engineer|developer|lead\b)"), "software "),
    (re.compile(r"\bc\+\+"), " cpp "),
    (re.compile(r"\bc#"), " csharp "),
    (re.compile(r"\.net\b"), " dotnet "),
)
_WORD: Final = re.compile(r"[^\W_]+")
_GENERAL: Final = frozenset[str](("software",))
_DISTANT: Final = frozenset(
    ("sales", "customers", "hardware", "marketing", "finance", "people", "legal", "operations",
     "quality", "security")
)  # fmt: skip
# These roles imply their field.
_FIELD_OF_ROLE: Final = {
    "accountant": "finance", "recruiter": "people", "lawyer": "legal", "seller": "sales",
}  # fmt: skip
_LETTERS: Final = {
    "rn": "registered nurse", "lpn": "licensed practical nurse", "np": "nurse practitioner",
    "cna": "certified nursing assistant", "icu": "icu intensive care",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Title:
    role: str | None
    fields: frozenset[str]
    words: frozenset[str]


def find_closest(title: str, wanted_titles: Iterable[str]) -> tuple[float, str]:
    """The similarity (0 to 1) of a title to the closest wanted title, and that title."""
    parsed = {wanted_title: _parse_title(wanted_title) for wanted_title in wanted_titles}
    # A person who wants "Software Engineer" or "Staff Engineer" means software in both.
    fields = frozenset(field for wanted_title in parsed.values() for field in wanted_title.fields)
    similarities = {
        wanted_title: _similarity(
            _parse_title(title), replace(parts, fields=parts.fields or fields)
        )
        for wanted_title, parts in parsed.items()
    }
    best = max(similarities, key=lambda wanted_title: similarities[wanted_title])
    return similarities[best], best


@lru_cache(maxsize=65_536)
def _parse_title(title: str) -> _Title:
    text = fold_case(title)
    for pattern, word in _SPELLINGS:
        text = pattern.sub(word, text)
    title_words: list[str] = _WORD.findall(text)
    role_word = next((word for word in ROLES if word in title_words), None)
    at = title_words.index(role_word) if role_word else 0
    role = ROLES[role_word] if role_word else None
    words = {
        word
        for token in job_titles.parse_title(title).words
        for word in _LETTERS.get(token, token).split()
    }
    fields = _fields(title_words[: at + 1], title_words[at + 1 :], role)
    if not fields and role in _FIELD_OF_ROLE:
        fields = frozenset((_FIELD_OF_ROLE[role],))
    return _Title(role, fields, frozenset(words - LEVELS))


def _fields(before: list[str], after: list[str], role: str | None) -> frozenset[str]:
    """Words before the role tell its field; words after it are often only the team. A "Software
    Engineer, Growth" writes software, a "Software Support Engineer" gives support."""
    fields = frozenset(_FIELD_OF[word] for word in before if word in _FIELD_OF)
    team = frozenset(_FIELD_OF[word] for word in after if word in _FIELD_OF)
    if not fields:
        return team
    if fields == _GENERAL and role != "manager":
        return (team - _DISTANT - {"software"}) or fields
    return fields & _DISTANT or (fields - {"software"} or fields)


def _similarity(title: _Title, other: _Title) -> float:
    if title.words == other.words and title.role == other.role:
        return 1.0
    if title.role is None or other.role is None:
        return _shared_words(title.words, other.words) * (1 if title.role == other.role else 0.5)
    role = (
        1.0
        if title.role == other.role
        else NEAR_ROLES.get(frozenset((title.role, other.role)), 0.0)
    )
    return 0.25 * role + 0.75 * max(role, 0.1) * _field_similarity(title, other)


def _field_similarity(title: _Title, other: _Title) -> float:
    """1 if both name the same field. Unknown words count only if both titles share them."""
    if not title.fields or not other.fields:
        return max(
            _similarity_without_field(title, other),
            _shared_words(title.words, other.words - ROLES.keys()),
        )
    pairs = [(a, b) for a in title.fields for b in other.fields]
    return max(
        1.0 if a == b else NEAR_FIELDS.get((a, b)) or NEAR_FIELDS.get((b, a), 0) for a, b in pairs
    )


def _similarity_without_field(*both: _Title) -> float:
    names_unknown_field = any(title.words - ROLES.keys() and not title.fields for title in both)
    distant = any(title.fields & _DISTANT for title in both)
    return UNKNOWN_FIELD if names_unknown_field or distant else OPEN_FIELD


def _shared_words(words: frozenset[str], other: frozenset[str]) -> float:
    return len(words & other) / len(other) if other else 0.0
