"""Tests that the OpenAPI description is complete, and that the reference page matches it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx2
import jsonschema_rs

from jobmill.web.api import router
from scripts import api
from tests.web.api.test_access import ENDPOINTS
from tests.web.test_every_route import OWN

CONTRACT = {
    "/api/healthz": {"get"},
    "/api/jobs": {"get", "post"},
    "/api/jobs/{jobId}": {"get"},
    "/api/applicants": {"get", "post"},
    "/api/applicants/{applicantId}": {"get"},
    "/api/apply": {"post"},
    "/api/apply-public": {"post"},
    "/api/withdraw": {"post"},
    "/api/acknowledge": {"post"},
    "/api/status/{applicantId}": {"get"},
    "/api/timeline/{applicantId}": {"get"},
    "/api/queue/{jobId}": {"get"},
    "/api/pipeline/{jobId}/summary": {"get"},
    "/api/pipeline/{jobId}/replay": {"get"},
}


def operations() -> list[tuple[str, Any]]:
    description: Any = router.description()
    return [
        (f"{method} {path}", operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]


def test_the_page_is_up_to_date() -> None:
    """If this fails, run: python -m scripts.api"""
    assert api.PAGE.read_text("utf-8") == api.api_page()


async def test_the_description_is_served_without_the_frameworks_pages(
    site: httpx2.AsyncClient,
) -> None:
    answer = await site.get("/api/openapi.json")
    assert answer.json()["openapi"] == "3.1.0"
    page = (await site.get("/api/docs")).text
    for name, operation in operations():
        method, path = name.split()
        assert f"{method.upper()} {path}<" in page
        assert f'id="{operation["operationId"]}"' in page
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert (await site.get(path)).status_code == 404


def test_every_operation_names_the_role_that_it_needs() -> None:
    """test_access.py tests the same roles with requests."""
    roles = {name: operation["x-required-role"] for name, operation in operations()}
    for method, path, _, role in ENDPOINTS:
        pattern = re.sub(
            r"\\{\w+\\}|@bad\\.example", r"\\{\\w+\\}", re.escape(f"{method.lower()} {path}")
        )
        [described] = [roles[name] for name in roles if re.fullmatch(pattern, name)]
        assert described == role, path
    assert roles["post /api/apply-public"] == "none"
    assert roles["post /api/submissions"] == "seeker"
    assert roles["post /api/session/confirm"] == "any"
    own = [name for name, operation in operations() if operation.get("x-applicant-allowed")]
    assert {f"{method.upper()} {path}" for method, path in map(str.split, own)} == OWN


def test_every_endpoint_of_the_contract_is_described() -> None:
    description: Any = router.description()
    for path, methods in CONTRACT.items():
        assert methods <= set(description["paths"][path]), path


def test_operations_have_unique_names_and_descriptions() -> None:
    names = [operation["operationId"] for _, operation in operations()]
    assert len(set(names)) == len(names)
    assert all(name.isalnum() for name in names)
    assert all(operation["description"].strip() for _, operation in operations())


def test_every_error_is_described_with_a_schema_and_an_example() -> None:
    for name, operation in operations():
        for status, reply in operation["responses"].items():
            if status >= "400":
                content = reply["content"]["application/json"]
                assert content["schema"] == {"$ref": "#/components/schemas/Problem"}, name
                assert content["example"]["error"]["code"], name


def test_every_example_matches_its_schema() -> None:
    description: Any = router.description()
    examples = list(_examples(description))
    assert len(examples) > 400
    validators: dict[str, jsonschema_rs.Draft202012Validator] = {}
    for schema, example in examples:
        key = repr(schema)
        if key not in validators:
            # The other schemas are many: preparing them takes most of the time.
            more = {"components": description["components"]} if "$ref" in key else {}
            validators[key] = jsonschema_rs.Draft202012Validator(
                {**schema, **more}, validate_formats=True
            )
        assert validators[key].is_valid(example), example


def _examples(part: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """Each example in the description with its schema."""
    if isinstance(part, list):
        for element in part:
            yield from _examples(element)
    elif isinstance(part, dict):
        if "example" in part:
            yield part["schema"], part["example"]
        if isinstance(part.get("examples"), list):
            yield from ((part, element) for element in part["examples"])
        for element in part.values():
            yield from _examples(element)


def test_every_body_and_every_response_has_a_schema() -> None:
    schemas: Any = router.description()["components"]

    def shows(schema: Any) -> bool:
        if "$ref" in schema:
            schema = schemas["schemas"][schema["$ref"].rpartition("/")[2]]
        inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
        inner += [schema["items"]] if "items" in schema else []
        return "examples" in schema or any(map(shows, inner))

    for name, operation in operations():
        for part in (operation.get("requestBody", {}), *operation["responses"].values()):
            for content in part.get("content", {}).values():
                assert "example" in content or shows(content["schema"]), name


def test_schema_names_are_unique() -> None:
    schemas: Any = router.description()["components"]
    assert set(schemas["schemas"]["LogFault"]["properties"]) == {"seq", "what"}
    assert set(schemas["schemas"]["WrongField"]["properties"]) == {"field", "message"}
    assert not [name for name in schemas["schemas"] if "__" in name]
