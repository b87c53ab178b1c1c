"""The skills that a posting names, and how much it wants each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jobmill.matching.facts import skills
from jobmill.matching.facts.lines import bounds, cut
from jobmill.matching.facts.sections import Part, Sections

Importance: TypeAlias = Literal["required", "preferred", "mentioned"]
RANKS: dict[Importance, int] = {"required": 2, "preferred": 1, "mentioned": 0}

WANTS = re.compile(
    r"\b(?:must|require[ds]?|requires|mandatory|essential|proficien\w+|expertise|fluen(?:t|cy)"
    r"|(?:strong|solid|deep|proven|extensive|hands[- ]on|working|good|professional|practical|years) "
    r"(?:\w+ ){0,3}?(?:knowledge|experience|understanding|command|skills|background)"
    r"|experienced? (?:with|in|using|of|as|working|building)|knowledge of|familiar(?:ity)? with"
    r"|you (?:have|know|are)|erforderlich|zwingend|kenntnisse|erfahrung|maîtris\w+|connaissances?"
    r"|expérience|conocimientos?|experiencia|dominio|imprescindible)\b",
    re.IGNORECASE,
)
DEMANDS = re.compile(
    r"\b(?:required|must|mandatory|essential|erforderlich|requis|imprescindible)\b", re.IGNORECASE
)
# What comes after these words is preferred...
LEADS = re.compile(
    r"\b(?:preferably|ideally|bonus(?: points)?(?: for| if)?|nice[- ]to[- ]haves?:|plus if|plus:|a plus,?"
    r" such as|idealerweise|vorzugsweise|gerne auch|idéalement|de préférence|idealmente|preferiblemente"
    r"|we(?:['\u2019]d| would) love (?:it )?if|optional(?:ly)?:)",
    re.IGNORECASE,
)
# ...and what comes before these.
FOLLOWS = re.compile(
    r"\b(?:(?:strongly |highly |is |are )?preferred|an? (?:big |strong |huge |definite |major |real )?"
    r"plus\b(?!:)|nice[- ]to[- ]have|desirable|desired|an? (?:\w+ )?(?:advantage|asset|bonus)"
    r"|advantageous|beneficial|(?:is |are )?helpful|not required|optional|von vorteil|wünschenswert"
    r"|un (?:vrai )?plus|(?:est |serait )?(?:appréciée?s?|souhaitée?s?)|deseables?|valorables?|se valora)",
    re.IGNORECASE,
)
REACH = 300
"""So far around a skill its sentence is looked at."""
SENTENCE = re.compile(r"(?<=[.;!?])\s|\s{2,}|[•●▪✨]")


@dataclass(frozen=True, slots=True)
class AskedSkill:
    """A skill that a posting names."""

    name: str
    """As `skills.canonical` has it."""
    importance: Importance
    words: str
    """The line in which it stands, cut short."""


def read(
    title: str, text: str, sections: Sections, requirements: str = "", tags: Iterable[str] = ()
) -> list[AskedSkill]:
    """Each skill once, in order, with the highest importance that it has anywhere: what the title
    names is required, what only a tag names is mentioned."""
    found: dict[str, AskedSkill] = {}
    in_title = (AskedSkill(name, "required", title) for name in skills.named(title))
    for one in (*in_title, *_in_text(text, sections, requirements), *_in_tags(tags)):
        known = found.get(one.name)
        if known is None or RANKS[one.importance] > RANKS[known.importance]:
            found[one.name] = one
    return list(found.values())


def _in_tags(tags: Iterable[str]) -> Iterator[AskedSkill]:
    for tag in tags:
        name = skills.canonical(tag)
        for known in [name] if name in skills.names() else skills.named(tag):
            yield AskedSkill(known, "mentioned", tag)


def _in_text(text: str, sections: Sections, requirements: str) -> Iterator[AskedSkill]:
    wanted = {line.strip() for line in requirements.split("\n")} - {""}
    for hit in skills.find(text):
        begin, end = bounds(text, hit.start, hit.end)
        line = text[begin:end]
        part = sections.at(hit.start) or ("required" if line.strip() in wanted else None)
        importance = _weigh(line, hit.start - begin, hit.end - begin, part)
        yield AskedSkill(hit.name, importance, cut(text, hit.start, hit.end))


def _weigh(line: str, start: int, end: int, part: Part | None) -> Importance:
    """By the words of its sentence, else by the part in which it stands."""
    first, last = _sentence(line, start, end)
    before, after = line[first:start], line[end:last]
    if part == "preferred" or LEADS.search(before) or _is_extra(after):
        return "preferred"
    if part == "other":
        return "required" if DEMANDS.search(after) else "mentioned"
    return "required" if part == "required" or WANTS.search(line, first, last) else "mentioned"


def _is_extra(after: str) -> bool:
    """Whether what follows calls it a plus, and not before calling it a must."""
    extra = FOLLOWS.search(after)
    return extra is not None and not DEMANDS.search(after, 0, extra.start())


def _sentence(line: str, start: int, end: int) -> tuple[int, int]:
    first = max(0, start - REACH)
    breaks = [one.end() for one in SENTENCE.finditer(line, first, start)]
    stop = SENTENCE.search(line, end, end + REACH)
    return breaks[-1] if breaks else first, stop.start() if stop else min(len(line), end + REACH)
