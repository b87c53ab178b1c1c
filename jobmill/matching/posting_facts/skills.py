"""Find known skills in texts, by all their names, as whole words."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, TypeAlias

from .quoted_lines import line_bounds

Kind: TypeAlias = Literal["", "=", "?", "~"]
"""How a spelling matches: "" in any case; "=" in this case only; "?" an everyday word; "~" an
everyday word that is also a language."""
KINDS: dict[str, Kind] = {"=": "=", "?": "?", "~": "~"}
EVERYDAY = ("?", "~")

# \b does not work: `c++`, `.net` and `node.js` start or end with punctuation.
WORD = re.compile(r"(?<![\w@#+])(?<!\w[.\-])\.?\w+")
AFTER = r"(?![\w+#])(?![.\-]\w)"
AFTER_PLAIN = r"(?![\w+#])(?!\.\w)"

BULLETS = " \t-*•·▪●\u2013"
CONTEXT_LENGTH = 80
"""Characters on each side of a word that decide its meaning."""
MARK = re.compile(
    r"[,;/|•·()\[\]:\t]| (?:and|or|&|und|oder|et|ou|y|e|och|eller) |(?:^|\s)[-\u2013\u2014*]\s"
)
BEFORE_LANGUAGE = re.compile(r"\b(?:in|with|using|of)\s$", re.IGNORECASE)
LISTS = re.compile(r"\b(?:is|are|us(?:e|es|ing)|include[sd]?|including|such as)\s$", re.IGNORECASE)
USING = re.compile(r"\b(?:using|advanced|proficient in|proficiency in)\s$", re.IGNORECASE)
AFTER_LANGUAGE = re.compile(
    r"\s(?:programming|language|developer|engineer|code|codebase|skills|spreadsheets?|macros)\b",
    re.IGNORECASE,
)
# "R&D" is not a list, "R & D3" is.
ENDS = re.compile(
    r"\s*(?:$|[,.;:()/|•·\[\]]|(?:&|and|or|und|oder|et|ou|y|e|och|eller|[-\u2013\u2014])\s)"
)


@dataclass(frozen=True, slots=True)
class SkillHit:
    """A skill and its position in a text."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SkillSpelling:
    text: str
    kind: Kind
    name: str
    """The skill's canonical name."""


def find_skills(text: str) -> list[SkillHit]:
    """Find every skill that the text names, in order. A longer name hides shorter ones inside it."""
    occurrences = _occurrences(text)
    certain = [hit.start for spelling, hit in occurrences if spelling.kind not in EVERYDAY]
    return [
        hit
        for spelling, hit in occurrences
        if spelling.kind not in EVERYDAY or _is_meant(text, spelling, hit, certain)
    ]


def skill_names(text: str) -> list[str]:
    """The skills that a text names, each once, in order of appearance."""
    return list(dict.fromkeys(hit.name for hit in find_skills(text)))


def canonical_name(name: str) -> str:
    """The canonical name of a skill in our list; other names are returned unchanged."""
    name = name.strip()
    return _canonical_names().get(name.casefold(), name)


@cache
def all_names() -> frozenset[str]:
    """The canonical names of all skills in our list."""
    return frozenset(spelling.name for spelling in all_spellings())


@cache
def all_spellings() -> tuple[SkillSpelling, ...]:
    """All spellings in `skills.txt`: one skill per line, its name first, each with an optional mark
    for its kind."""
    lines = (
        (resources.files("jobmill.matching.posting_facts") / "skills.txt")
        .read_text("utf-8")
        .splitlines()
    )
    return tuple(spelling for line in lines for spelling in _parse_line(line.split(" | ")))


def _parse_line(spellings: list[str]) -> Iterable[SkillSpelling]:
    name = spellings[0].lstrip("=?~")
    for spelling in spellings:
        kind = KINDS.get(spelling[0], "")
        yield SkillSpelling(spelling.removeprefix(kind), kind, name)


def _occurrences(text: str) -> list[tuple[SkillSpelling, SkillHit]]:
    by_first_word = _by_first_word()
    occurrences: list[tuple[SkillSpelling, SkillHit]] = []
    end = 0
    for word in WORD.finditer(text):
        start = word.start()
        if start < end or (group := by_first_word.get(word[0].lower())) is None:
            continue
        for spelling in group:
            if match := _pattern(spelling).match(text, start):
                end = match.end()
                occurrences.append((spelling, SkillHit(spelling.name, start, end)))
                break
    return occurrences


def _is_meant(text: str, spelling: SkillSpelling, hit: SkillHit, certain: list[int]) -> bool:
    """Whether an everyday word means a skill here: it is called a language, or is listed with other
    skills on its line."""
    start, end = hit.start, hit.end
    begin, stop = line_bounds(text, start, end)
    before, after = (
        text[max(begin, start - CONTEXT_LENGTH) : start],
        text[end : min(stop, end + CONTEXT_LENGTH)],
    )
    ends = ENDS.match(after) is not None
    if spelling.kind == "~" and (
        AFTER_LANGUAGE.match(after) or (ends and BEFORE_LANGUAGE.search(before))
    ):
        return True
    if USING.search(before):
        return True
    if not before.strip(BULLETS) and not after.strip():
        # The word is alone on its line: treat the neighbouring lines as the list.
        begin, stop = begin - CONTEXT_LENGTH, stop + CONTEXT_LENGTH
    return (
        ends
        and _begins_an_item(before)
        and bisect_left(certain, begin) < bisect_left(certain, stop)
    )


def _begins_an_item(before: str) -> bool:
    last = [mark.end() for mark in MARK.finditer(before)]
    return LISTS.search(before) is not None or not (before[last[-1] :] if last else before).strip()


@cache
def _canonical_names() -> dict[str, str]:
    return {spelling.text.casefold(): spelling.name for spelling in all_spellings()}


@cache
def _by_first_word() -> dict[str, list[SkillSpelling]]:
    """Spellings by first word, the longest first. Most words of a text start none, so the lookup is
    fast."""
    groups: defaultdict[str, list[SkillSpelling]] = defaultdict(list)
    for spelling in sorted(all_spellings(), key=lambda spelling: -len(spelling.text)):
        if first := WORD.match(spelling.text):
            groups[first[0].lower()].append(spelling)
    return dict(groups)


@cache
def _pattern(spelling: SkillSpelling) -> re.Pattern[str]:
    text = re.sub(r"\\?[ -]", "[ \u00a0-]", re.escape(spelling.text))
    after = AFTER if spelling.kind in EVERYDAY else AFTER_PLAIN
    return re.compile(text + after, 0 if spelling.kind else re.IGNORECASE)
