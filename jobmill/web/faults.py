"""What each error means to a browser, and how it is told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
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
    if isinstance(error, RequestValidationError) and _wrong(error, "path"):
        # What has no number that we give has no page.
        return HTTPStatus.NOT_FOUND
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
            return _amiss(error) or say("Something in the request is missing or wrong.")
        case _:
            return say("Something went wrong here. The log tells what.")


def _wrong(error: Exception, where: str) -> Sequence[Any]:
    """What is wrong in the path or in the query."""
    found: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else ()
    return [one for one in found if one["loc"][0] == where]


def _amiss(error: Exception) -> str:
    """What the address asks for and cannot have, named as it stands there."""
    told = dict.fromkeys(_should(str(one["loc"][:2][-1]), one) for one in _wrong(error, "query"))
    return " ".join(told)


def _should(name: str, one: Any) -> str:
    """What is wrong with a part of a query; what stands there is not said back."""
    limits = one.get("ctx", {})
    match one["type"]:
        case "missing":
            return say("The address must say “%(name)s”.", name=name)
        case "int_parsing" | "int_from_float" | "int_parsing_size" | "float_parsing":
            return say("“%(name)s” in the address must be a number.", name=name)
        case "greater_than_equal":
            return say(
                "“%(name)s” in the address must be %(n)s or more.", name=name, n=limits["ge"]
            )
        case "less_than_equal":
            return say(
                "“%(name)s” in the address must be %(n)s or less.", name=name, n=limits["le"]
            )
        case "literal_error":
            known = limits["expected"].replace("'', ", "").replace("'", "")
            return say("“%(name)s” in the address must be %(known)s.", name=name, known=known)
        case "string_too_long":
            most = limits["max_length"]
            return say(
                "“%(name)s” in the address is too long: at most %(n)s signs.", name=name, n=most
            )
        case _:
            return say("“%(name)s” in the address makes no sense here.", name=name)


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
    code, bare = status(error), _bare(request, error)
    return render(
        "error.html",
        code,
        code=code,
        title=say("That cannot be shown") if bare else _title(code),
        text=words(error),
        bare=bare,
        again=code == HTTPStatus.SERVICE_UNAVAILABLE and request.method == "GET",
        request_id=request_id(request),
    )


def _bare(request: Request, error: Exception) -> str | None:
    """The page without what was asked of it, where that is what was wrong."""
    wrong = _wrong(error, "query") if request.method == "GET" else ()
    lacks = any(one["type"] == "missing" for one in wrong)
    return quote(request.url.path) if wrong and not lacks else None


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
