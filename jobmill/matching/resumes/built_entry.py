"""Build an entry of a master resume from what was read, without values that its fields refuse."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from pydantic import ValidationError

from jobmill.matching.profile_fields import ProfilePart

T = TypeVar("T", bound=ProfilePart)
MAX_LENGTH: Final = 200
DATES: Final = frozenset(("start", "end", "issued", "expires"))
"""Left out if they contradict each other."""


def build_entry(kind: type[T], **values: Any) -> T:
    """The entry with the values that are valid. ValidationError if a required one is missing."""
    stated = {name: _shorten(name, value) for name, value in values.items() if value}
    try:
        return kind.model_validate(stated)
    except ValidationError as error:
        refused = {str(problem["loc"][0]) for problem in error.errors() if problem["loc"]} or DATES
        return kind.model_validate(
            {name: value for name, value in stated.items() if name not in refused}
        )


def _shorten(name: str, value: Any) -> Any:
    return value[:MAX_LENGTH] if isinstance(value, str) and name != "summary" else value
