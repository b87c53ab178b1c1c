"""What each error means to a browser, and how it is told."""

from __future__ import annotations

import re
from http import HTTPStatus
from urllib.parse import quote, urlencode, urlsplit

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException

from jobmill.errors import AppError, RateLimited
from jobmill.web import problems
from jobmill.web.rights import Stranger, request_id
from jobmill.web.texts import say
from jobmill.web.view import Render

STATUSES = {kind: status for kind, (status, _) in problems.KINDS.items()} | {
    RequestValidationError: 422
}
OWN_PATH = re.compile(r"/(?!/|sign-)[\x21-\x5b\x5d-\x7e]{0,2000}")
"""A page of ours to go on to, and of nobody else: browsers take `//` and `/\\` for another site."""


def status(error: Exception) -> int:
    if isinstance(error, HTTPException):
        return error.status_code
    return next((STATUSES[kind] for kind in type(error).mro() if kind in STATUSES), 500)


def words(error: Exception) -> str:
    """What may be said outside: our own errors speak for people, others keep their secrets."""
    if isinstance(error, AppError):
        return str(error)
    match status(error):
        case 404:
            return say("There is no such page.")
        case 405:
            return say("This page cannot be used in that way.")
        case 413:
            return say("That is more than this page accepts.")
        case 422:
            return say("Something in the request is missing or wrong.")
        case _:
            return say("Something went wrong here. The log tells what.")


def answer(request: Request, render: Render, error: Exception) -> Response:
    """HTML for whoever asks for it, JSON for everybody else, and always for the API."""
    if request.url.path.startswith("/api/") or request.url.path == "/api":
        return problems.answer(error)
    html = "text/html" in request.headers.get("accept", "")
    part = request.headers.get("hx-request") == "true"
    if isinstance(error, Stranger) and html and request.method == "GET" and not part:
        return RedirectResponse(sign_in(_here(request)), 303)
    response = _page(request, render, error) if html else _line(error)
    if isinstance(error, Stranger) and part:
        # The page around the part is no longer for whoever looks at it.
        shown = urlsplit(request.headers.get("hx-current-url", ""))
        response.headers["HX-Redirect"] = sign_in(shown.path + _query(shown.query))
    if isinstance(error, HTTPException) and error.headers:
        response.headers.update(error.headers)
    if isinstance(error, RateLimited):
        response.headers["Retry-After"] = str(error.retry_after)
    if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = "5"
    return response


def sign_in(path: str) -> str:
    """Where one signs in and then goes on to a page of ours."""
    goes_on = OWN_PATH.fullmatch(path) and path != "/"
    return f"/sign-in?{urlencode({'next': path})}" if goes_on else "/sign-in"


def _here(request: Request) -> str:
    return quote(request.url.path) + _query(request.url.query)


def _query(query: str) -> str:
    return f"?{query}" if query else ""


def _page(request: Request, render: Render, error: Exception) -> Response:
    code = status(error)
    return render(
        "error.html",
        code,
        code=code,
        title=_title(code),
        text=words(error),
        again=code == HTTPStatus.SERVICE_UNAVAILABLE and request.method == "GET",
        request_id=request_id(request),
    )


def _line(error: Exception) -> Response:
    return JSONResponse({"error": words(error)}, status(error))


def _title(code: int) -> str:
    match code:
        case 401:
            return say("We do not know who you are")
        case 403:
            return say("Not for you")
        case 404:
            return say("Not found")
        case 409:
            return say("Not now")
        case 410:
            return say("Gone")
        case 429:
            return say("Too often")
        case 503:
            return say("Back in a moment")
        case _ if code < 500:
            return say("That did not work")
        case _:
            return say("Something went wrong")
