"""Find postings in the JSON-LD of a page."""

from __future__ import annotations

from typing import Any, cast

from selectolax.lexbor import LexborNode

from . import lenient_json
from .schema_job_posting import SchemaNode, is_job_posting

_MAX_VALUES = 20_000
"""Values of one page that are examined."""


def find_job_postings(scripts: list[LexborNode]) -> list[SchemaNode]:
    """The JobPosting objects of all JSON-LD blocks, at any depth."""
    postings: list[SchemaNode] = []
    for script in scripts:
        if "ld+json" in (script.attributes.get("type") or "").lower():
            text = script.text()
            if "JobPosting" in text:
                postings += _walk(lenient_json.parse_values(text))
    return postings


def _walk(values: list[Any]) -> list[SchemaNode]:
    postings: list[SchemaNode] = []
    waiting = values[::-1]
    for _ in range(_MAX_VALUES):
        if not waiting:
            break
        value: object = waiting.pop()
        if is_job_posting(value):
            postings.append(cast(SchemaNode, value))
        elif isinstance(value, dict):
            waiting += list(cast(SchemaNode, value).values())[::-1]
        elif isinstance(value, list):
            waiting += cast(list[Any], value)[::-1]
    return postings
