"""The description of the API, in OpenAPI 3.1: what the code says, and what holds for all of it."""

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
Openings with limited capacity, a fair waitlist, deadlines, and a log of all that happened.

Whoever is at the machine that serves this may do everything. From elsewhere the company's people
sign in (`POST /api/session`) or send an API key; applicants show their personal link. Every POST
honours an `Idempotency-Key`: sent twice, it is done once. Times are UTC. Fields that are not
described here are ignored.
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
    400: ("Something in the request does not fit.", "VALIDATION_ERROR", "jobId: Field required"),
    401: ("Nobody knows who asks.", "UNAUTHENTICATED", "Sign in first, or send an API key."),
    403: ("Who asks may not do this.", "FORBIDDEN", "Only a recruiter may do this."),
    404: ("It is not there.", "NOT_FOUND", "Job with id 7 not found"),
    409: (
        "It is in a state that forbids this, or there already (`DUPLICATE_SUBMISSION`).",
        "CONFLICT",
        "Application 7 has ended already.",
    ),
    410: (
        "It was possible, and no longer is.",
        "GONE",
        outcomes.EXPIRED,
    ),
    413: ("The body is too large.", "PAYLOAD_TOO_LARGE", "That is more than is accepted."),
    422: (
        "A move that is not allowed, or an Idempotency-Key reused (`IDEMPOTENCY_KEY_REUSED`).",
        "INVALID_TRANSITION",
        "An application cannot go from ACTIVE to PENDING_ACKNOWLEDGMENT.",
    ),
    429: ("They ask too often.", "RATE_LIMITED", "Too many requests. Try again in 9 s."),
    503: (
        "The database does not answer.",
        "UNAVAILABLE",
        "The database does not answer. Try again in a moment.",
    ),
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How a handler may refuse, beyond what any may."""
    return {status: _problem(status) for status in statuses}


def _problem(status: int) -> dict[str, Any]:
    meaning, code, message = SAMPLES[status]
    sample = {"error": {"code": code, "message": message, "details": None}}
    told: dict[str, Any] = {
        "description": meaning,
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "example": sample,
            }
        },
    }
    if status == 429:
        told["headers"] = {
            "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        }
    return told


SCHEMES = {
    "key": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key, made by `jobmill key add`.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "jobmill_session",
        "description": "What `POST /api/session` gives.",
    },
    "link": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "`Link` and what an applicant's personal link ends with.",
    },
}

IDEMPOTENCY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key again: the same answer, and nothing is done twice.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$", "maxLength": 255},
}


def plain_id(route: APIRoute) -> str:
    """`listJobs` for `list_jobs`, `showSession` for `show` of the session."""
    return to_camel(f"show_{route.tags[0]}" if route.name == "show" else route.name)


def describe(routes: Sequence[BaseRoute], version: str) -> dict[str, Any]:
    found = get_openapi(
        title="Jobmill", version=version, description=INTRO, routes=routes, openapi_version="3.1.0"
    )
    schemas = found["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for kind in (WrongField, ProblemText, Problem):
        template = "#/components/schemas/{model}"
        schemas[kind.__name__] = kind.model_json_schema(ref_template=template)
        schemas[kind.__name__].pop("$defs", None)
    found["components"]["securitySchemes"] = SCHEMES
    # All are optional: strangers may call some, and whoever is at the machine all.
    found["security"] = [{}, *({name: list[str]()} for name in SCHEMES)]
    for path, item in found["paths"].items():
        for method in METHODS:
            if method in item:
                _complete(path, method, cast(dict[str, Any], item[method]))
    return found


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    """Add what holds for every operation."""
    responses: dict[str, Any] = operation["responses"]
    if "HTTPValidationError" in str(responses.get("422")):
        del responses["422"]
    common = [400, 401, 403, 503]
    if method != "get":
        common += [409, 413, 422, 429]
        if method == "post" and not path.endswith("/session"):
            operation.setdefault("parameters", []).append(IDEMPOTENCY)
    # Also those that a handler named: what the framework made of them has lost every null.
    named = [int(status) for status in responses if int(status) in SAMPLES]
    responses |= {str(status): _problem(status) for status in (*named, *common)}
    operation["responses"] = dict(sorted(responses.items()))
