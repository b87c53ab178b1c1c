"""Field types that the parts of a profile share: cleaned texts, bounded lists, strict models."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any, TypeAlias, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


def _clean(text: str) -> str:
    # Terminals and PostgreSQL do not accept control characters.
    if any(unicodedata.category(mark) in ("Cc", "Cs") and mark not in "\n\r\t" for mark in text):
        raise ValueError("should not contain control characters")
    return text.strip()


def _on_one_line(text: str) -> str:
    return " ".join(_clean(text).split())


def _not_empty(text: str) -> str:
    if not text:
        raise ValueError("should not be empty")
    return text


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    """Remove repeated entries, ignoring case."""
    return tuple({name.casefold(): name for name in reversed(names)}.values())[::-1]


Words: TypeAlias = Annotated[
    str, AfterValidator(_on_one_line), Field(max_length=200), AfterValidator(_not_empty)
]
Prose: TypeAlias = Annotated[str, AfterValidator(_clean), Field(max_length=10_000)]
ProfileLine: TypeAlias = Annotated[
    str, AfterValidator(_on_one_line), Field(max_length=2_000), AfterValidator(_not_empty)
]
ProfileWords: TypeAlias = Annotated[
    tuple[Words, ...], AfterValidator(_once), Field(max_length=1_000)
]
ProfileLines: TypeAlias = Annotated[tuple[ProfileLine, ...], Field(max_length=200)]


class ProfilePart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, data: Any) -> Any:
        """Treat a field without a value (`titles:`) as not set."""
        if not isinstance(data, dict):
            return data
        fields = cast(dict[object, object], data)
        return {name: value for name, value in fields.items() if value is not None}
