"""Find words that suggest remote work in postings that do not state an arrangement."""

from __future__ import annotations

import re

from .quoted_lines import quote_line, sentence_around

MAYBE = re.compile(
    r"\bremote[- ](?:first|friendly|ok(?:ay)?|possible|optional|options?|candidates?|applicants?"
    r"|eligible|considered|available|culture|company|within|in the)\b"
    r"|\bremote work(?:ing)? (?:options?|policy|(?:is|are) (?:possible|available|ok|considered|welcome"
    r"|an option|allowed|fine))|\bremote[- ]?arbeit|\b(?:us|usa|uk|eu)[ -]+remote\b"
    r"|\b(?:or|open to|consider(?:ing)?|allow(?:ing)?|mostly|primarily|largely|full[- ]time,)"
    r" (?:\w+ ){0,2}?remote(?:ly)?\b|^\W*remote\W*$|\bremote, full[- ]time|\bremote, with\b"
    r"|\bwork(?:ing)? remotely\b|\bworks? from home\b|\bwork-from-home\b|\bhome ?office\b"
    r"|\b(?:fully|100%) distributed\b|\bany (?:us |u\.s\. )?location\b|\bmobile[sn]? arbeiten\b"
    r"|\btelework\w*|\btélétravail|\bteletrabajo\b",
    re.IGNORECASE | re.MULTILINE,
)
HINTS = (
    "remote", "from home", "from-home", "home office", "homeoffice", "distributed", "any location",
    "any us location", "any u.s. location", "arbeiten", "telework", "télétravail", "teletrabajo",
)  # fmt: skip
# Negated, or about something else.
DENIED = re.compile(
    r"\b(?:not?|never|without|cannot|can['\u2019]?t|don['\u2019]t|kein\w*|sans|pas de|ineligible|unable)\b",
    re.IGNORECASE,
)
ANOTHER = re.compile(
    r"stipend|allowance|budget|occasional|set-?up|equipment|up to|days?\b|weeks?\b|experience|comfortable|specifically",
    re.IGNORECASE,
)


def find_remote_hint(text: str) -> str:
    """The first line with such words; empty if there is none."""
    small = text.lower()
    if not any(hint in small for hint in HINTS):
        return ""
    for match in MAYBE.finditer(text):
        around = sentence_around(text, *match.span())
        if not DENIED.search(around) and not ANOTHER.search(around):
            return quote_line(text, *match.span())
    return ""
