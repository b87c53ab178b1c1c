"""What each error means to a browser, and how it is told."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from jobmill.errors import AppError, RateLimited
from jobmill.web import problems
from jobmill.web.view import Render

STATUSES = {kind: status for kind, (status, _) in problems.KINDS.items()} | {
    RequestValidationError: 422
}

WORDS = {
    404: "There is no such page.",
    405: "This page cannot be used in that way.",
    413: "That is more than this page accepts.",
    422: "Something in the request is missing or wrong.",
}


def status(error: Exception) -> int:
    if isinstance(error, HTTPException):
        return error.status_code
    return next((STATUSES[kind] for kind in type(error).mro() if kind in STATUSES), 500)


def words(error: Exception) -> str:
    """What may be said outside: our own errors speak for people, others keep their secrets."""
    if isinstance(error, AppError):
        return str(error)
    return WORDS.get(status(error), "Something went wrong here. The log tells what.")


def answer(request: Request, render: Render, error: Exception) -> Response:
    """HTML for whoever asks for it, JSON for everybody else, and always for the API."""
    if request.url.path.startswith("/api/") or request.url.path == "/api":
        return problems.answer(error)
    code, text = status(error), words(error)
    again = code == HTTPStatus.SERVICE_UNAVAILABLE
    if "text/html" in request.headers.get("accept", ""):
        response: Response = render("error.html", code, title=_title(code), text=text, again=again)
    else:
        response = JSONResponse({"error": text}, code)
    if isinstance(error, HTTPException) and error.headers:
        response.headers.update(error.headers)
    if isinstance(error, RateLimited):
        response.headers["Retry-After"] = str(error.retry_after)
    if again:
        response.headers["Retry-After"] = "5"
    return response


def _title(code: int) -> str:
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return "Error"
