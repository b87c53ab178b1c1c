"""Something to be sure of before it is done to the queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jobmill.errors import Invalid
from jobmill.web.rights import Visitor
from jobmill.web.texts import say

LONGEST = 500


@dataclass(frozen=True, slots=True)
class Ask:
    path: str
    """Where the answer goes."""
    back: str
    """Where whoever would rather not goes."""
    title: str
    button: str
    sentences: Sequence[str] = ()
    sent: Mapping[str, str] = field(default_factory=dict[str, str])
    """What is sent along unseen."""
    choices: Sequence[tuple[str, str]] = ()
    """What `phase` may be, and how it is called."""
    chosen: str = ""
    reason: str | None = None
    """What was typed as the reason; None where none is asked for."""
    danger: bool = False


def reason(form: Mapping[str, str], visitor: Visitor) -> str:
    """Why, and who says so, for whoever asks later."""
    typed = form.get("reason", "").strip()
    if not typed:
        raise Invalid(say("Say why, for whoever asks later."))
    if len(typed) > LONGEST:
        raise Invalid(say("Say it in %(most)s characters.", most=LONGEST))
    return typed if visitor.local else f"{typed} ({visitor.name})"
