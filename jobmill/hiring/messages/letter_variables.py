"""The variables that each letter may use, and the links that it must contain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template

from jobmill.errors import Invalid

_ALWAYS = frozenset({"name", "greeting", "title", "company", "my_link"})
_OFFER = frozenset({"accept_link", "decline_link", "deadline", "left", "minutes"})
VARIABLES: Mapping[str, frozenset[str]] = {
    "confirm": _ALWAYS | {"confirm_link", "deadline", "otherwise"},
    "applied": _ALWAYS,
    "received": _ALWAYS,
    "admitted": _ALWAYS | {"position"},
    "rejected": _ALWAYS | {"text"},
    "waitlisted": _ALWAYS | {"position"},
    "promoted": _ALWAYS | _OFFER,
    "reminder": _ALWAYS | _OFFER,
    "accepted": _ALWAYS,
    "decayed": _ALWAYS | {"position", "missed", "missed_at", "warning"},
    "lapsed": _ALWAYS | {"missed", "missed_at"},
    "withdrawn": _ALWAYS,
    "removed": _ALWAYS,
    "position": _ALWAYS | {"position"},
    "message": _ALWAYS | {"text"},
    **dict.fromkeys(
        ("interview_booked", "interview_moved", "interview_cancelled", "interview_over"),
        _ALWAYS | {"starts", "place"},
    ),
    "closed": _ALWAYS | {"text"},
}
"""The letters and the variables that each may use."""
_ANSWER_LINKS = ("accept_link", "my_link")
ESSENTIAL_LINKS: Mapping[str, tuple[str, ...]] = {
    "confirm": ("confirm_link",),
    "promoted": _ANSWER_LINKS,
    "reminder": _ANSWER_LINKS,
}
"""Links of which a letter needs at least one, because the applicant cannot do what it asks without."""


@dataclass(frozen=True, slots=True)
class LetterText:
    subject: str
    body: str


def check_variables(source: str, text: LetterText, letter: str) -> None:
    """Raise Invalid if the text uses a variable that this letter does not have, or lacks its link."""
    variables = VARIABLES[letter]
    for part in (Template(text.subject), Template(text.body)):
        if not part.is_valid():
            raise Invalid(f"{source} has a $ without a variable name. Write $$ for a dollar sign.")
        unknown = [name for name in part.get_identifiers() if name not in variables]
        if unknown:
            names = ", ".join(f"${name}" for name in sorted(variables))
            raise Invalid(f"{source} uses ${unknown[0]}. Variables of this email: {names}")
    links = ESSENTIAL_LINKS.get(letter, ())
    if links and not set(links).intersection(Template(text.body).get_identifiers()):
        names = " or ".join(f"${name}" for name in links)
        raise Invalid(f"{source} lacks the link that the applicant needs. Add {names} to the text.")
