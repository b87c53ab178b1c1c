"""Detect pages that say their posting is closed."""

from __future__ import annotations

import re

# Plain words first, for speed: the pattern runs only on lines that contain one of them.
_HINTS = (
    "no longer", "not accepting", "been filled", "been closed", "been removed", "been deactivated",
    "has expired", "is expired", "is closed", "has ended", "nicht mehr", "bereits besetzt",
    "ya no está", "n'est plus", "n\u2019est plus", "non è più", "niet meer",
)  # fmt: skip
_CLOSED = re.compile(
    r"\b(?:job|position|posting|vacancy|role|listing|opening|opportunity|requisition|advert|we|ad|"
    r"company|applications)\b.{0,60}?\b(?:"
    r"no longer (?:accept|available|active|open|being|exist|advertised|posted)|"
    r"(?:has|have) (?:already )?(?:expired|ended|closed|been (?:filled|closed|removed|"
    r"deactivated))|"
    r"(?:is|are) (?:now )?(?:closed|expired|filled|no longer|not accepting))"
    r"|^(?:no longer (?:accepting|available|active)|not accepting applications)"
    r"|\b(?:stelle|stellenanzeige|anzeige|position|job)\b.{0,60}?"
    r"(?:bereits besetzt|nicht mehr (?:verfügbar|aktiv|online|ausgeschrieben))"
    r"|\boferta\b.{0,40}?ya no está|\boffre\b.{0,40}?n['\u2019]est plus"
    r"|\bannuncio\b.{0,40}?non è più|\bvacature\b.{0,40}?niet meer",
    re.IGNORECASE,
)
# "Open until the position has been filled" says the opposite.
_CONDITION = re.compile(
    r"\b(?:until|till|if|once|when|unless|after|bis|sobald|falls|wenn)\b", re.IGNORECASE
)
_MAX_LINE_LENGTH = 250


def says_closed(texts: list[str]) -> bool:
    """Whether a short line says that the posting is closed; long lines are sentences of the
    posting."""
    text = "\n".join(text for text in texts if len(text) <= 4 * _MAX_LINE_LENGTH).lower()
    if not any(word in text for word in _HINTS):
        return False
    return any(
        bool(_CLOSED.search(line)) and not _CONDITION.search(line)
        for line in text.splitlines()
        if len(line) <= _MAX_LINE_LENGTH and any(word in line for word in _HINTS)
    )
