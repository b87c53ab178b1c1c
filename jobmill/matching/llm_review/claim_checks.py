"""Check a model's claims against the two texts it was shown: the profile and the posting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache, cached_property

from jobmill.catalog.posting import Posting
from jobmill.matching.profile import Profile

from ..posting_facts import skills

MIN_SIMILARITY = 0.9
"""Minimum similarity of a claimed line to a line of the profile. The profile's wording is kept."""
MAX_CLAIM_LENGTH = 500
"""Characters of a line or sentence to look at; valid claims are shorter."""
MAX_CLAIMS = 30
"""Claims of one kind to look at."""
MAX_DROPPED_LENGTH = 160
"""Characters kept of a dropped claim."""

SIGNS = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u00a0": " "})  # fmt: skip
SENTENCE = re.compile(r"(?<=[.!?])\s+")
WORD = re.compile(r"[^\W\d_][\w'+#-]*")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
YEARS = re.compile(r"(\d+(?:\.\d+)?)\s*\+?[\s-]*(?:years?|yrs?)\b([^.,;]{0,60})", re.IGNORECASE)
ENDING = re.compile(r"(?<=\w{3})(?:'s|ing|ers?|ed|e?s|e|ly|ions?|ment)$")
# The words that a summary may use besides those of the profile. None of them states a fact.
NEUTRAL = """
a ability able about across adept also an and any are as at background based be both bring brings but by
can capable career careful combine comfortable committed creative curious dedicated driven each every
experience experienced expertise familiar focus focused for from full hands has have having highly i in into
is it its keen knowledge known more most motivated of offer on one or other over passionate practical
pragmatic professional proficient proven record reliable results role seasoned self skill skilled solid
strong successful than that the their them they this through to track up use used using versatile well
when where which while who whose with within work working year
"""
QUOTES = " \"'\u201c\u201d\u2018\u2019\u2026.,;"


@dataclass
class DroppedClaims:
    """Collects the claims that failed their check."""

    dropped: list[str] = field(default_factory=list[str])

    def keep_verified(
        self, kind: str, claims: Iterable[str], check: Callable[[str], str | None]
    ) -> tuple[str, ...]:
        """Return what `check` makes of each claim, without repeats, and record the claims that it
        rejects."""
        verified: dict[str, str] = {}
        for claim in list(claims)[:MAX_CLAIMS]:
            text = on_one_line(claim)
            if not text:
                continue
            if checked := check(text):
                verified.setdefault(checked.casefold(), checked)
            else:
                self.dropped.append(f"{kind}: {text[:MAX_DROPPED_LENGTH]}")
        return tuple(verified.values())


class ClaimChecker:
    """The facts that a profile and a posting contain."""

    def __init__(self, profile: Profile, posting: Posting) -> None:
        self._profile = profile
        texts = (
            posting.title,
            posting.description,
            posting.requirements,
            *posting.tags,
        )
        self.posting_text = "\n".join(text for text in texts if text)
        lines = (*profile.highlights, *profile.projects, *profile.achievements)
        self.profile_text = "\n".join((*profile.titles, profile.summary, *lines))

    @cached_property
    def _posting_skills(self) -> dict[str, str]:
        """Skills in the posting, with the posting's spelling."""
        hits = reversed(skills.find_skills(self.posting_text))
        return {hit.name: self.posting_text[hit.start : hit.end] for hit in hits}

    @cached_property
    def _listed_skills(self) -> dict[str, str]:
        """Skills listed in the profile, with its spelling, by case-folded name."""
        return {
            skills.canonical_name(skill.name).casefold(): skill.name
            for skill in self._profile.skills
        }

    @cached_property
    def _profile_skills(self) -> dict[str, str]:
        """Listed skills, and skills that the profile's texts name."""
        return {
            name.casefold(): name for name in skills.skill_names(self.profile_text)
        } | self._listed_skills

    @cached_property
    def _stems(self) -> frozenset[str]:
        person = self._profile.person
        about = (person.name or "", person.home_city, *self._profile.locations, NEUTRAL)
        text = "\n".join((*self._listed_skills.values(), self.profile_text, *about))
        return frozenset(map(_stem, _words(text)))

    @cached_property
    def _numbers(self) -> frozenset[str]:
        years = (self._profile.experience_years, *(skill.years for skill in self._profile.skills))
        numbers = {f"{count:g}" for count in years if count is not None}
        return frozenset(numbers.union(NUMBER.findall(self.profile_text)))

    @cached_property
    def _years(self) -> dict[str, float]:
        return {
            skills.canonical_name(skill.name): skill.years or 0.0 for skill in self._profile.skills
        }

    def check_matched_skill(self, claim: str) -> str | None:
        """A skill that both texts name, in the profile's spelling."""
        name = skills.canonical_name(claim)
        own_spelling = self._profile_skills.get(name.casefold())
        if not own_spelling and not is_known_skill(name):
            own_spelling = find_words(claim, self.profile_text)
        return own_spelling if own_spelling and self._spelling_in_posting(claim) else None

    def check_gap(self, claim: str) -> str | None:
        """A skill that the posting names and the profile does not."""
        name = skills.canonical_name(claim)
        if name.casefold() in self._profile_skills or (
            not is_known_skill(name) and find_words(claim, self.profile_text)
        ):
            return None
        return (
            name
            if is_known_skill(name) and name in self._posting_skills
            else self._spelling_in_posting(claim)
        )

    def check_quote(self, claim: str) -> str | None:
        """Words of the posting, in its spelling."""
        return find_words(claim.strip(QUOTES), self.posting_text)

    def check_profile_skill(self, claim: str) -> str | None:
        """A skill that the profile lists."""
        return self._listed_skills.get(skills.canonical_name(claim).casefold())

    def check_keyword(self, claim: str) -> str | None:
        """Words of the posting that claim nothing beyond the profile."""
        written = self._spelling_in_posting(claim)
        return written if written and self._supports(written) else None

    def check_sentence(self, claim: str) -> str | None:
        """A sentence that uses only skills, numbers, names and other words of the profile."""
        is_quote = find_words(claim.rstrip("."), self.profile_text)
        return claim if is_quote or self._supports(claim) else None

    def _spelling_in_posting(self, claim: str) -> str | None:
        """A term of the posting, in its spelling."""
        name = skills.canonical_name(claim)
        # An everyday word is not always a skill: "go to market" does not ask for Go.
        return (
            self._posting_skills.get(name)
            if is_known_skill(name)
            else find_words(claim, self.posting_text)
        )

    def _supports(self, text: str) -> bool:
        """Whether the profile supports everything that a text says."""
        hits = skills.find_skills(text)
        rest = text
        for hit in reversed(hits):
            rest = f"{rest[: hit.start]} {rest[hit.end :]}"
        return (
            all(hit.name.casefold() in self._profile_skills for hit in hits)
            and all(number in self._numbers for number in NUMBER.findall(rest))
            and all(map(self._has_word, _words(rest)))
            and self._has_the_years(text)
        )

    def _has_word(self, word: str) -> bool:
        name = skills.canonical_name(word)
        # A capitalised everyday word may be a skill even outside a list.
        if word != word.lower() and is_known_skill(name):
            return name.casefold() in self._profile_skills
        return _stem(word) in self._stems

    def _has_the_years(self, text: str) -> bool:
        """Whether the years claimed for a skill do not exceed those in the profile."""
        return all(
            float(match[1]) <= self._years.get(name, 0.0)
            for match in YEARS.finditer(text)
            for name in skills.skill_names(match[2])
        )


def _words(text: str) -> list[str]:
    """The words, split at hyphens."""
    return [
        part for word in WORD.findall(normalize_signs(text)) for part in word.split("-") if part
    ]


def _stem(word: str) -> str:
    return ENDING.sub("", word.casefold())


def split_sentences(text: str) -> list[str]:
    return SENTENCE.split(on_one_line(text, 4 * MAX_CLAIM_LENGTH))


def closest_line(claim: str, lines: Sequence[str]) -> str | None:
    """The line that a claim repeats exactly or nearly."""
    normalized_claim = normalize(claim)
    best, best_ratio = None, MIN_SIMILARITY
    for line in lines:
        normalized_line = normalize(line[:MAX_CLAIM_LENGTH])
        if normalized_line == normalized_claim:
            return line
        matcher = SequenceMatcher(None, normalized_line, normalized_claim, autojunk=False)
        if matcher.quick_ratio() >= best_ratio and (ratio := matcher.ratio()) >= best_ratio:
            best, best_ratio = line, ratio
    return best


def find_words(words: str, text: str) -> str | None:
    """Find the words in a text, ignoring case and spacing, and return the text's spelling."""
    parts = normalize_signs(words)[:MAX_CLAIM_LENGTH].split()
    if not any(part.isalnum() or len(part) > 1 for part in parts):
        return None
    inner = r"\s+".join(map(re.escape, parts))
    # The translation maps one character to one character, so positions stay valid.
    match = re.search(rf"(?<!\w){inner}(?!\w)", text.translate(SIGNS), re.IGNORECASE)
    return " ".join(text[match.start() : match.end()].split()) if match else None


def on_one_line(text: str, max_length: int = MAX_CLAIM_LENGTH) -> str:
    """The text on one line, without characters that terminals or the database reject."""
    printable = "".join(sign if sign.isprintable() else " " for sign in text[:max_length])
    return " ".join(printable.split())


def normalize_signs(text: str) -> str:
    """Replace typographic variants of quotes, dashes and spaces."""
    return text.translate(SIGNS)


def normalize(text: str) -> str:
    return " ".join(normalize_signs(text).casefold().split()).strip(" -*.;")


def is_known_skill(name: str) -> bool:
    """Whether this is the canonical name of a skill in our list."""
    return name in _known_skill_names()


@cache
def _known_skill_names() -> frozenset[str]:
    return frozenset(spelling.name for spelling in skills.all_spellings())
