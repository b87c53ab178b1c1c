"""The OpenAPI 3.1 description of the API: generated from the routes, plus what applies to all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, cast

from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from starlette.routing import BaseRoute

from jobmill.hiring.applications import outcomes
from jobmill.web import api_errors
from jobmill.web.api import operation_roles

METHODS = ("get", "post", "put", "patch", "delete")

INTRO = """\
The API offers everything that people do on the pages: a job search of one's own (jobs, matches,
profiles, applications), hiring (openings with a limited number of places, a fair waitlist, offers with
deadlines, an audit log), and the system behind both (sources, rotation, tasks, budget).

A request has no rights because of the machine that sends it. People sign in (`POST /api/session`),
programs send an API key, applicants send their personal link, and a link from the terminal admits the
browser of the user who runs a local server. Each operation names the role it needs
(`x-required-role`): viewer, recruiter or admin, each with the rights of the roles before it; seeker, for
one's own job search; any account; or none.

Every POST accepts an `Idempotency-Key`: a request that is sent twice takes effect once. An application
that is sent again after a 503 gets the first result even without a key. Times are UTC. Unknown fields of
a body are ignored; unknown query parameters are refused with 400.

Responses to GET have an `ETag`. A request with `If-None-Match` gets 304 without a body if nothing has
changed. What two people can edit at the same time has a version in its ETag: a change with `If-Match` is
refused with 412 if there is a newer version. Clients that accept `application/problem+json` get errors
in the format of RFC 9457.

Long lists are paged: `limit` is the maximum number of rows, the `Link` header (`rel="next"`) has the
address of the next page, and `after` in that address names the last row of this one.
"""


class WrongField(BaseModel):
    field: str
    message: str


class ProblemText(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)

    code: str
    message: str
    details: list[WrongField] | None
    application_id: int | None = None
    """Only with `DUPLICATE_SUBMISSION`: the application that exists already."""


class Problem(BaseModel):
    error: ProblemText


class ProblemDetails(BaseModel):
    """RFC 9457, for clients that accept `application/problem+json`."""

    type: str
    title: str
    status: int
    detail: str
    """What happened and what to do."""
    code: str
    errors: list[WrongField] | None


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
    412: (
        "There is a newer version than the one of `If-Match`.",
        "CHANGED_MEANWHILE",
        "Profile main was changed in the meantime: its newest version is 4.",
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


BINARY: dict[str, object] = {
    "schema": {"type": "string", "format": "binary"},
    "example": "%PDF-1.7",
}


def file_body(media_type: str, content: Mapping[str, object]) -> dict[str, object]:
    """`openapi_extra` of an operation that receives a file."""
    return {"requestBody": {"required": True, "content": {media_type: content}}}


def file_answer(
    media_types: Iterable[str], content: Mapping[str, object], description: str
) -> dict[int | str, dict[str, object]]:
    """The response of an operation that sends a file."""
    contents = {media_type: content for media_type in media_types}
    return {200: {"content": contents, "description": description}}


def text_content(example: str) -> dict[str, object]:
    return {"schema": {"type": "string"}, "example": example}


NEVER_MISSING = {"x-never-missing": True}
"""`openapi_extra` of an operation with an id in its path that never responds with 404."""


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Error responses of a route, beyond those that `_complete` adds to every route."""
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
            },
            api_errors.PROBLEM: {
                "schema": {"$ref": "#/components/schemas/ProblemDetails"},
                "example": {
                    "type": "about:blank",
                    "title": HTTPStatus(status).phrase,
                    "status": status,
                    "detail": message,
                    "code": code,
                    "errors": None,
                },
            },
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
    for kind in (WrongField, ProblemText, Problem, ProblemDetails):
        template = "#/components/schemas/{model}"
        schemas[kind.__name__] = kind.model_json_schema(ref_template=template)
        schemas[kind.__name__].pop("$defs", None)
    document["components"]["securitySchemes"] = SCHEMES
    # All are optional: the public may call some routes, and local requests all of them.
    document["security"] = [{}, *({name: list[str]()} for name in SCHEMES)]
    roles = operation_roles.find_roles(routes)
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                operation = cast(dict[str, Any], item[method])
                operation.setdefault(operation_roles.REQUIRED, roles[path, method])
                _complete(path, method, operation)
    return document


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    """Add what applies to every operation."""
    responses: dict[str, Any] = operation["responses"]
    if "HTTPValidationError" in str(responses.get("422")):
        del responses["422"]
    common = [400, 401, 403, 503]
    if "{" in path and not operation.pop("x-never-missing", False):
        common.append(404)
    if method == "get":
        responses["304"] = {"description": "Not modified: the ETag of `If-None-Match` is current."}
    else:
        common += [409, 413, 422, 429]
        if method == "post" and not path.endswith("/session"):
            operation.setdefault("parameters", []).append(IDEMPOTENCY)
    # Also replace those that a route declared: FastAPI drops nulls from their examples.
    named = [int(status) for status in responses if int(status) in SAMPLES]
    responses |= {str(status): _problem(status) for status in (*named, *common)}
    operation["responses"] = dict(sorted(responses.items()))
