"""Compare the skills that a posting asks for with those of a profile, and weigh each."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from jobmill.catalog.posting import Posting
from jobmill.matching.profile import RANKS, Profile, Skill
from jobmill.plain_text import read_phrase_list

from ..posting_facts import (
    MAX_TEXT_LENGTH,
    Importance,
    PostingFacts,
    PostingSkill,
    personal_skills,
    required_skills,
    sections,
    skills,
)
from ..posting_facts.implied_skills import implied_skills

Weight: TypeAlias = Literal[0, 1, 2, 3]
"""3: central to the job; 2: required; 1: nice to have; 0: only mentioned."""

PRACTICES: Final = read_phrase_list("jobmill.matching.rules", "practices.txt")
"""Practices and common tools, which people rarely list in a profile."""
PRIMARY_LINE_COUNT: Final = 3
"""A required skill that this many lines name is central to the job."""

CUSTOM_WEIGHTS: Final[dict[Importance, Weight]] = {"required": 2, "preferred": 1, "mentioned": 1}
"""Outside of software, postings often name required skills among the duties."""

_JOINS: Final = re.compile(r"\s*(?:,|/|,?\s*(?:and/)?or|\||,?\s*and)\s*", re.IGNORECASE)
_OR: Final = re.compile(r"/|\bor\b|\|", re.IGNORECASE)
_SUCH_AS: Final = re.compile(
    r"(?:\b(?:such as|like|e\.?g\.?,?|one of|any of|either|including one of|for example,?)|\(i\.e\.,?)[\s(:]*$",
    re.IGNORECASE,
)
_OR_ALIKE: Final = re.compile(
    r"[\s,]*\(?\s*(?:(?:and/)?or (?:(?:an)?other|similar|equivalent|comparable|related|any|something)"
    r"|and similar|or the like|etc\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SkillComparison:
    """A skill that a posting names, and the profile's skill that equals or implies it."""

    requirement: PostingSkill
    weight: Weight
    profile_skill: Skill | None
    is_implied: bool = False
    choice: str = ""
    """Shared by skills that the posting offers as alternatives; otherwise the skill's name."""
    is_covered: bool = False
    """Another alternative is in the profile, or already counts for this one."""
    is_custom: bool = False
    """Only the profile lists it as a skill, so similar skills that the posting asks for are
    unknown."""

    @property
    def name(self) -> str:
        return self.requirement.name

    @property
    def is_practice(self) -> bool:
        """Whether it is a practice that is not central to the job."""
        return self.weight == 1 and self.name in PRACTICES

    @property
    def is_missing(self) -> bool:
        return self.profile_skill is None and not self.is_covered


def compare_skills(
    profile: Profile, posting: Posting, facts: PostingFacts
) -> tuple[SkillComparison, ...]:
    """Compare every skill that the posting names, the most important first."""
    own_skills, implied = _skills_by_name(profile.skills)
    weights = _weights(posting, facts)
    choices = _find_choices(facts.skills, {name for name, weight in weights.items() if weight == 3})
    comparisons: list[SkillComparison] = []
    for requirement in facts.skills:
        name = skills.canonical_name(requirement.name)
        profile_skill = own_skills.get(name) or implied.get(name)
        is_implied = profile_skill is not None and name not in own_skills
        choice = choices.get(requirement.name, requirement.name)
        comparisons.append(
            SkillComparison(
                requirement, weights[requirement.name], profile_skill, is_implied, choice
            )
        )
    comparisons += _compare_custom_skills(profile, posting)
    return tuple(_mark_covered(sorted(comparisons, key=lambda skill: (-skill.weight, skill.name))))


def _compare_custom_skills(profile: Profile, posting: Posting) -> Iterable[SkillComparison]:
    """Compare the profile's skills that are not in our list, if the posting contains their words."""
    own_skills, _ = _skills_by_name(profile.skills)
    for requirement in _find_custom_skills(_custom_names(profile), posting):
        weight = 3 if requirement.words == posting.title else CUSTOM_WEIGHTS[requirement.importance]
        weight = 0 if personal_skills.is_generic(requirement.name) else weight
        yield SkillComparison(
            requirement,
            weight,
            own_skills[requirement.name],
            choice=requirement.name,
            is_custom=True,
        )


def _custom_names(profile: Profile) -> tuple[str, ...]:
    own_skills, _ = _skills_by_name(profile.skills)
    return tuple(sorted(own_skills.keys() - skills.all_names()))


def _find_custom_skills(names: tuple[str, ...], posting: Posting) -> tuple[PostingSkill, ...]:
    text = (posting.description or posting.requirements or "")[:MAX_TEXT_LENGTH]
    return (
        _find_custom_skills_in(names, posting.title, text, posting.requirements or "")
        if names
        else ()
    )


@lru_cache(maxsize=64)
def _find_custom_skills_in(
    names: tuple[str, ...], title: str, text: str, requirements: str
) -> tuple[PostingSkill, ...]:
    return tuple(
        required_skills.read_custom_skills(
            names, title, text, sections.find_sections(text), requirements
        )
    )


def has_skill(profile: Profile, name: str) -> bool:
    """Whether a profile lists a skill, under any of its names."""
    return skills.canonical_name(name) in _skills_by_name(profile.skills)[0]


@lru_cache(maxsize=256)
def _skills_by_name(
    skills_of_profile: tuple[Skill, ...],
) -> tuple[dict[str, Skill], dict[str, Skill]]:
    """Index skills by canonical name, and by the names of skills that they imply. The best rank
    wins."""
    best = sorted(skills_of_profile, key=lambda skill: (-RANKS[skill.rank], skill.name))
    own_skills: dict[str, Skill] = {}
    implied: dict[str, Skill] = {}
    for skill in best:
        for name in _names(skill.name):
            own_skills.setdefault(name, skill)
            for more in sorted(implied_skills([name])):
                implied.setdefault(more, skill)
    return own_skills, implied


def _names(text: str) -> list[str]:
    """The name and other skills in it: "Python (Django, Flask)" yields three."""
    name = skills.canonical_name(text)
    return [name] if name in skills.all_names() else [name, *skills.skill_names(text)]


def _weights(posting: Posting, facts: PostingFacts) -> dict[str, Weight]:
    titled = set(skills.skill_names(posting.title))
    lines = (
        _count_lines(posting)
        if any(skill.importance == "required" for skill in facts.skills)
        else {}
    )
    return {skill.name: _weigh_skill(skill, titled, lines) for skill in facts.skills}


def _weigh_skill(skill: PostingSkill, titled: set[str], lines: dict[str, int]) -> Weight:
    if skill.name in titled:
        return 3
    if skill.importance == "mentioned":
        return 0
    if skill.importance == "preferred" or skill.name in PRACTICES:
        return 1
    return 3 if lines.get(skill.name, 0) >= PRIMARY_LINE_COUNT else 2


def spellings_in_posting(posting: Posting) -> dict[str, str]:
    """Every skill that a posting names, with the first spelling it uses."""
    text = _text(posting)
    spellings: dict[str, str] = {}
    for hit in _cached_hits(text):
        spellings.setdefault(hit.name, text[hit.start : hit.end])
    return spellings


def custom_spellings_in_posting(profile: Profile, posting: Posting) -> dict[str, str]:
    """The profile's custom skills, in the posting's spelling."""
    text = _text(posting)
    hits = sorted(
        personal_skills.find_custom_skills(_custom_names(profile), text), key=lambda hit: -hit.start
    )
    return {hit.name: text[hit.start : hit.end] for hit in hits}


def custom_skills_in_line(profile: Profile, line: str) -> set[str]:
    """The profile's custom skills that a line names."""
    return {hit.name for hit in personal_skills.find_custom_skills(_custom_names(profile), line)}


def _count_lines(posting: Posting) -> dict[str, int]:
    """Count the lines that name each skill."""
    text = _text(posting)
    return Counter(
        name
        for name, _ in {(hit.name, text.rfind("\n", 0, hit.start)) for hit in _cached_hits(text)}
    )


def _text(posting: Posting) -> str:
    body = posting.description or posting.requirements or ""
    # Read at most as much as `posting_facts`, so that an endless text cannot delay a worker's
    # heartbeat.
    return "\n".join([posting.title, *posting.tags, body])[:MAX_TEXT_LENGTH]


@lru_cache(maxsize=64)
def _cached_hits(text: str) -> tuple[skills.SkillHit, ...]:
    """Cached because a posting is judged several times in a row."""
    return tuple(skills.find_skills(text))


def _mark_covered(comparisons: list[SkillComparison]) -> Iterable[SkillComparison]:
    """Mark alternatives as covered by the one that the profile has, else by the first one."""
    covered_choices = {skill.choice for skill in comparisons if skill.profile_skill}
    previous_choices: set[str] = set()
    for skill in comparisons:
        is_covered = skill.profile_skill is None and (
            skill.choice in covered_choices or skill.choice in previous_choices
        )
        previous_choices.add(skill.choice)
        yield replace(skill, is_covered=is_covered)


def _find_choices(requirements: Iterable[PostingSkill], fixed: set[str]) -> dict[str, str]:
    """Group alternative skills. A skill that is central to the job is never an alternative."""
    words_by_name = {
        requirement.name: requirement.words
        for requirement in requirements
        if requirement.name not in fixed
    }
    choices: dict[str, str] = {}
    for words in dict.fromkeys(words_by_name.values()):
        for run in _joined_names(words):
            names = {name for name in run if name in words_by_name}
            existing = {choices[name] for name in names if name in choices}
            joined = names | {name for name, choice in choices.items() if choice in existing}
            choices |= dict.fromkeys(joined, min(joined)) if len(joined) > 1 else {}
    return choices


@lru_cache(maxsize=16_384)
def _joined_names(line: str) -> tuple[tuple[str, ...], ...]:
    """Groups of names that a line joins as alternatives or examples: "Go, Rust or Java", "such as
    AWS, GCP"."""
    hits = skills.find_skills(line)
    runs: dict[int, list[skills.SkillHit]] = defaultdict(list)
    begin = 0
    for at, hit in enumerate(hits):
        if at and not _JOINS.fullmatch(line[hits[at - 1].end : hit.start]):
            begin = at
        runs[begin].append(hit)
    return tuple(tuple(hit.name for hit in run) for run in runs.values() if _is_choice(line, run))


def _is_choice(line: str, run: list[skills.SkillHit]) -> bool:
    between = (line[hit.end : next_hit.start] for hit, next_hit in pairwise(run))
    return len(run) > 1 and (
        any(_OR.search(text) for text in between)
        or _SUCH_AS.search(line[: run[0].start]) is not None
        or _OR_ALIKE.match(line[run[-1].end :]) is not None
    )
