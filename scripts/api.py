"""Generates docs/reference/api.md from the OpenAPI description: python -m scripts.api"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

from jobmill.hiring.transitions import ApplicationEventType, ApplicationStatus, OpeningEventType
from jobmill.web.api import router
from jobmill.web.api.operation_roles import describe_role

PAGE = Path("docs/reference/api.md")


def _or(words: Iterable[str]) -> str:
    return " or ".join(f"`{word}`" for word in words)


INTRO = """\
# HTTP API

A running Jobmill serves this description, with the full schemas, as OpenAPI 3.1 at
`GET /api/openapi.json` and as a page at `/api/docs`. `make fmt` generates this page from the code.

"""

ERRORS = """
Errors are `{"error": {"code", "message", "details"}}`. Every operation can return 400, 401, 403 and 503;
operations that change something can also return 409, 413, 422 and 429. The tables list all other
responses.
"""

SHAPES = f"""
## Shapes

Fields with `?` may be null. A status is {_or(get_args(ApplicationStatus))}. An event type is {_or(get_args(ApplicationEventType))}
or, for the opening itself, {_or(get_args(OpeningEventType))}.

| shape | fields |
|---|---|
"""

COMMON = {"400", "401", "403", "503"}
COMMON_CHANGE = COMMON | {"409", "413", "422", "429"}


def api_page() -> str:
    description: Mapping[str, Any] = router.description()
    lines = [_line(path, method, operation) for path, method, operation in _operations(description)]
    lines.sort(key=lambda line: line[0])
    parts = [INTRO + description["info"]["description"] + ERRORS]
    for tag, rows in groupby(lines, key=lambda line: line[0]):
        parts.append(
            f"\n## {tag.capitalize()}\n\n| request | what it does | role | body | response |\n"
        )
        parts.append("|---|---|---|---|---|\n")
        parts += [row for _, row in rows]
    parts.append(SHAPES)
    parts += [
        _shape(name, operation)
        for name, operation in sorted(description["components"]["schemas"].items())
    ]
    return "".join(parts)


def _operations(description: Mapping[str, Any]) -> Iterable[tuple[str, str, Mapping[str, Any]]]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def _line(path: str, method: str, operation: Mapping[str, Any]) -> tuple[str, str]:
    query = [part["name"] for part in operation.get("parameters", ()) if part["in"] == "query"]
    request = f"`{method.upper()} {path}`" + (f" ?{', '.join(query)}" if query else "")
    words = " ".join(operation["description"].split())
    common = COMMON if method == "get" else COMMON_CHANGE
    answers = [
        _answer(status, reply)
        for status, reply in operation["responses"].items()
        if status not in common
    ]
    body = _named(operation.get("requestBody", {}).get("content", {}))
    cells = (request, words, describe_role(operation), body, ", ".join(answers))
    return operation["tags"][0], f"| {' | '.join(cells)} |\n"


def _answer(status: str, reply: Mapping[str, Any]) -> str:
    shape = _named(reply.get("content", {}))
    return status if shape in ("", "`Problem`, `ProblemDetails`") else f"{status} {shape}"


def _named(content: Mapping[str, Any]) -> str:
    return ", ".join(
        f"`{_kind(content_type['schema'], media)}`" for media, content_type in content.items()
    )


def _kind(schema: Mapping[str, Any], media: str = "") -> str:
    match schema:
        case {"$ref": name}:
            return name.rpartition("/")[2]
        case {"anyOf": options}:
            return (
                "".join(_kind(option) for option in options if option.get("type") != "null") + "?"
            )
        case {"type": "array", "items": inner}:
            return f"[{_kind(inner)}]"
        case {"enum": choices} if "WAITLIST" in choices:
            return "status"
        case {"enum": choices} if "APPLIED" in choices:
            return "event type"
        case {"enum": choices}:
            return " or ".join(map(str, choices))
        case {"format": "date-time"}:
            return "time"
        case _:
            return media or str(schema.get("type", "any"))


def _shape(name: str, schema: Mapping[str, Any]) -> str:
    needed = schema.get("required", ())
    fields = [
        f"{field} {_kind(property)}" + _default(property, field in needed)
        for field, property in schema.get("properties", {}).items()
    ]
    return f"| `{name}` | {', '.join(fields)} |\n"


def _default(schema: Mapping[str, Any], needed: bool) -> str:
    if needed or schema.get("default") is None:
        return ""
    return f" ({json.dumps(schema['default'])})"


if __name__ == "__main__":
    PAGE.write_text(api_page(), encoding="utf-8")
