"""Suggest what a resume for a listing should say, using only the profile's own words."""

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
"""Maximum lines of each kind, to fit into a resume."""

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
# Words that appear in almost every posting and resume.
_COMMON_WORDS: Final = (
    "able about across also been both build building built company develop developed developer each"
    " engineer engineering experience from great have help high into join just like made make many more"
    " most need other over people role skills software some such strong team teams than that their them"
    " they this through time using very well were what when where which while will with within work"
    " worked working year years your"
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())


def suggest_resume_content(profile: Profile, posting: Posting, facts: PostingFacts) -> ResumeIntake:
    """Select content from the profile, ordered by relevance to the listing."""
    listing = _ListingRelevance(profile, posting, facts)
    return ResumeIntake(
        professional_summary=_summary(profile, listing),
        prioritized_skills=listing.sort_skills(),
        experience_highlights=listing.sort_lines(profile.highlights),
        projects_to_include=listing.sort_lines(profile.projects),
        achievement_angles=listing.sort_lines(profile.achievements),
        ats_keywords=_keywords(profile, posting),
    )


class _ListingRelevance:
    """The skills and words of a listing, used to rank a profile's lines."""

    def __init__(self, profile: Profile, posting: Posting, facts: PostingFacts) -> None:
        self._profile = profile
        comparisons = skill_fit.compare_skills(profile, posting, facts)
        self._weights = {skill.name: skill.weight + 1 for skill in comparisons}
        self._requested = {
            skill.profile_skill.name: skill.weight + 1
            for skill in reversed(comparisons)
            if skill.profile_skill
        }
        self._words = _words(
            f"{posting.title}\n{posting.requirements or posting.description or ''}"
        )

    def relevance(self, line: str) -> int:
        """How much a line has in common with the listing; skills count more than words."""
        custom = skill_fit.custom_skills_in_line(self._profile, line)
        skill_weight = sum(
            self._weights.get(name, 0) for name in (*skills.skill_names(line), *custom)
        )
        return 3 * skill_weight + len(_words(line) & self._words)

    def sort_lines(self, lines: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(lines, key=lambda line: -self.relevance(line))[:MAX_LINES])

    def sort_skills(self) -> tuple[str, ...]:
        """The profile's skills, those that the listing asks for first."""
        ranked = sorted(
            self._profile.skills,
            key=lambda skill: (-self._requested.get(skill.name, 0), -RANKS[skill.rank]),
        )
        return tuple(skill.name for skill in ranked)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(fold_case(text))) - _COMMON


def _summary(profile: Profile, listing: _ListingRelevance) -> str:
    """The sentences relevant to the listing, in their original order; all sentences if none is."""
    sentences = [
        sentence.strip() for sentence in _SENTENCE.split(profile.summary) if sentence.strip()
    ]
    if sentences:
        return " ".join(
            [sentence for sentence in sentences if listing.relevance(sentence)] or sentences
        )
    years = profile.experience_years
    parts = [f"{years:g} {'year' if years == 1 else 'years'} of experience"] if years else []
    named = ", ".join(listing.sort_skills()[:5])
    return ": ".join([*parts, named] if named else parts)


def _keywords(profile: Profile, posting: Posting) -> tuple[str, ...]:
    """The profile's skills in the posting's spelling."""
    named = skill_fit.spellings_in_posting(posting)
    spellings = [words for name, words in named.items() if skill_fit.has_skill(profile, name)]
    return (*spellings, *skill_fit.custom_spellings_in_posting(profile, posting).values())
