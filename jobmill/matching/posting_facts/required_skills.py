"""Read the skills that a posting names, and how important each is."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
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
# Skills after these words are preferred.
LEADS = re.compile(
    r"\b(?:preferably|ideally|bonus(?: points)?(?: for| if)?|nice[- ]to[- ]haves?:|plus if|plus:|a plus,?"
    r" such as|idealerweise|vorzugsweise|gerne auch|idéalement|de préférence|idealmente|preferiblemente"
    r"|we(?:['\u2019]d| would) love (?:it )?if|optional(?:ly)?:)",
    re.IGNORECASE,
)
# Skills before these words are preferred.
FOLLOWS = re.compile(
    r"\b(?:(?:strongly |highly |is |are )?preferred|an? (?:big |strong |huge |definite |major |real )?"
    r"plus\b(?!:)|nice[- ]to[- ]have|desirable|desired|an? (?:\w+ )?(?:advantage|asset|bonus)"
    r"|advantageous|beneficial|(?:is |are )?helpful|not (?:required|necessary|needed)|optional|von vorteil|wünschenswert"
    r"|un (?:vrai )?plus|(?:est |serait )?(?:appréciée?s?|souhaitée?s?)|deseables?|valorables?|se valora)",
    re.IGNORECASE,
)
# Skills after these words are not needed.
DENIED = re.compile(
    r"(?:\bno|(?<!or )\bwithout|\binstead of|\brather than|\baway from|\bunlike"
    r"|\b(?:do|does|did|are|is|will)(?: not|n['\u2019]t) (?:us(?:e|ing)|need|require|write|want|expect|do)"
    r"|\bwon['\u2019]t (?:use|need|write|do)|\bnever (?:use|need|write)|\bkein\w*|\bpas de)\s+"
    r"(?:(?:any|an?|to know|prior|previous|more|legacy|experience (?:with|in)|knowledge of)\s+){0,2}$",
    re.IGNORECASE,
)
CONTEXT_LENGTH = 300
"""Characters of the sentence to read on each side of a skill."""
SENTENCE = re.compile(r"(?<=[.;!?])\s|\s{2,}|[•●▪✨]")
MAX_HITS = 500
"""Skill names of a text to look at, since each costs a look at its sentence. None of 966 real
postings has more than 52."""


@dataclass(frozen=True, slots=True)
class PostingSkill:
    name: str
    """The name from `skills.canonical_name`."""
    importance: Importance
    words: str
    """The line that names it, shortened."""


def read_skills(
    title: str, text: str, sections: TextSections, requirements: str = "", tags: Iterable[str] = ()
) -> list[PostingSkill]:
    """Read every skill once, in order, with its highest importance. Skills in the title are
    required; skills only in tags are mentioned."""
    in_title = (PostingSkill(name, "required", title) for name in skills.skill_names(title))
    in_text = _in_text(skills.find_skills(text), text, sections, requirements)
    return _keep_most_important((*in_title, *in_text, *_in_tags(tags)))


def read_custom_skills(
    names: Collection[str], title: str, text: str, sections: TextSections, requirements: str = ""
) -> list[PostingSkill]:
    """Read a profile's custom skills, which are not in our list."""
    in_title = (
        PostingSkill(hit.name, "required", title)
        for hit in personal_skills.find_custom_skills(names, title)
    )
    in_text = _in_text(
        personal_skills.find_custom_skills(names, text), text, sections, requirements
    )
    return _keep_most_important((*in_title, *in_text))


def _keep_most_important(mentions: Iterable[PostingSkill]) -> list[PostingSkill]:
    by_name: dict[str, PostingSkill] = {}
    for mention in mentions:
        best = by_name.get(mention.name)
        if best is None or RANKS[mention.importance] > RANKS[best.importance]:
            by_name[mention.name] = mention
    return list(by_name.values())


def _in_tags(tags: Iterable[str]) -> Iterator[PostingSkill]:
    for tag in tags:
        name = skills.canonical_name(tag)
        for skill in [name] if name in skills.all_names() else skills.skill_names(tag):
            yield PostingSkill(skill, "mentioned", tag)


def _in_text(
    hits: Iterable[SkillHit], text: str, sections: TextSections, requirements: str
) -> Iterator[PostingSkill]:
    required_lines = {line.strip() for line in requirements.split("\n")} - {""}
    for hit in islice(hits, MAX_HITS):
        begin, end = line_bounds(text, hit.start, hit.end)
        line = text[begin:end]
        if DENIED.search(line[max(0, hit.start - begin - 60) : hit.start - begin]):
            continue
        part = sections.section_at(hit.start) or (
            "required" if line.strip() in required_lines else None
        )
        importance = _importance(line, hit.start - begin, hit.end - begin, part)
        yield PostingSkill(hit.name, importance, quote_line(text, hit.start, hit.end))


def _importance(line: str, start: int, end: int, part: Part | None) -> Importance:
    """Importance by the words of the sentence, else by the section."""
    first, last = _sentence(line, start, end)
    before, after = line[first:start], line[end:last]
    if part == "preferred" or LEADS.search(before) or _is_extra(after):
        return "preferred"
    if part == "other":
        return "required" if DEMANDS.search(after) else "mentioned"
    return "required" if part == "required" or WANTS.search(line, first, last) else "mentioned"


def _is_extra(after: str) -> bool:
    """Whether the following text calls it a plus before calling it a must."""
    extra = FOLLOWS.search(after)
    return extra is not None and not DEMANDS.search(after, 0, extra.start())


def _sentence(line: str, start: int, end: int) -> tuple[int, int]:
    first = max(0, start - CONTEXT_LENGTH)
    breaks = [match.end() for match in SENTENCE.finditer(line, first, start)]
    stop = SENTENCE.search(line, end, end + CONTEXT_LENGTH)
    return breaks[-1] if breaks else first, stop.start() if stop else min(
        len(line), end + CONTEXT_LENGTH
    )
