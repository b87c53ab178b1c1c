"""What each error means to a program: a status, a code, words, and what was wrong where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

STATUSES = {"INVALID_TRANSITION": 422, "IDEMPOTENCY_KEY_REUSED": 422}
"""Where a code means another status than the kind of error it belongs to."""

FRAMEWORK = {
    400: ("VALIDATION_ERROR", "The request cannot be read."),
    404: ("NOT_FOUND", "There is nothing at this path."),
    405: ("METHOD_NOT_ALLOWED", "This path does not take that method."),
    413: ("PAYLOAD_TOO_LARGE", "That is more than is accepted."),
}
"""What the framework refuses by itself."""

NOUNS = {"opening": "Job"}
"""What programs call what we call otherwise."""


def answer(error: Exception) -> JSONResponse:
    """`{"error": {code, message, details}}`, whatever it was."""
    status, code = _meaning(error)
    told = {"code": code, "message": _message(error), "details": _details(error)}
    return JSONResponse({"error": told}, status, _headers(error, status))


def _meaning(error: Exception) -> tuple[int, str]:
    if isinstance(error, HTTPException):
        code, _ = FRAMEWORK.get(error.status_code, ("HTTP_ERROR", ""))
        return error.status_code, code
    kinds = (KINDS[kind] for kind in type(error).mro() if kind in KINDS)
    status, code = next(kinds, (500, "INTERNAL_ERROR"))
    own = error.code if isinstance(error, AppError) else None
    return (STATUSES.get(own, status), own) if own else (status, code)


def _message(error: Exception) -> str:
    match error:
        case NotFound() if type(error) is NotFound:
            noun = NOUNS.get(error.what, error.what[:1].upper() + error.what[1:])
            return f"{noun} with id {error.id} not found"
        case AppError():
            return str(error)
        case RequestValidationError():
            return "; ".join(f"{one['field']}: {one['message']}" for one in _fields(error))
        case HTTPException():
            return FRAMEWORK.get(error.status_code, ("", str(error.detail)))[1]
        case _:
            return "Something went wrong here. The log tells what."


def _details(error: Exception) -> list[dict[str, str]] | None:
    return _fields(error) if isinstance(error, RequestValidationError) else None


def _fields(error: RequestValidationError) -> list[dict[str, str]]:
    problems: Sequence[Any] = error.errors()
    return [{"field": _field(one["loc"]), "message": str(one["msg"])} for one in problems]


def _field(place: Sequence[object]) -> str:
    """`title` for `("body", "title")`; `body` where all of it is wrong."""
    where, *inner = place
    if any(isinstance(part, str) for part in inner):
        return ".".join(map(str, inner))
    return str(where)


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
