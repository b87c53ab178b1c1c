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
    AskedSkill,
    Facts,
    Importance,
    personal_skills,
    required_skills,
    sections,
    skills,
)
from ..posting_facts.implied_skills import implied

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
OFTEN: Final = 3
"""A required skill that so many lines name is what the work is about."""

OWN: Final[dict[Importance, Weight]] = {"required": 2, "preferred": 1, "mentioned": 1}
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
class Ability:
    """A skill that is asked for, and the profile's own that has it or implies it."""

    asked: AskedSkill
    weight: Weight
    has: Skill | None
    implied: bool = False
    choice: str = ""
    """The same for all skills of which the posting says that one will do; else its own name."""
    covered: bool = False
    """Another one of the choice is there, or stands for it."""
    is_own: bool = False
    """Nobody but the person calls it a skill: what else the posting asks of the kind is not known."""

    @property
    def name(self) -> str:
        return self.asked.name

    @property
    def is_practice(self) -> bool:
        """Not what the work is about."""
        return self.weight == 1 and self.name in PRACTICES

    @property
    def is_missing(self) -> bool:
        return self.has is None and not self.covered


def compare(profile: Profile, posting: Posting, facts: Facts) -> tuple[Ability, ...]:
    """Each skill that is asked for, what counts most first."""
    held, others = _held(profile.skills)
    weights = _weights(posting, facts)
    choices = _choices(facts.skills, {name for name, weight in weights.items() if weight == 3})
    found: list[Ability] = []
    for one in facts.skills:
        name = skills.canonical(one.name)
        has = held.get(name) or others.get(name)
        is_implied = has is not None and name not in held
        choice = choices.get(one.name, one.name)
        found.append(Ability(one, weights[one.name], has, is_implied, choice))
    found += _own(profile, posting)
    return tuple(_covered(sorted(found, key=lambda one: (-one.weight, one.name))))


def _own(profile: Profile, posting: Posting) -> Iterable[Ability]:
    """What the profile names and no list of skills has, where the posting has it in these words."""
    held, _ = _held(profile.skills)
    for one in _read_own(_alone(profile), posting):
        weight = 3 if one.words == posting.title else OWN[one.importance]
        weight = 0 if personal_skills.is_said_everywhere(one.name) else weight
        yield Ability(one, weight, held[one.name], choice=one.name, is_own=True)


def _alone(profile: Profile) -> tuple[str, ...]:
    held, _ = _held(profile.skills)
    return tuple(sorted(held.keys() - skills.names()))


def _read_own(names: tuple[str, ...], posting: Posting) -> tuple[AskedSkill, ...]:
    text = (posting.description or posting.requirements or "")[:LONGEST]
    return _own_names(names, posting.title, text, posting.requirements or "") if names else ()


@lru_cache(maxsize=64)
def _own_names(
    names: tuple[str, ...], title: str, text: str, requirements: str
) -> tuple[AskedSkill, ...]:
    return tuple(required_skills.read_own(names, title, text, sections.find(text), requirements))


def holds(profile: Profile, name: str) -> bool:
    """Whether a profile names a skill, by whatever name."""
    return skills.canonical(name) in _held(profile.skills)[0]


@lru_cache(maxsize=256)
def _held(of: tuple[Skill, ...]) -> tuple[dict[str, Skill], dict[str, Skill]]:
    """The skills by their canonical names, and by the names of those that they imply; the best first."""
    best = sorted(of, key=lambda skill: (-RANKS[skill.rank], skill.name))
    held: dict[str, Skill] = {}
    others: dict[str, Skill] = {}
    for skill in best:
        for name in _names(skill.name):
            held.setdefault(name, skill)
            for more in sorted(implied([name])):
                others.setdefault(more, skill)
    return held, others


def _names(said: str) -> list[str]:
    """The name, and those of other skills in it: "Python (Django, Flask)" are three."""
    name = skills.canonical(said)
    return [name] if name in skills.names() else [name, *skills.named(said)]


def _weights(posting: Posting, facts: Facts) -> dict[str, Weight]:
    titled = set(skills.named(posting.title))
    lines = _lines(posting) if any(one.importance == "required" for one in facts.skills) else {}
    return {one.name: _weigh(one, titled, lines) for one in facts.skills}


def _weigh(asked: AskedSkill, titled: set[str], lines: dict[str, int]) -> Weight:
    if asked.name in titled:
        return 3
    if asked.importance == "mentioned":
        return 0
    if asked.importance == "preferred" or asked.name in PRACTICES:
        return 1
    return 3 if lines.get(asked.name, 0) >= OFTEN else 2


def spelt(posting: Posting) -> dict[str, str]:
    """Every skill that a posting names, as it spells it first."""
    text = _text(posting)
    found: dict[str, str] = {}
    for hit in _hits(text):
        found.setdefault(hit.name, text[hit.start : hit.end])
    return found


def spelt_alone(profile: Profile, posting: Posting) -> dict[str, str]:
    """The same of the skills that only the profile calls so."""
    text = _text(posting)
    hits = sorted(personal_skills.find(_alone(profile), text), key=lambda hit: -hit.start)
    return {hit.name: text[hit.start : hit.end] for hit in hits}


def named_alone(profile: Profile, line: str) -> set[str]:
    """The skills that only the profile calls so, and a line names."""
    return {hit.name for hit in personal_skills.find(_alone(profile), line)}


def _lines(posting: Posting) -> dict[str, int]:
    """How many lines name each skill."""
    text = _text(posting)
    return Counter(
        name for name, _ in {(hit.name, text.rfind("\n", 0, hit.start)) for hit in _hits(text)}
    )


def _text(posting: Posting) -> str:
    body = posting.description or posting.requirements or ""
    # As much as `facts` reads: nobody may keep a worker from its heartbeat by a text without end.
    return "\n".join([posting.title, *posting.tags, body])[:LONGEST]


@lru_cache(maxsize=64)
def _hits(text: str) -> tuple[skills.Hit, ...]:
    """One posting is judged several times in a row."""
    return tuple(skills.find(text))


def _covered(abilities: list[Ability]) -> Iterable[Ability]:
    """Of a choice, what the profile has covers the others; if it has none, the first stands for all."""
    held = {one.choice for one in abilities if one.has}
    seen: set[str] = set()
    for one in abilities:
        spare = one.has is None and (one.choice in held or one.choice in seen)
        seen.add(one.choice)
        yield replace(one, covered=spare)


def _choices(asked: Iterable[AskedSkill], fixed: set[str]) -> dict[str, str]:
    """The choice to which a skill belongs. What the work is about is none: it is asked for whatever
    else would do."""
    wanted = {one.name: one.words for one in asked if one.name not in fixed}
    found: dict[str, str] = {}
    for words in dict.fromkeys(wanted.values()):
        for run in _runs(words):
            names = {name for name in run if name in wanted}
            known = {found[name] for name in names if name in found}
            joined = names | {name for name, choice in found.items() if choice in known}
            found |= dict.fromkeys(joined, min(joined)) if len(joined) > 1 else {}
    return found


@lru_cache(maxsize=16_384)
def _runs(line: str) -> tuple[tuple[str, ...], ...]:
    """The names that a line joins by "or", "/" or as examples: "Go, Rust or Java", "such as AWS, GCP"."""
    hits = skills.find(line)
    runs: dict[int, list[skills.Hit]] = defaultdict(list)
    begin = 0
    for at, hit in enumerate(hits):
        if at and not _JOINS.fullmatch(line[hits[at - 1].end : hit.start]):
            begin = at
        runs[begin].append(hit)
    return tuple(tuple(hit.name for hit in run) for run in runs.values() if _is_choice(line, run))


def _is_choice(line: str, run: list[skills.Hit]) -> bool:
    between = (line[one.end : other.start] for one, other in pairwise(run))
    return len(run) > 1 and (
        any(_OR.search(text) for text in between)
        or _SUCH_AS.search(line[: run[0].start]) is not None
        or _OR_ALIKE.match(line[run[-1].end :]) is not None
    )
