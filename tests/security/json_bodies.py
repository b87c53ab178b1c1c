"""Finds every JSON body of the API, so that a new one is attacked by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

SAMPLES = {"email": "mallory@example.org", "url": "https://acme.example/jobs"}


@dataclass(frozen=True)
class JsonBody:
    method: str
    path: str
    sample: Mapping[str, Any]
    texts: tuple[str, ...]
    """The properties that take a string."""
    ids: tuple[str, ...]
    """The properties that name a row."""


def json_bodies(document: Mapping[str, Any]) -> Iterator[JsonBody]:
    """Every JSON body in an OpenAPI document."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            schema = _resolve(document, content.get("application/json", {}).get("schema", {}))
            properties: dict[str, Any] = schema.get("properties", {})
            types = {name: _types(document, part) for name, part in properties.items()}
            if properties:
                yield JsonBody(
                    method.upper(),
                    path,
                    {name: _sample(name, types[name]) for name in properties},
                    tuple(name for name in properties if "string" in types[name]),
                    tuple(name for name in properties if name.lower().endswith("id")),
                )


def _resolve(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if reference := schema.get("$ref"):
        return _resolve(document, document["components"]["schemas"][reference.rpartition("/")[2]])
    return schema


def _types(document: Mapping[str, Any], schema: Mapping[str, Any]) -> set[str]:
    schema = _resolve(document, schema)
    parts = schema.get("anyOf", ())
    own = {schema["type"]} if isinstance(schema.get("type"), str) else set[str]()
    return own.union(*(_types(document, part) for part in parts))


def _sample(name: str, types: set[str]) -> object:
    if "string" in types:
        return SAMPLES.get(name, "text")
    return 1 if types & {"integer", "number"} else [] if "array" in types else None
