"""Read the spoken languages that a resume lists. Programming languages are skills."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from jobmill.matching.master_resume import LanguageEntry
from jobmill.plain_text import read_phrase_list

LANGUAGES: Final = read_phrase_list("jobmill.matching.resumes", "languages.txt")
_BY_KEY: Final = {name.casefold(): name for name in LANGUAGES}
_NAMES: Final = re.compile(
    r"\b(?:" + "|".join(map(re.escape, sorted(LANGUAGES, key=len, reverse=True))) + r")\b",
    re.IGNORECASE,
)
MAX_LENGTH: Final = 10_000
LEVEL: Final = re.compile(
    r"\b(?:[ABC][12]\+?|native|mother tongue|first language|bilingual|fluent|fluency|proficien\w{1,3}|advanced|upper"
    r"|intermediate|basics?|beginner|elementary|conversational|business|professional|working|limited|good|excellent"
    r"|muttersprach\w{0,4}|fließend|verhandlungssicher|grundkenntnisse|(?:sehr )?gute?|maternelle|bilingue"
    r"|courante?|lu|notions|intermédiaire|nativ[oa]|fluido|avanzado|básico|medio|scolaire)\b",
    re.IGNORECASE,
)
AFTER_NAME: Final = re.compile(r"\s*(?:[(:\u2013\u2014|-]|\t|,(?=\s?(?:native|fluent|[ABC][12]\b)))?\s*(?P<level>[^,;|()\t•·]{1,60}(?:\([^()]{1,40}\))?)")  # fmt: skip
BEFORE_NAME: Final = re.compile(r"\b(?P<level>native|fluent|basic|conversational|advanced|intermediate)(?: in)?\s$", re.IGNORECASE)  # fmt: skip
SPOKEN: Final = re.compile(r"^\W{0,3}(?:spoken |foreign )?(?:languages?|sprachen|langues|idiomas)\s?:\s*", re.IGNORECASE)  # fmt: skip
"""A list of languages on a line of another section."""


def find_languages(lines: Iterable[str]) -> list[str]:
    """The languages that the lines name, without how well they are spoken."""
    text = "\n".join(lines)[:MAX_LENGTH]
    return list(dict.fromkeys(_BY_KEY[hit.group().casefold()] for hit in _NAMES.finditer(text)))


def find_language_entries(lines: Iterable[str]) -> list[LanguageEntry]:
    """The languages with the level that stands beside each name."""
    entries: dict[str, LanguageEntry] = {}
    for line in "\n".join(lines)[:MAX_LENGTH].splitlines():
        for name, level in _names_and_levels(line):
            entries.setdefault(name, LanguageEntry(name=name, level=level))
    return list(entries.values())[:50]


def _names_and_levels(line: str) -> Iterator[tuple[str, str | None]]:
    hits = list(_NAMES.finditer(line))
    ends = [*(hit.start() for hit in hits[1:]), len(line)]
    starts = [0, *(hit.end() for hit in hits)]
    for hit, start, end in zip(hits, starts, ends, strict=False):
        after = AFTER_NAME.match(line[hit.end() : end])
        level = after and after["level"].strip(" .,;")
        if not level or not LEVEL.search(level):
            before = BEFORE_NAME.search(line[start : hit.start()])
            level = before and before["level"].strip()
        yield _BY_KEY[hit.group().casefold()], level[:200] if level else None
