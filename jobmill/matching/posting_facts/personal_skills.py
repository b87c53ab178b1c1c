"""Find custom skills that are not in our list: a nurse's ACLS, an accountant's month-end close."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from .skills import SkillHit

_BRACKETS = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]\s*")
_SHORT_FORM = re.compile(r"[A-Z][A-Z0-9&+./-]{1,7}")
_SHORT = 4
"""Up to this many capitals are an acronym and match only in capitals: "IT" is not "it"."""
_BEFORE, _AFTER = r"(?<![\w@#+])(?<!\w[.])", r"(?![\w+#])(?!\.\w)"
# Words that appear in postings of every profession.
_GENERIC = frozenset(
    ("adaptability", "attention to detail", "collaboration", "communication", "communication skills",
     "creativity", "critical thinking", "decision making", "flexibility", "interpersonal skills",
     "leadership", "motivation", "multitasking", "organisation", "organization", "organizational skills",
     "organisational skills", "presentation", "problem solving", "reliability", "self motivation",
     "team player", "team work", "teamwork", "time management", "verbal communication",
     "work ethic", "written communication")
)  # fmt: skip


def find_custom_skills(names: Iterable[str], text: str) -> Iterator[SkillHit]:
    """Find these names in a text as whole words, also in the plural, with or without hyphens."""
    small = text.lower()
    for name in names:
        for key, pattern in _patterns(name):
            if key in small:
                yield from (SkillHit(name, *match.span()) for match in pattern.finditer(text))


def is_generic(name: str) -> bool:
    """Whether a skill says nothing about the work, such as "teamwork"."""
    return " ".join(re.split(r"[\s-]+", name.strip().lower())) in _GENERIC


@lru_cache(maxsize=4_096)
def _patterns(name: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """For each spelling: a lower-case word that must occur in the text, and the pattern."""
    spellings = [_BRACKETS.sub(" ", name).strip()]
    spellings += [form for form in _BRACKETS.findall(name) if _SHORT_FORM.fullmatch(form)]
    return tuple(
        _pattern(words) for spelling in spellings if (words := re.split(r"[\s-]+", spelling))[0]
    )


def _pattern(words: list[str]) -> tuple[str, re.Pattern[str]]:
    *others, last = words
    pattern = (
        _BEFORE + r"[\s\u00a0-]+".join([*map(_either, others), _singular_or_plural(last)]) + _AFTER
    )
    exact = len(words) == 1 and last.isupper() and len(last) <= _SHORT
    key = max(others, key=len, default=last[:-1]).lower()
    return ("" if key in ("&", "and") else key), re.compile(pattern, 0 if exact else re.IGNORECASE)


def _either(word: str) -> str:
    return "(?:&|and)" if word.lower() in ("&", "and") else re.escape(word)


def _singular_or_plural(word: str) -> str:
    if not word[-1].isalpha() or len(word) <= 3:
        return _either(word)
    if word[-1] == "y":
        return re.escape(word[:-1]) + "(?:y|ies)"
    return re.escape(word.removesuffix("s")) + "(?:e?s)?"
