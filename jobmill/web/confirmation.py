"""Ask for confirmation before an action, and say what follows from it.

A handler passes a Confirmation to its page, and the template includes `_confirmation.html`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from jobmill.errors import Invalid
from jobmill.web.auth import Visitor
from jobmill.web.translations import say

MAX_REASON_LENGTH = 500


class NumberInput(NamedTuple):
    """A number that was not valid, to be corrected before anything can be confirmed."""

    name: str
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Confirmation:
    url: str
    """Receives the POST when the person confirms."""
    cancel_url: str
    title: str
    button: str
    consequences: Sequence[str] = ()
    hidden: Mapping[str, str] = field(default_factory=dict[str, str])
    """Hidden form fields."""
    phases: Sequence[tuple[str, str]] = ()
    """Values and labels of the field `phase`, where the person chooses one."""
    chosen_phase: str = ""
    reason: str | None = None
    """The reason as typed so far; None where no reason is asked for."""
    reason_required: bool = True
    danger: bool = False
    cancel_label: str = ""
    """Where "Cancel" would be ambiguous."""
    number: NumberInput | None = None
    """If set, the form asks for this number again with GET and confirms nothing."""
    swap_target: str = ""
    """Id of the element that htmx replaces; empty: the whole page loads."""


def read_reason(form: Mapping[str, str], visitor: Visitor) -> str:
    """The reason from the form, with the name of the visitor; Invalid if empty or too long."""
    reason = read_optional_reason(form)
    if not reason:
        raise Invalid(say("Enter a reason. It is kept in the history."))
    return reason if visitor.local else f"{reason} ({visitor.name})"


def read_optional_reason(form: Mapping[str, str]) -> str:
    reason = form.get("reason", "").strip()
    if len(reason) > MAX_REASON_LENGTH:
        raise Invalid(say("The reason can have up to %(n)s characters.", n=MAX_REASON_LENGTH))
    return reason
