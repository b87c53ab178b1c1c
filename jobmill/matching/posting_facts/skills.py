"""Skills by the names that people give them, found as whole words and never as parts of others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, TypeAlias

from .quoted_lines import line_bounds

Kind: TypeAlias = Literal["", "=", "?", "~"]
"""How a spelling is meant: any case; this case only; an everyday word; one that is a language."""
KINDS: dict[str, Kind] = {"=": "=", "?": "?", "~": "~"}
EVERYDAY = ("?", "~")

# `c++`, `.net` and `node.js` begin or end with marks, so \b does not do.
WORD = re.compile(r"(?<![\w@#+])(?<!\w[.\-])\.?\w+")
AFTER = r"(?![\w+#])(?![.\-]\w)"
AFTER_PLAIN = r"(?![\w+#])(?!\.\w)"

BULLETS = " \t-*•·▪●\u2013"
REACH = 80
"""So far around a word we look for what it means there."""
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
# "R&D" is no list, "R & D3" is.
ENDS = re.compile(
    r"\s*(?:$|[,.;:()/|•·\[\]]|(?:&|and|or|und|oder|et|ou|y|e|och|eller|[-\u2013\u2014])\s)"
)


@dataclass(frozen=True, slots=True)
class SkillHit:
    """A skill, and where a text names it."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SkillSpelling:
    text: str
    kind: Kind
    name: str
    """The skill's."""


def find_skills(text: str) -> list[SkillHit]:
    """Every place where the text names a skill, in order; a longer name hides the shorter in it."""
    found = _occurrences(text)
    sure = [hit.start for one, hit in found if one.kind not in EVERYDAY]
    return [
        hit for one, hit in found if one.kind not in EVERYDAY or _is_meant(text, one, hit, sure)
    ]


def skill_names(text: str) -> list[str]:
    """The skills that a text names, each once, in the order in which they come."""
    return list(dict.fromkeys(hit.name for hit in find_skills(text)))


def canonical_name(name: str) -> str:
    """The name under which we know a skill, else the name itself."""
    name = name.strip()
    return _names().get(name.casefold(), name)


@cache
def all_names() -> frozenset[str]:
    """The skills that we know."""
    return frozenset(one.name for one in all_spellings())


@cache
def all_spellings() -> tuple[SkillSpelling, ...]:
    """All that we know: one skill a line, its name first, each with its kind's mark before it."""
    lines = (
        (resources.files("jobmill.matching.posting_facts") / "skills.txt")
        .read_text("utf-8")
        .splitlines()
    )
    return tuple(one for line in lines for one in _read(line.split(" | ")))


def _read(marked: list[str]) -> Iterable[SkillSpelling]:
    name = marked[0].lstrip("=?~")
    for one in marked:
        kind = KINDS.get(one[0], "")
        yield SkillSpelling(one.removeprefix(kind), kind, name)


def _occurrences(text: str) -> list[tuple[SkillSpelling, SkillHit]]:
    known = _by_first_word()
    found: list[tuple[SkillSpelling, SkillHit]] = []
    end = 0
    for word in WORD.finditer(text):
        start = word.start()
        if start < end or (group := known.get(word[0].lower())) is None:
            continue
        for spelling in group:
            if match := _pattern(spelling).match(text, start):
                end = match.end()
                found.append((spelling, SkillHit(spelling.name, start, end)))
                break
    return found


def _is_meant(text: str, spelling: SkillSpelling, hit: SkillHit, sure: list[int]) -> bool:
    """Whether an everyday word stands where only a skill would: named as a language, or in a list
    of others on its line."""
    start, end = hit.start, hit.end
    begin, stop = line_bounds(text, start, end)
    before, after = text[max(begin, start - REACH) : start], text[end : min(stop, end + REACH)]
    ends = ENDS.match(after) is not None
    if spelling.kind == "~" and (
        AFTER_LANGUAGE.match(after) or (ends and BEFORE_LANGUAGE.search(before))
    ):
        return True
    if USING.search(before):
        return True
    if not before.strip(BULLETS) and not after.strip():
        # A line of its own: the lines around it are the list.
        begin, stop = begin - REACH, stop + REACH
    return ends and _begins_an_item(before) and any(begin <= one < stop for one in sure)


def _begins_an_item(before: str) -> bool:
    last = [mark.end() for mark in MARK.finditer(before)]
    return LISTS.search(before) is not None or not (before[last[-1] :] if last else before).strip()


@cache
def _names() -> dict[str, str]:
    return {one.text.casefold(): one.name for one in all_spellings()}


@cache
def _by_first_word() -> dict[str, list[SkillSpelling]]:
    """Names by the word that they begin with, the longest first: most words of a text begin none."""
    groups: defaultdict[str, list[SkillSpelling]] = defaultdict(list)
    for one in sorted(all_spellings(), key=lambda one: -len(one.text)):
        if first := WORD.match(one.text):
            groups[first[0].lower()].append(one)
    return dict(groups)


@cache
def _pattern(spelling: SkillSpelling) -> re.Pattern[str]:
    text = re.sub(r"\\?[ -]", "[ \u00a0-]", re.escape(spelling.text))
    after = AFTER if spelling.kind in EVERYDAY else AFTER_PLAIN
    return re.compile(text + after, 0 if spelling.kind else re.IGNORECASE)
