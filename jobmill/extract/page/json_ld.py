"""Postings that a page states as JSON-LD."""

from __future__ import annotations

from typing import Any, cast

from selectolax.lexbor import LexborNode

from . import lenient_json
from .schema_job_posting import Node, is_posting

_MOST = 20_000
"""How many values of one page are looked at."""


def nodes(scripts: list[LexborNode]) -> list[Node]:
    """The JobPosting objects of all blocks, however deep they lie."""
    found: list[Node] = []
    for script in scripts:
        if "ld+json" in (script.attributes.get("type") or "").lower():
            text = script.text()
            if "JobPosting" in text:
                found += _within(lenient_json.values(text))
    return found


def _within(values: list[Any]) -> list[Node]:
    found: list[Node] = []
    waiting = values[::-1]
    for _ in range(_MOST):
        if not waiting:
            break
        value: object = waiting.pop()
        if is_posting(value):
            found.append(cast(Node, value))
        elif isinstance(value, dict):
            waiting += list(cast(Node, value).values())[::-1]
        elif isinstance(value, list):
            waiting += cast(list[Any], value)[::-1]
    return found
