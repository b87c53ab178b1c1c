"""A claim as the checks read it, and the verdict on one aspect of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from jobmill.reports.answers import ClaimVerdict
from jobmill.reports.claim_words import content_stems, is_negative
from jobmill.reports.quantities import Quantity, find_quantities
from jobmill.reports.site_statements import SiteStatement

_MAX_QUANTITIES: Final = 6
_DATED: Final = re.compile(
    r"\b(?:[Aa]s of|[Ii]n|[Bb]y|[Dd]uring|[Aa]round)\s+(?:early |late |mid-?|[A-Z][a-z]+ )?((?:19|20)\d\d)\b"
)
_FOUNDED_IN: Final = re.compile(
    r"\b(?:founded|established|started|opened|began|launched|formed|created|set up)\s+(?:back )?in\s+\d{4}\b",
    re.IGNORECASE,
)
_CONTRAST: Final = re.compile(r"^(?:Unlike|Like|Compared (?:to|with)|In contrast to) [^,.]{1,60}, ")
_PLANNED: Final = re.compile(
    r"\b(?:plans?|planning|intends?|prepar(?:es|ing)|considering|evaluating|about|expects?|set) (?:to\b|an?\b|its\b|the\b)"
    r"|\b(?:will soon|upcoming|is going to|exploring)\b",
    re.IGNORECASE,
)
_NEWS: Final = re.compile(r"\b(?:recently|just|newly|brand[- ]new|still)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ParsedClaim:
    text: str
    stems: frozenset[str]
    """Of the words that state something, without the company's name."""
    negative: bool
    quantities: tuple[Quantity, ...]
    dated: bool
    """Whether it says that it describes an earlier year."""
    planned: bool
    news: bool
    """Whether it presents something as new or as not yet changed."""
    year: int
    """The year in which the site was read."""


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """The verdict on one aspect of a claim."""

    verdict: ClaimVerdict
    reason: str
    statement: SiteStatement | None = None


def parse_claim(text: str, year: int, company_words: Iterable[str]) -> ParsedClaim:
    years = [int(match[1]) for match in _DATED.finditer(_FOUNDED_IN.sub(" ", text))]
    return ParsedClaim(
        text=text,
        stems=content_stems(_CONTRAST.sub("", text, count=1), frozenset(company_words)),
        negative=is_negative(text),
        quantities=find_quantities(text)[:_MAX_QUANTITIES],
        dated=any(earlier < year for earlier in years),
        planned=bool(_PLANNED.search(text)),
        news=bool(_NEWS.search(text)),
        year=year,
    )
