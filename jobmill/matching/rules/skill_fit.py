"""What a posting asks for beside what a profile has: how much each skill counts, and who has it."""

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

from ..posting_facts import (
    LONGEST,
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
"""3: what the work is about; 2: required; 1: nice to have; 0: only mentioned."""

# Ways of working, and tools that everybody has: people rarely write them into a profile, and nobody
# is turned down for them.
PRACTICES: Final = frozenset(
    ("A/B testing", "Accessibility", "Agile", "AI agents", "Bash", "BDD", "Bitbucket",
     "Business analysis", "CI/CD", "Cloud computing", "Confluence", "Data analysis",
     "Data governance", "Data modeling", "Data pipelines", "Data quality", "Data structures",
     "Data visualization", "Design patterns", "Design systems", "DevOps", "Distributed systems",
     "DNS", "Domain-driven design", "End-to-end testing", "Event-driven architecture",
     "Functional programming", "Git", "GitHub", "GitLab", "Google Sheets", "Google Workspace",
     "High availability", "Incident response", "Integration testing", "Jira", "JSON", "JWT",
     "Kanban", "Load balancing", "Load testing", "Message queues", "Microservices", "Microsoft 365",
     "Microsoft Excel", "Microsoft Office", "npm", "OAuth", "Object-oriented programming",
     "Observability", "OKR", "Pair programming", "Performance testing", "Performance tuning",
     "Postman", "PowerPoint", "Product management", "Project management", "Prototyping", "Regex",
     "Regression testing", "Responsive design", "REST", "Scrum", "SDLC", "Serverless",
     "Software architecture", "System design", "TCP/IP", "TDD", "Technical support",
     "Technical writing", "Test automation", "Time series analysis", "Trello", "Unit testing",
     "Unix", "WebSockets", "Wireframing", "XML", "YAML")
)  # fmt: skip
PRIMARY_LINE_COUNT: Final = 3
"""A required skill that so many lines name is what the work is about."""

CUSTOM_WEIGHTS: Final[dict[Importance, Weight]] = {"required": 2, "preferred": 1, "mentioned": 1}
"""Most trades name what they need among the duties."""

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
    """A skill that is asked for, and the profile's own that has it or implies it."""

    requirement: PostingSkill
    weight: Weight
    profile_skill: Skill | None
    is_implied: bool = False
    choice: str = ""
    """The same for all skills of which the posting says that one will do; else its own name."""
    is_covered: bool = False
    """Another one of the choice is there, or stands for it."""
    is_custom: bool = False
    """Nobody but the person calls it a skill: what else the posting asks of the kind is not known."""

    @property
    def name(self) -> str:
        return self.requirement.name

    @property
    def is_practice(self) -> bool:
        """Not what the work is about."""
        return self.weight == 1 and self.name in PRACTICES

    @property
    def is_missing(self) -> bool:
        return self.profile_skill is None and not self.is_covered


def compare_skills(
    profile: Profile, posting: Posting, facts: PostingFacts
) -> tuple[SkillComparison, ...]:
    """Each skill that is asked for, what counts most first."""
    held, others = _skills_by_name(profile.skills)
    weights = _weights(posting, facts)
    choices = _find_choices(facts.skills, {name for name, weight in weights.items() if weight == 3})
    found: list[SkillComparison] = []
    for one in facts.skills:
        name = skills.canonical_name(one.name)
        has = held.get(name) or others.get(name)
        is_implied = has is not None and name not in held
        choice = choices.get(one.name, one.name)
        found.append(SkillComparison(one, weights[one.name], has, is_implied, choice))
    found += _compare_custom_skills(profile, posting)
    return tuple(_mark_covered(sorted(found, key=lambda one: (-one.weight, one.name))))


def _compare_custom_skills(profile: Profile, posting: Posting) -> Iterable[SkillComparison]:
    """What the profile names and no list of skills has, where the posting has it in these words."""
    held, _ = _skills_by_name(profile.skills)
    for one in _find_custom_skills(_custom_names(profile), posting):
        weight = 3 if one.words == posting.title else CUSTOM_WEIGHTS[one.importance]
        weight = 0 if personal_skills.is_generic(one.name) else weight
        yield SkillComparison(one, weight, held[one.name], choice=one.name, is_custom=True)


def _custom_names(profile: Profile) -> tuple[str, ...]:
    held, _ = _skills_by_name(profile.skills)
    return tuple(sorted(held.keys() - skills.all_names()))


def _find_custom_skills(names: tuple[str, ...], posting: Posting) -> tuple[PostingSkill, ...]:
    text = (posting.description or posting.requirements or "")[:LONGEST]
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
    """Whether a profile names a skill, by whatever name."""
    return skills.canonical_name(name) in _skills_by_name(profile.skills)[0]


@lru_cache(maxsize=256)
def _skills_by_name(of: tuple[Skill, ...]) -> tuple[dict[str, Skill], dict[str, Skill]]:
    """The skills by their canonical names, and by the names of those that they imply; the best first."""
    best = sorted(of, key=lambda skill: (-RANKS[skill.rank], skill.name))
    held: dict[str, Skill] = {}
    others: dict[str, Skill] = {}
    for skill in best:
        for name in _names(skill.name):
            held.setdefault(name, skill)
            for more in sorted(implied_skills([name])):
                others.setdefault(more, skill)
    return held, others


def _names(said: str) -> list[str]:
    """The name, and those of other skills in it: "Python (Django, Flask)" are three."""
    name = skills.canonical_name(said)
    return [name] if name in skills.all_names() else [name, *skills.skill_names(said)]


def _weights(posting: Posting, facts: PostingFacts) -> dict[str, Weight]:
    titled = set(skills.skill_names(posting.title))
    lines = (
        _count_lines(posting) if any(one.importance == "required" for one in facts.skills) else {}
    )
    return {one.name: _weigh(one, titled, lines) for one in facts.skills}


def _weigh(asked: PostingSkill, titled: set[str], lines: dict[str, int]) -> Weight:
    if asked.name in titled:
        return 3
    if asked.importance == "mentioned":
        return 0
    if asked.importance == "preferred" or asked.name in PRACTICES:
        return 1
    return 3 if lines.get(asked.name, 0) >= PRIMARY_LINE_COUNT else 2


def spellings_in_posting(posting: Posting) -> dict[str, str]:
    """Every skill that a posting names, as it spells it first."""
    text = _text(posting)
    found: dict[str, str] = {}
    for hit in _cached_hits(text):
        found.setdefault(hit.name, text[hit.start : hit.end])
    return found


def custom_spellings_in_posting(profile: Profile, posting: Posting) -> dict[str, str]:
    """The same of the skills that only the profile calls so."""
    text = _text(posting)
    hits = sorted(
        personal_skills.find_custom_skills(_custom_names(profile), text), key=lambda hit: -hit.start
    )
    return {hit.name: text[hit.start : hit.end] for hit in hits}


def custom_skills_in_line(profile: Profile, line: str) -> set[str]:
    """The skills that only the profile calls so, and a line names."""
    return {hit.name for hit in personal_skills.find_custom_skills(_custom_names(profile), line)}


def _count_lines(posting: Posting) -> dict[str, int]:
    """How many lines name each skill."""
    text = _text(posting)
    return Counter(
        name
        for name, _ in {(hit.name, text.rfind("\n", 0, hit.start)) for hit in _cached_hits(text)}
    )


def _text(posting: Posting) -> str:
    body = posting.description or posting.requirements or ""
    # As much as `facts` reads: nobody may keep a worker from its heartbeat by a text without end.
    return "\n".join([posting.title, *posting.tags, body])[:LONGEST]


@lru_cache(maxsize=64)
def _cached_hits(text: str) -> tuple[skills.SkillHit, ...]:
    """One posting is judged several times in a row."""
    return tuple(skills.find_skills(text))


def _mark_covered(abilities: list[SkillComparison]) -> Iterable[SkillComparison]:
    """Of a choice, what the profile has covers the others; if it has none, the first stands for all."""
    held = {one.choice for one in abilities if one.profile_skill}
    seen: set[str] = set()
    for one in abilities:
        spare = one.profile_skill is None and (one.choice in held or one.choice in seen)
        seen.add(one.choice)
        yield replace(one, is_covered=spare)


def _find_choices(asked: Iterable[PostingSkill], fixed: set[str]) -> dict[str, str]:
    """The choice to which a skill belongs. What the work is about is none: it is asked for whatever
    else would do."""
    wanted = {one.name: one.words for one in asked if one.name not in fixed}
    found: dict[str, str] = {}
    for words in dict.fromkeys(wanted.values()):
        for run in _joined_names(words):
            names = {name for name in run if name in wanted}
            known = {found[name] for name in names if name in found}
            joined = names | {name for name, choice in found.items() if choice in known}
            found |= dict.fromkeys(joined, min(joined)) if len(joined) > 1 else {}
    return found


@lru_cache(maxsize=16_384)
def _joined_names(line: str) -> tuple[tuple[str, ...], ...]:
    """The names that a line joins by "or", "/" or as examples: "Go, Rust or Java", "such as AWS, GCP"."""
    hits = skills.find_skills(line)
    runs: dict[int, list[skills.SkillHit]] = defaultdict(list)
    begin = 0
    for at, hit in enumerate(hits):
        if at and not _JOINS.fullmatch(line[hits[at - 1].end : hit.start]):
            begin = at
        runs[begin].append(hit)
    return tuple(tuple(hit.name for hit in run) for run in runs.values() if _is_choice(line, run))


def _is_choice(line: str, run: list[skills.SkillHit]) -> bool:
    between = (line[one.end : other.start] for one, other in pairwise(run))
    return len(run) > 1 and (
        any(_OR.search(text) for text in between)
        or _SUCH_AS.search(line[: run[0].start]) is not None
        or _OR_ALIKE.match(line[run[-1].end :]) is not None
    )
