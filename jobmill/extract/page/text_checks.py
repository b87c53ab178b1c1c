"""Compare texts of a page, and tally evidence for the values of a field."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urljoin, urlsplit

_NON_WORD = re.compile(r"[\W_]+")


# Many checks of a page normalize the same words.
@lru_cache(maxsize=1_024)
def normalize(words: str | None) -> str:
    """Normalize for comparison: lower case, words separated by one space."""
    return _NON_WORD.sub(" ", (words or "").casefold()).strip()


def contains_words(words: str, text: str) -> bool:
    """Whether a normalized text contains normalized words as whole words."""
    return bool(words) and f" {words} " in f" {text} "


def absolute_url(link: str, url: str) -> str | None:
    """The absolute URL of a link; None if it is malformed, or not http or https."""
    try:
        full = urljoin(url, link.strip())
    except ValueError:
        return None
    is_web = full.startswith(("http://", "https://"))
    return full if is_web and not is_malformed(full) else None


def is_malformed(link: str) -> bool:
    """Whether a link is no URL at all, such as http://[your-domain]/ in a template."""
    try:
        urlsplit(link.strip())
    except ValueError:
        return True
    return False


@dataclass(slots=True)
class EvidenceTally:
    """Candidates for one field and the evidence for each; evidence of one kind counts once."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    votes: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])

    def add(self, name: str, kind: str, weight: float) -> None:
        """Add evidence for a candidate; its first spelling is kept."""
        if key := normalize(name):
            self.texts.setdefault(key, name)
            self.votes.setdefault(key, {})
            self.adjust(key, kind, weight)

    def adjust(self, key: str, kind: str, weight: float) -> None:
        """Add evidence for or against an existing candidate."""
        kinds = self.votes[key]
        kinds[kind] = max(kinds.get(kind, 0), weight) if weight > 0 else weight

    def candidates(self) -> list[str]:
        """The normalized candidates, in the order in which they were added."""
        return list(self.texts)

    def score(self, key: str) -> float:
        """The sum of all evidence for and against a candidate."""
        return sum(self.votes[key].values())

    def best(self, least: float) -> str | None:
        """The candidate with the most evidence, the earlier of equals; None if all have too little."""
        key = max(self.texts, key=self.score, default=None)
        return self.texts[key] if key is not None and self.score(key) >= least else None
