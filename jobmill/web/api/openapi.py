"""The OpenAPI 3.1 description of the API: generated from the routes, plus what applies to all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from starlette.routing import BaseRoute

from jobmill.hiring.applications import outcomes

METHODS = ("get", "post", "put", "patch", "delete")

INTRO = """\
Openings with limited capacity, a fair waitlist, offers with deadlines, and an audit log.

Requests from the machine that runs the server may do everything. From elsewhere, the company's people
sign in (`POST /api/session`) or send an API key, and applicants send their personal link. Every POST
accepts an `Idempotency-Key`: a request sent twice is done once. Times are UTC. Unknown fields are
ignored.
"""


class WrongField(BaseModel):
    field: str
    message: str


class ProblemText(BaseModel):
    code: str
    message: str
    details: list[WrongField] | None


class Problem(BaseModel):
    error: ProblemText


SAMPLES: Mapping[int, tuple[str, str, str]] = {
    400: ("The request is not valid.", "VALIDATION_ERROR", "jobId: Field required"),
    401: (
        "The request is not authenticated.",
        "UNAUTHENTICATED",
        "Sign in first, or send an API key.",
    ),
    403: ("The caller's role does not allow this.", "FORBIDDEN", "Only a recruiter may do this."),
    404: ("The resource does not exist.", "NOT_FOUND", "Job with id 7 not found"),
    409: (
        "The current state does not allow this, or the resource exists already (`DUPLICATE_SUBMISSION`).",
        "CONFLICT",
        "Application 7 has ended already.",
    ),
    410: (
        "The offer or opening has ended.",
        "GONE",
        outcomes.EXPIRED,
    ),
    413: ("The body is too large.", "PAYLOAD_TOO_LARGE", "That is more than is accepted."),
    422: (
        "The status change is not allowed, or an Idempotency-Key was reused (`IDEMPOTENCY_KEY_REUSED`).",
        "INVALID_TRANSITION",
        "An application cannot go from ACTIVE to PENDING_ACKNOWLEDGMENT.",
    ),
    429: ("Too many requests.", "RATE_LIMITED", "Too many requests. Try again in 9 s."),
    503: (
        "The database does not answer.",
        "UNAVAILABLE",
        "The database does not answer. Try again in a moment.",
    ),
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Error responses of a route, beyond those of every route."""
    return {status: _problem(status) for status in statuses}


def _problem(status: int) -> dict[str, Any]:
    meaning, code, message = SAMPLES[status]
    sample = {"error": {"code": code, "message": message, "details": None}}
    problem: dict[str, Any] = {
        "description": meaning,
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "example": sample,
            }
        },
    }
    if status == 429:
        problem["headers"] = {
            "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        }
    return problem


SCHEMES = {
    "key": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key, created with `jobmill key add`.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "jobmill_session",
        "description": "The session cookie set by `POST /api/session`.",
    },
    "link": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "`Link` followed by the last part of an applicant's personal link.",
    },
}

IDEMPOTENCY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A repeated request with the same key gets the same response and changes nothing.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$", "maxLength": 255},
}


def plain_id(route: APIRoute) -> str:
    """The operation id: `listJobs` for `list_jobs`, `showSession` for `show` of the session."""
    return to_camel(f"show_{route.tags[0]}" if route.name == "show" else route.name)


def describe(routes: Sequence[BaseRoute], version: str) -> dict[str, Any]:
    document = get_openapi(
        title="Jobmill", version=version, description=INTRO, routes=routes, openapi_version="3.1.0"
    )
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for kind in (WrongField, ProblemText, Problem):
        template = "#/components/schemas/{model}"
        schemas[kind.__name__] = kind.model_json_schema(ref_template=template)
        schemas[kind.__name__].pop("$defs", None)
    document["components"]["securitySchemes"] = SCHEMES
    # All are optional: the public may call some routes, and local requests all of them.
    document["security"] = [{}, *({name: list[str]()} for name in SCHEMES)]
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                _complete(path, method, cast(dict[str, Any], item[method]))
    return document


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    """Add what applies to every operation."""
    responses: dict[str, Any] = operation["responses"]
    if "HTTPValidationError" in str(responses.get("422")):
        del responses["422"]
    common = [400, 401, 403, 503]
    if method != "get":
        common += [409, 413, 422, 429]
        if method == "post" and not path.endswith("/session"):
            operation.setdefault("parameters", []).append(IDEMPOTENCY)
    # Also replace those that a route declared: FastAPI drops nulls from their examples.
    named = [int(status) for status in responses if int(status) in SAMPLES]
    responses |= {str(status): _problem(status) for status in (*named, *common)}
    operation["responses"] = dict(sorted(responses.items()))
