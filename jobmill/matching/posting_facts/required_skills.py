"""The skills that a posting names, and how much it wants each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from . import personal_skills, skills
from .quoted_lines import line_bounds, quote_line
from .sections import Part, TextSections
from .skills import SkillHit

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
    r"|advantageous|beneficial|(?:is |are )?helpful|not (?:required|necessary|needed)|optional|von vorteil|wünschenswert"
    r"|un (?:vrai )?plus|(?:est |serait )?(?:appréciée?s?|souhaitée?s?)|deseables?|valorables?|se valora)",
    re.IGNORECASE,
)
# A skill behind these words is what they do without.
DENIED = re.compile(
    r"(?:\bno|(?<!or )\bwithout|\binstead of|\brather than|\baway from|\bunlike"
    r"|\b(?:do|does|did|are|is|will)(?: not|n['\u2019]t) (?:us(?:e|ing)|need|require|write|want|expect|do)"
    r"|\bwon['\u2019]t (?:use|need|write|do)|\bnever (?:use|need|write)|\bkein\w*|\bpas de)\s+"
    r"(?:(?:any|an?|to know|prior|previous|more|legacy|experience (?:with|in)|knowledge of)\s+){0,2}$",
    re.IGNORECASE,
)
REACH = 300
"""So far around a skill its sentence is looked at."""
SENTENCE = re.compile(r"(?<=[.;!?])\s|\s{2,}|[•●▪✨]")


@dataclass(frozen=True, slots=True)
class PostingSkill:
    """A skill that a posting names."""

    name: str
    """As `skills.canonical` has it."""
    importance: Importance
    words: str
    """The line in which it stands, cut short."""


def read_skills(
    title: str, text: str, sections: TextSections, requirements: str = "", tags: Iterable[str] = ()
) -> list[PostingSkill]:
    """Each skill once, in order, with the highest importance that it has anywhere: what the title
    names is required, what only a tag names is mentioned."""
    in_title = (PostingSkill(name, "required", title) for name in skills.skill_names(title))
    in_text = _in_text(skills.find_skills(text), text, sections, requirements)
    return _keep_most_important((*in_title, *in_text, *_in_tags(tags)))


def read_custom_skills(
    names: Collection[str], title: str, text: str, sections: TextSections, requirements: str = ""
) -> list[PostingSkill]:
    """The same of a person's own names, such as no list has."""
    in_title = (
        PostingSkill(hit.name, "required", title)
        for hit in personal_skills.find_custom_skills(names, title)
    )
    in_text = _in_text(
        personal_skills.find_custom_skills(names, text), text, sections, requirements
    )
    return _keep_most_important((*in_title, *in_text))


def _keep_most_important(several: Iterable[PostingSkill]) -> list[PostingSkill]:
    found: dict[str, PostingSkill] = {}
    for one in several:
        known = found.get(one.name)
        if known is None or RANKS[one.importance] > RANKS[known.importance]:
            found[one.name] = one
    return list(found.values())


def _in_tags(tags: Iterable[str]) -> Iterator[PostingSkill]:
    for tag in tags:
        name = skills.canonical_name(tag)
        for known in [name] if name in skills.all_names() else skills.skill_names(tag):
            yield PostingSkill(known, "mentioned", tag)


def _in_text(
    hits: Iterable[SkillHit], text: str, sections: TextSections, requirements: str
) -> Iterator[PostingSkill]:
    wanted = {line.strip() for line in requirements.split("\n")} - {""}
    for hit in hits:
        begin, end = line_bounds(text, hit.start, hit.end)
        line = text[begin:end]
        if DENIED.search(line[max(0, hit.start - begin - 60) : hit.start - begin]):
            continue
        part = sections.section_at(hit.start) or ("required" if line.strip() in wanted else None)
        importance = _weigh(line, hit.start - begin, hit.end - begin, part)
        yield PostingSkill(hit.name, importance, quote_line(text, hit.start, hit.end))


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
