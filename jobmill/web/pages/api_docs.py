"""/api/docs: the HTTP API for people, from its OpenAPI description."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any, cast

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.web.api import router as api
from jobmill.web.api.operation_roles import describe_role
from jobmill.web.dependencies import View

router = APIRouter()


@dataclass(frozen=True, slots=True)
class ApiParameter:
    name: str
    place: str
    """`query` or `path`."""
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class ApiOperation:
    id: str
    tag: str
    method: str
    path: str
    description: str
    role: str
    parameters: list[ApiParameter]
    body: str | None
    """An example; None if it has no body."""
    responses: list[tuple[str, str]]
    """Status and meaning."""


@dataclass(frozen=True, slots=True)
class ApiGroup:
    name: str
    operations: list[ApiOperation]


@router.get("/api/docs")
async def page(view: View) -> HTMLResponse:
    info = cast(dict[str, str], api.description()["info"])
    paragraphs = [" ".join(part.split()) for part in info["description"].split("\n\n")]
    return view("api_docs/page.html", groups=_read_groups(), intro=paragraphs)


@cache
def _read_groups() -> list[ApiGroup]:
    """All operations, in the order of the description, by subject."""
    operations = sorted(_read_operations(api.description()), key=lambda operation: operation.tag)
    return [
        ApiGroup(tag.capitalize(), list(group))
        for tag, group in groupby(operations, key=lambda operation: operation.tag)
    ]


def _read_operations(document: Mapping[str, Any]) -> Iterator[ApiOperation]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield ApiOperation(
                id=operation["operationId"],
                tag=operation["tags"][0],
                method=method.upper(),
                path=path,
                description=" ".join(operation["description"].split()),
                role=describe_role(operation),
                parameters=[
                    ApiParameter(
                        parameter["name"],
                        parameter["in"],
                        parameter.get("required", False),
                        parameter.get("description", ""),
                    )
                    for parameter in operation.get("parameters", ())
                    if parameter["in"] != "header"
                ],
                body=_make_example(operation.get("requestBody", {}), document),
                responses=[
                    (status, response["description"])
                    for status, response in operation["responses"].items()
                ],
            )


def _make_example(body: Mapping[str, Any], document: Mapping[str, Any]) -> str | None:
    for content in body.get("content", {}).values():
        if "example" in content:
            return str(content["example"])
        return json.dumps(_example_of(content["schema"], document), indent=2)
    return None


def _example_of(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    """An example value: that of the schema, or of its required fields."""
    match schema:
        case {"$ref": name}:
            return _example_of(document["components"]["schemas"][name.rpartition("/")[2]], document)
        case {"examples": [example, *_]}:
            return example
        case {"anyOf": [option, *_]}:
            return _example_of(option, document)
        case {"properties": fields}:
            required = schema.get("required") or list(fields)
            return {name: _example_of(fields[name], document) for name in required}
        case {"enum": [choice, *_]}:
            return choice
        case {"type": "array", "items": item}:
            return [_example_of(item, document)]
        case {"default": default}:
            return default
        case _:
            return None
