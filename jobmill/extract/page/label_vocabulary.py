"""The labels of posting fields, in several languages."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources
from typing import Literal, TypeAlias

from pydantic import TypeAdapter

from .text_checks import normalize

FieldName: TypeAlias = Literal[
    "title", "company", "location", "city", "state", "country", "posted", "updated", "until",
    "kind", "pay", "number", "team", "mode", "other", "section",
]  # fmt: skip

_LABELS: dict[FieldName, list[str]] = TypeAdapter(dict[FieldName, list[str]]).validate_python(
    tomllib.loads((resources.files("jobmill.extract.page") / "labels.toml").read_text("utf-8"))
)
_FIELD_BY_LABEL: dict[str, FieldName] = {
    word: name for name, labels in _LABELS.items() for word in labels
}
# Labels that are not listed: a word that names the field, and words that may accompany it.
_LABEL_WORDS: dict[FieldName, tuple[str, str]] = {
    "until": ("closing deadline expires expiration", "date job application on the day"),
    "updated": ("updated modified update", "last date on job"),
    "posted": (
        "posted posting post listed published created creation added activated opened",
        "date job on was the this first originally day last",
    ),
    "location": (
        "location locations city worksite",
        "job work primary position state country province zip code office region s the area or of",
    ),
    "company": (
        "company employer organization organisation advertiser agency recruiter provider client",
        "name hiring the s posting or recruiting business staffing job firm",
    ),
    "title": ("title position vacancy", "job the name of posting"),
}
_LABEL_RULES: list[tuple[FieldName, frozenset[str], frozenset[str]]] = [
    (name, frozenset(telling.split()), frozenset(f"{telling} {beside}".split()))
    for name, (telling, beside) in _LABEL_WORDS.items()
]
_ANY_LABEL_WORD = frozenset[str]().union(*(telling for _, telling, _ in _LABEL_RULES))
_AMBIGUOUS_LABELS = (
    "title position role stelle date area place where local type agency recruiter poste puesto"
    " cargo datum fecha opening"
)
_AMBIGUOUS = frozenset(_AMBIGUOUS_LABELS.split())
_LABEL_ONLY_WITH_COLON = frozenset(("recruiter", "service", "contract", "firm", "client"))
"""Labels only if a colon follows; otherwise they may be values."""


def field_of_label(words: str) -> FieldName | None:
    """The field that these words label."""
    return _find_field(words) if len(words) <= 40 else None


# Every page repeats the same few hundred words.
@lru_cache(maxsize=4_096)
def _find_field(words: str) -> FieldName | None:
    label = normalize(words)
    if label in _LABEL_ONLY_WITH_COLON and not words.endswith(":"):
        return None
    return _FIELD_BY_LABEL.get(label) or _field_of_words(frozenset(label.split()))


def _field_of_words(words: frozenset[str]) -> FieldName | None:
    if not 2 <= len(words) <= 4 or words.isdisjoint(_ANY_LABEL_WORD):
        return None
    for name, telling, beside in _LABEL_RULES:
        if words & telling and words <= beside:
            return name
    return None


def is_ambiguous(label: str) -> bool:
    """Whether a label may also be the heading of something else."""
    return normalize(label) in _AMBIGUOUS
