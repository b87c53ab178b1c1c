"""Parse JSON as pages contain it: with comments, trailing commas, entities, and code around it."""

from __future__ import annotations

import html as entities
import json
import re
from typing import Any

_MAX_LENGTH = 4_000_000
"""Longer scripts are programs, not records."""

_DECODER = json.JSONDecoder(strict=False)
_WRAPPING = re.compile(r"<!--|-->|(?://\s*)?<!\[CDATA\[|(?://\s*)?\]\]>")
# Each alternative matches even if the text ends early, so there is no backtracking in quadratic
# time.
_TOKEN = re.compile(
    r'"(?:[^"\\]+|\\.)*+"?|//[^\n]*|/\*.*?(?:\*/|\Z)|,(?=\s{0,1000}[}\]])', re.DOTALL
)


def parse_values(text: str) -> list[Any]:
    """All JSON values in the text, one after the other; none if it is not JSON."""
    text = text.strip()
    if len(text) > _MAX_LENGTH or not text:
        return []
    return (
        _sequence(text)
        or _sequence(_repair(text))
        or ("&quot;" in text and _sequence(_repair(entities.unescape(text))))
        or []
    )


def parse_value_at(text: str, start: int) -> tuple[Any, int]:
    """The value that starts at `start`, and where it ends; None if it is not JSON."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start


def _sequence(text: str) -> list[Any]:
    values: list[Any] = []
    at = 0
    while at < len(text) and len(values) < 100:
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        values.append(value)
        at = _skip(text, at)
    return [value for value in values if isinstance(value, dict | list)]


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n;,":
        at += 1
    return at


def _repair(text: str) -> str:
    """Remove wrappers, comments and trailing commas outside of strings."""
    text = _WRAPPING.sub(" ", text)
    return _TOKEN.sub(lambda token: token[0] if token[0][0] == '"' else " ", text).strip()
