"""Numbers that a form of the rotation sends."""

from __future__ import annotations

import re

from jobmill.errors import Invalid
from jobmill.web.form import Fields

DIGITS = re.compile(r"[0-9]{1,7}")


def whole(form: Fields, name: str, otherwise: str) -> int:
    """A whole number; Invalid says `otherwise`."""
    typed = form.get(name, "").strip()
    if not DIGITS.fullmatch(typed):
        raise Invalid(otherwise)
    return int(typed)


def maybe(form: Fields, name: str, otherwise: str) -> int | None:
    """The same, or None where nothing was typed."""
    return whole(form, name, otherwise) if form.get(name, "").strip() else None
