"""Which words of a posting a line answers, and how much they weigh."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jobmill.catalog.posting import Posting
from jobmill.matching.posting_facts import (
    MAX_TEXT_LENGTH,
    personal_skills,
    read_facts,
    required_skills,
    sections,
    skills,
)
from jobmill.matching.posting_facts.required_skills import Importance
from jobmill.matching.profile import Profile

SKILL_WEIGHTS: dict[Importance, float] = {"required": 3.0, "preferred": 2.0, "mentioned": 1.0}
TITLE_WEIGHT = 1.0
REQUIRED_WEIGHT = 0.5
TEXT_WEIGHT = 0.2
MAX_WORD_WEIGHT = 3.0
"""All common words of a line together; many words of everyday language outweigh no skill."""
MAX_SHOWN_WORDS = 4
WORD = re.compile(r"[^\W\d_][\w'+#-]{2,}")
ENDING = re.compile(r"(?<=\w{4})(?:'s|ing|ers?|ed|e?s|e|ly|ions?|ment)$")
_COMMON = """
    about above across after all also and any are around based been before being below best
    between both but can candidate candidates closely company day days did does doing done each
    else ensure etc every experience for from full get give good great had has have having help
    here high how including into its job join just large like looking made make many may more
    most must need new not now off offer one only opportunity other our out over own part people
    per plus position provide put requirements responsibilities responsible role same see set
    she should since skills small some such take team teams than that the their them then there
    these they this those through time together two under until use used using various very was
    way well were what when where which while who will with within without work worked working
    would year years you your
"""
COMMON = frozenset(_COMMON.split())
"""Words that say nothing about the work."""


@dataclass(frozen=True, slots=True)
class LineAnswer:
    """What a line answers of a posting."""

    words: tuple[str, ...]
    weight: float


class PostingTerms:
    """The skills and words of a posting, with their weights."""

    def __init__(self, posting: Posting, profile: Profile) -> None:
        text = (posting.description or posting.requirements or "")[:MAX_TEXT_LENGTH]
        parts = sections.find_sections(text)
        self._custom = [
            skill.name
            for skill in profile.skills
            if skills.canonical_name(skill.name) not in skills.all_names()
        ]
        custom = required_skills.read_custom_skills(self._custom, posting.title, text, parts)
        self._skills = {
            skill.name.casefold(): SKILL_WEIGHTS[skill.importance]
            for skill in (*custom, *read_facts(posting).skills)
        }
        self._words: dict[str, float] = {}
        for match in WORD.finditer(text):
            weight = (
                REQUIRED_WEIGHT if parts.section_at(match.start()) == "required" else TEXT_WEIGHT
            )
            self._add(match[0], weight)
        for word in WORD.findall(posting.title):
            self._add(word, TITLE_WEIGHT)

    def _add(self, word: str, weight: float) -> None:
        stem = _stem(word)
        if stem not in COMMON and word.casefold() not in COMMON:
            self._words[stem] = max(weight, self._words.get(stem, 0.0))

    def answer(self, text: str) -> LineAnswer:
        """The skills and words of the posting that a text names, in its order."""
        weights = {
            name: self._skills[name.casefold()]
            for name in self._named_skills(text)
            if name.casefold() in self._skills
        }
        stems_of_skills = {_stem(word) for name in weights for word in WORD.findall(name)}
        words: dict[str, tuple[str, float]] = {}
        for word in WORD.findall(text):
            stem = _stem(word)
            if stem in self._words and stem not in stems_of_skills:
                words.setdefault(stem, (word.lower(), self._words[stem]))
        heaviest = sorted(words.values(), key=lambda pair: -pair[1])[:MAX_SHOWN_WORDS]
        weight = min(MAX_WORD_WEIGHT, sum(weight for _, weight in words.values()))
        return LineAnswer(
            (*weights, *(word for word, _ in heaviest)), sum(weights.values()) + weight
        )

    def _named_skills(self, text: str) -> list[str]:
        custom = (hit.name for hit in personal_skills.find_custom_skills(self._custom, text))
        return list(dict.fromkeys((*skills.skill_names(text), *custom)))


def _stem(word: str) -> str:
    return ENDING.sub("", word.casefold())
