"""Small questions about words, asked all over a page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urljoin

_NON_WORD = re.compile(r"[\W_]+")


# Each question about a page asks for the same words again.
@lru_cache(maxsize=1_024)
def normalize(words: str | None) -> str:
    """What is left for comparing: lower case, words set apart by one space."""
    return _NON_WORD.sub(" ", (words or "").casefold()).strip()


def contains_words(words: str, text: str) -> bool:
    """Whether squeezed words stand in squeezed words, not in the middle of one."""
    return bool(words) and f" {words} " in f" {text} "


def absolute_url(link: str, url: str) -> str | None:
    """Where a link on a page leads; None where that is no page."""
    try:
        full = urljoin(url, link.strip())
    except ValueError:
        return None
    return full if full.startswith(("http://", "https://")) else None


@dataclass(slots=True)
class EvidenceTally:
    """Candidates for one field, and what speaks for each; evidence of one kind counts once."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    votes: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])

    def add(self, name: str, kind: str, weight: float) -> None:
        """Count evidence for a candidate; the words first seen are the ones we keep."""
        if key := normalize(name):
            self.texts.setdefault(key, name)
            self.votes.setdefault(key, {})
            self.adjust(key, kind, weight)

    def adjust(self, key: str, kind: str, weight: float) -> None:
        """Count evidence for or against a candidate that is there."""
        kinds = self.votes[key]
        kinds[kind] = max(kinds.get(kind, 0), weight) if weight > 0 else weight

    def candidates(self) -> list[str]:
        """Squeezed, in the order of their first vote."""
        return list(self.texts)

    def score(self, key: str) -> float:
        """All that speaks for a candidate, and against it."""
        return sum(self.votes[key].values())

    def best(self, least: float) -> str | None:
        """The candidate with most evidence, the earlier of equals; None if all have too little."""
        key = max(self.texts, key=self.score, default=None)
        return self.texts[key] if key is not None and self.score(key) >= least else None
