"""Checks what a model claims against the two texts it was shown: the profile and the posting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache, cached_property

from jobmill.catalog.posting import Posting
from jobmill.matching.profile import Profile

from ..posting_facts import skills

ALIKE = 0.9
"""So alike must a line be to one of the profile's; what is kept is the profile's own."""
LONGEST = 500
"""Letters of a line or sentence that are looked at; nothing that we want is longer."""
MOST = 30
"""Claims of one kind that are looked at."""
SHOWN = 160
"""Letters of a dropped claim that are kept."""

SIGNS = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u00a0": " "})  # fmt: skip
SENTENCE = re.compile(r"(?<=[.!?])\s+")
WORD = re.compile(r"[^\W\d_][\w'+#-]*")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
YEARS = re.compile(r"(\d+(?:\.\d+)?)\s*\+?[\s-]*(?:years?|yrs?)\b([^.,;]{0,60})", re.IGNORECASE)
ENDING = re.compile(r"(?<=\w{3})(?:'s|ing|ers?|ed|e?s|e|ly|ions?|ment)$")
# All that a summary may say in words that are not the profile's: nothing that one can lie with.
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
class Checked:
    """What was kept is with whoever asked; this is what was not."""

    dropped: list[str] = field(default_factory=list[str])

    def keep(
        self, kind: str, claims: Iterable[str], check: Callable[[str], str | None]
    ) -> tuple[str, ...]:
        """What `check` makes of the claims, each once; those of which it makes nothing are dropped."""
        kept: dict[str, str] = {}
        for claim in list(claims)[:MOST]:
            said = shown(claim)
            if not said:
                continue
            if held := check(said):
                kept.setdefault(held.casefold(), held)
            else:
                self.dropped.append(f"{kind}: {said[:SHOWN]}")
        return tuple(kept.values())


class Held:
    """What a profile and a posting hold."""

    def __init__(self, profile: Profile, posting: Posting) -> None:
        self._person = profile
        texts = (posting.title, posting.description, posting.requirements, *posting.tags)
        self.posting = "\n".join(text for text in texts if text)
        lines = (*profile.highlights, *profile.projects, *profile.achievements)
        self.profile = "\n".join((*profile.titles, profile.summary, *lines))

    @cached_property
    def _asked(self) -> dict[str, str]:
        """The skills that the posting names, as it spells them."""
        hits = reversed(skills.find(self.posting))
        return {hit.name: self.posting[hit.start : hit.end] for hit in hits}

    @cached_property
    def _listed(self) -> dict[str, str]:
        """The skills that the profile lists, as it spells them, by their folded names."""
        return {skills.canonical(one.name).casefold(): one.name for one in self._person.skills}

    @cached_property
    def _own(self) -> dict[str, str]:
        """The same, and those that its lines name."""
        return {name.casefold(): name for name in skills.named(self.profile)} | self._listed

    @cached_property
    def _stems(self) -> frozenset[str]:
        person = self._person.person
        about = (person.name or "", person.home_city, *self._person.locations, NEUTRAL)
        text = "\n".join((*self._listed.values(), self.profile, *about))
        return frozenset(map(_stem, _words(text)))

    @cached_property
    def _numbers(self) -> frozenset[str]:
        years = (self._person.experience_years, *(one.years for one in self._person.skills))
        told = {f"{one:g}" for one in years if one is not None}
        return frozenset(told.union(NUMBER.findall(self.profile)))

    @cached_property
    def _years(self) -> dict[str, float]:
        return {skills.canonical(one.name): one.years or 0.0 for one in self._person.skills}

    def matched(self, claim: str) -> str | None:
        """A skill that both name, as the profile spells it."""
        name = skills.canonical(claim)
        mine = self._own.get(name.casefold())
        if not mine and not is_known(name):
            mine = find(claim, self.profile)
        return mine if mine and self._spelling(claim) else None

    def gap(self, claim: str) -> str | None:
        """What the posting names and the profile does not."""
        name = skills.canonical(claim)
        if name.casefold() in self._own or (not is_known(name) and find(claim, self.profile)):
            return None
        return name if is_known(name) and name in self._asked else self._spelling(claim)

    def quote(self, claim: str) -> str | None:
        """Words of the posting, as it spells them."""
        return find(claim.strip(QUOTES), self.posting)

    def skill(self, claim: str) -> str | None:
        """A skill that the profile lists."""
        return self._listed.get(skills.canonical(claim).casefold())

    def keyword(self, claim: str) -> str | None:
        """Words of the posting that state nothing which the profile does not hold."""
        written = self._spelling(claim)
        return written if written and self._bears(written) else None

    def sentence(self, claim: str) -> str | None:
        """A sentence of which the profile holds all skills, numbers, names and other words."""
        own = find(claim.rstrip("."), self.profile)
        return claim if own or self._bears(claim) else None

    def _spelling(self, claim: str) -> str | None:
        """What the posting names, as it spells it."""
        name = skills.canonical(claim)
        # An everyday word is not a skill wherever it stands: "go to market" does not ask for Go.
        return self._asked.get(name) if is_known(name) else find(claim, self.posting)

    def _bears(self, text: str) -> bool:
        """Whether the profile holds all that a text says."""
        hits = skills.find(text)
        rest = text
        for hit in reversed(hits):
            rest = f"{rest[: hit.start]} {rest[hit.end :]}"
        return (
            all(hit.name.casefold() in self._own for hit in hits)
            and all(number in self._numbers for number in NUMBER.findall(rest))
            and all(map(self._has_word, _words(rest)))
            and self._has_the_years(text)
        )

    def _has_word(self, word: str) -> bool:
        name = skills.canonical(word)
        # With a capital, an everyday word may be a skill also where no list tells so.
        if word != word.lower() and is_known(name):
            return name.casefold() in self._own
        return _stem(word) in self._stems

    def _has_the_years(self, text: str) -> bool:
        """Whether years that are said of a skill are not more than the profile gives it."""
        return all(
            float(found[1]) <= self._years.get(name, 0.0)
            for found in YEARS.finditer(text)
            for name in skills.named(found[2])
        )


def _words(text: str) -> list[str]:
    """The words, those with a hyphen in parts."""
    return [part for word in WORD.findall(plain(text)) for part in word.split("-") if part]


def _stem(word: str) -> str:
    return ENDING.sub("", word.casefold())


def sentences(text: str) -> list[str]:
    return SENTENCE.split(shown(text, 4 * LONGEST))


def closest(claim: str, lines: Sequence[str]) -> str | None:
    """The line that a claim repeats, word for word or nearly so."""
    wanted = squeeze(claim)
    best, most = None, ALIKE
    for line in lines:
        said = squeeze(line[:LONGEST])
        if said == wanted:
            return line
        alike = SequenceMatcher(None, said, wanted, autojunk=False)
        if alike.quick_ratio() >= most and (ratio := alike.ratio()) >= most:
            best, most = line, ratio
    return best


def find(words: str, text: str) -> str | None:
    """The words as they stand in a text, whatever their case and the spaces between them."""
    parts = plain(words)[:LONGEST].split()
    if not any(part.isalnum() or len(part) > 1 for part in parts):
        return None
    inner = r"\s+".join(map(re.escape, parts))
    # Signs are one letter each before and after, so that places stay the same.
    found = re.search(rf"(?<!\w){inner}(?!\w)", text.translate(SIGNS), re.IGNORECASE)
    return " ".join(text[found.start() : found.end()].split()) if found else None


def shown(text: str, most: int = LONGEST) -> str:
    """A model's words on one line, without signs that neither a terminal nor the database takes."""
    kept = "".join(sign if sign.isprintable() else " " for sign in text[:most])
    return " ".join(kept.split())


def plain(text: str) -> str:
    """With one sign where typographers have several."""
    return text.translate(SIGNS)


def squeeze(text: str) -> str:
    return " ".join(plain(text).casefold().split()).strip(" -*.;")


def is_known(name: str) -> bool:
    """Whether it is the canonical name of a skill that we find by its spellings."""
    return name in _known()


@cache
def _known() -> frozenset[str]:
    return frozenset(one.name for one in skills.spellings())
