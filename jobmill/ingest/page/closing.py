"""Whether a page says that its posting is over."""

from __future__ import annotations

import re

# Cheap words first: the pattern is tried only on lines that hold one of them.
_WORDS = (
    "no longer", "been filled", "has expired", "is expired", "is closed", "been closed", "not accepting",
    "been removed", "nicht mehr", "bereits besetzt", "ya no está", "n'est plus", "non è più",
    "niet meer", "has ended", "n\u2019est plus", "been deactivated",
)  # fmt: skip
_OVER = re.compile(
    r"\b(?:job|position|posting|vacancy|role|listing|opening|opportunity|requisition|advert|we|company|"
    r"applications|ad)\b.{0,60}?\b(?:no longer (?:accept|available|active|open|being|exist|advertised|posted)|"
    r"(?:has|have) (?:already )?(?:been (?:filled|closed|removed|deactivated)|expired|ended|closed)|"
    r"(?:is|are) (?:now )?(?:closed|expired|filled|no longer)|(?:is|are) not accepting)"
    r"|^(?:no longer (?:accepting|available|active)|not accepting applications)"
    r"|\b(?:stelle|stellenanzeige|anzeige|position|job)\b.{0,60}?(?:nicht mehr (?:verfügbar|aktiv|online|ausgeschrieben)"
    r"|bereits besetzt)|\boferta\b.{0,40}?ya no está|\boffre\b.{0,40}?n['\u2019]est plus"
    r"|\bannuncio\b.{0,40}?non è più|\bvacature\b.{0,40}?niet meer",
    re.IGNORECASE,
)
# "Open until the position has been filled" says the opposite.
_STILL = re.compile(
    r"\b(?:until|till|if|once|when|unless|after|bis|sobald|falls|wenn)\b", re.IGNORECASE
)
_LONGEST = 250


def is_over(text: str) -> bool:
    """Whether a short line says so; the posting's own sentences speak of other things."""
    text = text.lower()
    if not any(word in text for word in _WORDS):
        return False
    return any(
        bool(_OVER.search(line)) and not _STILL.search(line)
        for line in text.splitlines()
        if len(line) <= _LONGEST and any(word in line for word in _WORDS)
    )
