"""What a resume for a listing should say, in the profile's own words and no others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from jobmill.catalog.posting import Posting
from jobmill.matching.profile import RANKS, Profile
from jobmill.matching.verdict import ResumeIntake
from jobmill.plain_text import fold_case

from ..posting_facts import PostingFacts, skills
from . import skill_fit

MAX_LINES: Final = 10
"""Lines of a kind: a resume has no room for more."""

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
# They stand in every posting and every resume.
_COMMON_WORDS: Final = (
    "able about across also been both build building built company develop developed developer each"
    " engineer engineering experience from great have help high into join just like made make many more"
    " most need other over people role skills software some such strong team teams than that their them"
    " they this through time using very well were what when where which while will with within work"
    " worked working year years your"
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())


def suggest_resume_content(profile: Profile, posting: Posting, facts: PostingFacts) -> ResumeIntake:
    """All of it from the profile, ordered by what the listing asks for."""
    listing = _ListingDemand(profile, posting, facts)
    return ResumeIntake(
        professional_summary=_summary(profile, listing),
        prioritized_skills=listing.sort_skills(),
        experience_highlights=listing.sort_lines(profile.highlights),
        projects_to_include=listing.sort_lines(profile.projects),
        achievement_angles=listing.sort_lines(profile.achievements),
        ats_keywords=_keywords(profile, posting),
    )


class _ListingDemand:
    """What a listing asks for, to order a profile's lines by."""

    def __init__(self, profile: Profile, posting: Posting, facts: PostingFacts) -> None:
        self._profile = profile
        compared = skill_fit.compare_skills(profile, posting, facts)
        self._weights = {one.name: one.weight + 1 for one in compared}
        self._asked = {
            one.profile_skill.name: one.weight + 1
            for one in reversed(compared)
            if one.profile_skill
        }
        self._words = _words(
            f"{posting.title}\n{posting.requirements or posting.description or ''}"
        )

    def relevance(self, line: str) -> int:
        """How much of the listing a line touches: skills count more than words."""
        own = skill_fit.custom_skills_in_line(self._profile, line)
        named = sum(self._weights.get(name, 0) for name in (*skills.skill_names(line), *own))
        return 3 * named + len(_words(line) & self._words)

    def sort_lines(self, lines: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(lines, key=lambda line: -self.relevance(line))[:MAX_LINES])

    def sort_skills(self) -> tuple[str, ...]:
        """The profile's, those that are asked for first."""
        ranked = sorted(
            self._profile.skills,
            key=lambda skill: (-self._asked.get(skill.name, 0), -RANKS[skill.rank]),
        )
        return tuple(skill.name for skill in ranked)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(fold_case(text))) - _COMMON


def _summary(profile: Profile, listing: _ListingDemand) -> str:
    """The sentences that touch the listing, in their order; all where none does."""
    sentences = [one.strip() for one in _SENTENCE.split(profile.summary) if one.strip()]
    if sentences:
        return " ".join([one for one in sentences if listing.relevance(one)] or sentences)
    years = profile.experience_years
    parts = [f"{years:g} {'year' if years == 1 else 'years'} of experience"] if years else []
    named = ", ".join(listing.sort_skills()[:5])
    return ": ".join([*parts, named] if named else parts)


def _keywords(profile: Profile, posting: Posting) -> tuple[str, ...]:
    """How the posting spells the skills that the profile names."""
    named = skill_fit.spellings_in_posting(posting)
    known = [words for name, words in named.items() if skill_fit.has_skill(profile, name)]
    return (*known, *skill_fit.custom_spellings_in_posting(profile, posting).values())
