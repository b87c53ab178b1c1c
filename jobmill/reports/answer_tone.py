"""Whether sentences speak well or badly of an employer, by counting words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from jobmill.reports.answers import Tone

_GOOD: Final = re.compile(
    r"\b(?:good|great|excellent|strong|best|leading|renowned|respected|popular|friendly|supportive|generous"
    r"|competitive|flexible|innovative|stable|well[- ]regarded|highly (?:rated|regarded)|attractive|welcoming|fair"
    r"|inclusive|praised?|award[- ]winning|reputable|rewarding|recommend(?:ed)?|positive|outstanding|solid|love[sd]?"
    r"|collaborative|transparent|meaningful|reputation for)\b",
    re.IGNORECASE,
)
_BAD: Final = re.compile(
    r"\b(?:bad|poor|weak|worst|toxic|stressful|underpaid|low pay|below[- ]average|high turnover|layoffs?|laid off"
    r"|burn-?out|overwork\w*|complain\w*|critici[sz]\w*|controvers\w*|lawsuits?|scandal|unstable|chaotic|micromanag\w*"
    r"|negative|disappoint\w*|unfair|discriminat\w*|mandatory overtime|limited (?:growth|career)|slow promotions?|struggl\w*"
    r"|exhausting|strict|understaffed|declin\w*|problems?)\b",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"\b(?:not|no|never|isn't|aren't|without|less|hardly|few)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)  # fmt: skip


def read_tone(sentences: Iterable[str]) -> Tone:
    """The tone of the sentences about the company; a negated word counts for the other side."""
    good = bad = 0
    for sentence in sentences:
        for pattern, is_praise in ((_GOOD, True), (_BAD, False)):
            for match in pattern.finditer(sentence):
                denied = bool(_DENIED.search(sentence[max(0, match.start() - 40) : match.start()]))
                if is_praise != denied:
                    good += 1
                else:
                    bad += 1
    return "positive" if good > bad else "negative" if bad > good else "neutral"
