"""Values of a JSON document of a stranger; a value of another type counts as absent."""

from __future__ import annotations

import unicodedata
from typing import Any, cast


def as_dict(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def as_dicts(value: object) -> list[dict[str, Any]]:
    return (
        [as_dict(element) for element in cast(list[object], value)]
        if isinstance(value, list)
        else []
    )


def as_lines(value: object) -> list[str]:
    lines = (
        [as_text(element) for element in cast(list[object], value)]
        if isinstance(value, list)
        else []
    )
    return [line[:2_000] for line in lines if line]


def as_text(value: object) -> str:
    """One line, without characters that a profile rejects."""
    text = value if isinstance(value, str) else ""
    return "".join(mark if mark.isprintable() else " " for mark in text).strip()


def as_words(value: object) -> str:
    """One line, as a field of an entry holds it."""
    return " ".join(as_prose(value).split())


def as_prose(value: object) -> str:
    """A text with its line breaks, without control characters."""
    text = value if isinstance(value, str) else ""
    is_control = {mark: unicodedata.category(mark) in ("Cc", "Cs") for mark in set(text)}
    return "".join(" " if is_control[mark] and mark not in "\n\r\t" else mark for mark in text).strip()  # fmt: skip


def as_word_list(value: object, max_length: int = 2_000) -> list[str]:
    elements = cast(list[object], value) if isinstance(value, list) else []
    return [words[:max_length] for element in elements if (words := as_words(element))]
