"""Find where a posting requires remote workers to live."""

from __future__ import annotations

import re

from .quoted_lines import sentence_around

_NAME = r"(?:U\.?S\.?A?\.?|U\.?K\.?|E\.?U\.?|EMEA|LATAM|APAC|[A-Z][a-z]+)"
_NAMES = rf"{_NAME}(?: {_NAME}){{0,2}}(?:(?:,| or| and|, or) (?:the )?{_NAME}(?: {_NAME})?){{0,4}}"
_MUST = (
    r"(?i:must|needs? to|required to|ha(?:ve|s) to"
    r"|only (?:hire|hiring|consider\w*|accept\w*|open to|recruit\w*))"
)
LIVES = re.compile(
    rf"\b{_MUST}\b[^.\n]{{0,40}}?\b(?:based|located|reside|residing|live|living|residents?)"
    rf"(?: \w+){{0,2}}? (?:in|within|of) (?:the )?(?P<one>{_NAMES})(?!\w)"
    rf"|(?<!\w)(?P<two>{_NAMES})[ -](?:based |resident )?(?:candidates|applicants|residents) only\b"
)
HINTS = (
    "based in", "based within", "located in", "located within", "reside", "live in", "living in",
    "residing in", "residents", "candidates only", "applicants only",
)  # fmt: skip
_BETWEEN = re.compile(r"(?:,| or| and)+(?: the)? ?|\.$")
# The requirement applies only to some candidates.
_BUT = re.compile(
    r"\b(?:if|unless|preferred|ideally|or (?:be )?willing|relocat\w+|not)\b", re.IGNORECASE
)


def find_required_residence(text: str) -> tuple[str, ...]:
    """The places in the text's words; empty if it does not say."""
    small = text.lower()
    if not any(hint in small for hint in HINTS):
        return ()
    for match in LIVES.finditer(text):
        if not _BUT.search(sentence_around(text, *match.span())):
            parts = _BETWEEN.split(match["one"] or match["two"])
            return tuple(part for part in parts if part)
    return ()
