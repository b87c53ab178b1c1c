"""Turn errors into JSON for API clients: a status, a code, a message and details per field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from jobmill.errors import (
    AppError,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    OutsideError,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from jobmill.hiring.forms.answers import InvalidAnswers
from jobmill.hiring.records.applications import DuplicateApplication
from jobmill.matching.profile_document import InvalidProfile

KINDS: Mapping[type[Exception], tuple[int, str]] = {
    Invalid: (400, "VALIDATION_ERROR"),
    RequestValidationError: (400, "VALIDATION_ERROR"),
    Unauthenticated: (401, "UNAUTHENTICATED"),
    Forbidden: (403, "FORBIDDEN"),
    NotFound: (404, "NOT_FOUND"),
    Conflict: (409, "CONFLICT"),
    Gone: (410, "GONE"),
    RateLimited: (429, "RATE_LIMITED"),
    OutsideError: (502, "BAD_GATEWAY"),
    Unavailable: (503, "UNAVAILABLE"),
}

STATUSES = {"INVALID_TRANSITION": 422, "IDEMPOTENCY_KEY_REUSED": 422, "CHANGED_MEANWHILE": 412}
"""Error codes with another status than their class of error."""

FRAMEWORK = {
    400: ("VALIDATION_ERROR", "The request could not be parsed."),
    404: ("NOT_FOUND", "No endpoint exists at this path."),
    405: ("METHOD_NOT_ALLOWED", "This path does not support that method."),
    408: ("REQUEST_TIMEOUT", "The request took too long to arrive."),
    413: ("PAYLOAD_TOO_LARGE", "The request body is too large."),
}
"""Codes and messages of errors that FastAPI raises itself."""

NOUNS = {"opening": "Job"}
"""Names of things in the API, where they differ from the code."""


PROBLEM = "application/problem+json"


def error_response(error: Exception, accept: str = "") -> JSONResponse:
    """`{"error": {code, message, details}}`, or RFC 9457 for clients that accept it."""
    status, code = _status_and_code(error)
    if PROBLEM in accept:
        return _problem_response(error, status, code)
    body: dict[str, object] = {
        "code": code,
        "message": _message(error),
        "details": _details(error),
    }
    if isinstance(error, DuplicateApplication):
        body["applicationId"] = error.application_id
    return JSONResponse({"error": body}, status, _headers(error, status))


def _problem_response(error: Exception, status: int, code: str) -> JSONResponse:
    body: dict[str, object] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": _message(error),
        "code": code,
        "errors": _details(error),
    }
    return JSONResponse(body, status, _headers(error, status), PROBLEM)


def find_kind(error: Exception) -> tuple[int, str]:
    """The status and the code of its class of error."""
    kinds = (KINDS[kind] for kind in type(error).mro() if kind in KINDS)
    return next(kinds, (500, "INTERNAL_ERROR"))


def _status_and_code(error: Exception) -> tuple[int, str]:
    if isinstance(error, HTTPException):
        code, _ = FRAMEWORK.get(error.status_code, ("HTTP_ERROR", ""))
        return error.status_code, code
    status, code = find_kind(error)
    specific = error.code if isinstance(error, AppError) else None
    return (STATUSES.get(specific, status), specific) if specific else (status, code)


def _message(error: Exception) -> str:
    match error:
        case NotFound() if type(error) is NotFound:
            noun = NOUNS.get(error.what, error.what[:1].upper() + error.what[1:])
            return f"{noun} with id {error.id} not found"
        case AppError():
            return str(error)
        case RequestValidationError():
            return "; ".join(f"{field['field']}: {field['message']}" for field in _fields(error))
        case HTTPException():
            return FRAMEWORK.get(error.status_code, ("", str(error.detail)))[1]
        case _:
            return "Something went wrong on the server. The server log has the details."


def _details(error: Exception) -> list[dict[str, str]] | None:
    match error:
        case RequestValidationError():
            return _fields(error)
        case InvalidProfile():
            return [
                {"field": problem.field or "profile", "message": problem.message}
                for problem in error.problems
            ]
        case InvalidAnswers():
            return [
                {"field": f"answers.{key}", "message": message}
                for key, message in error.problems.items()
            ]
        case _:
            return None


def _fields(error: RequestValidationError) -> list[dict[str, str]]:
    problems: Sequence[Any] = error.errors()
    return [
        {"field": _field(problem["loc"]), "message": str(problem["msg"])} for problem in problems
    ]


def _field(location: Sequence[object]) -> str:
    """`title` for `("body", "title")`; `body` where the body as a whole is invalid."""
    container, *path = location
    if any(isinstance(part, str) for part in path):
        return ".".join(map(str, path))
    return str(container)


def _headers(error: Exception, status: int) -> dict[str, str]:
    match error:
        case RateLimited():
            return {"Retry-After": str(error.retry_after)}
        case Unauthenticated():
            return {"WWW-Authenticate": "Bearer"}
        case HTTPException():
            return dict(error.headers or {})
        case _:
            return {"Retry-After": "5"} if status == 503 else {}
