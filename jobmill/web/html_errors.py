"""Turn errors into HTML pages for browsers, or short JSON for other clients."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException

from jobmill.errors import AppError, RateLimited, Unauthenticated, Unavailable
from jobmill.people.sessions import PASSWORD_LIFETIME
from jobmill.web import api_errors
from jobmill.web.auth import NotSignedIn, PasswordNeeded, Visitor, identify, request_id
from jobmill.web.dependencies import Render, no_store
from jobmill.web.shell import AppShell
from jobmill.web.translations import say
from jobmill.web.workspace_menus import WORKSPACE_COOKIE

LOCAL_PATH = re.compile(r"/(?!/|sign-)[\x21-\x5b\x5d-\x7e]{0,2000}")
"""A path on this site: browsers read `//` and `/\\` as another site."""


def status_code(error: Exception) -> int:
    """The HTTP status of a response that reports this error."""
    if isinstance(error, HTTPException):
        return error.status_code
    if isinstance(error, RequestValidationError):
        # No page has an id like that.
        return HTTPStatus.NOT_FOUND if _problems_in(error, "path") else 422
    return api_errors.find_kind(error)[0]


def message(error: Exception) -> str:
    """What the visitor may read: details of unexpected errors stay in the log."""
    if isinstance(error, AppError):
        return str(error)
    match status_code(error):
        case 404:
            return say("This page does not exist. Check the address.")
        case 405:
            return say("This page does not support this type of request.")
        case 408:
            return say("The request took too long to arrive. Try again.")
        case 413:
            return say("The request is too large. Send a smaller file or less text.")
        case 422:
            return _query_problems(error) or say("Something in the request is missing or invalid.")
        case _:
            return say("Something went wrong on the server. The server log has the details.")


def _problems_in(error: Exception, location: str) -> Sequence[Any]:
    """The problems of a RequestValidationError in the path or in the query."""
    problems: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else ()
    return [problem for problem in problems if problem["loc"][0] == location]


def _query_problems(error: Exception) -> str:
    sentences = dict.fromkeys(
        _describe(str(problem["loc"][:2][-1]), problem) for problem in _problems_in(error, "query")
    )
    return " ".join(sentences)


def _describe(name: str, problem: Any) -> str:
    """What a query parameter must be; its value is not repeated."""
    limits = problem.get("ctx", {})
    match problem["type"]:
        case "missing":
            return say("The address needs the parameter “%(name)s”.", name=name)
        case "int_parsing" | "int_from_float" | "int_parsing_size" | "float_parsing":
            return say("“%(name)s” in the address must be a number.", name=name)
        case "greater_than_equal":
            return say(
                "“%(name)s” in the address must be at least %(n)s.", name=name, n=limits["ge"]
            )
        case "less_than_equal":
            return say(
                "“%(name)s” in the address must be at most %(n)s.", name=name, n=limits["le"]
            )
        case "literal_error":
            values = limits["expected"].replace("'', ", "").replace("'", "")
            return say("“%(name)s” in the address must be %(values)s.", name=name, values=values)
        case "string_too_long":
            return say(
                "“%(name)s” in the address can have up to %(n)s characters.",
                name=name,
                n=limits["max_length"],
            )
        case _:
            return say("“%(name)s” in the address is not valid.", name=name)


async def error_response(request: Request, render: Render, error: Exception) -> Response:
    """JSON for the API, HTML for browsers, and short JSON for everything else."""
    if request.url.path.startswith("/api/") or request.url.path == "/api":
        return api_errors.error_response(error, request.headers.get("accept", ""))
    is_html = "text/html" in request.headers.get("accept", "")
    is_htmx = request.headers.get("hx-request") == "true"
    needs_sign_in = isinstance(error, NotSignedIn)
    if needs_sign_in and is_html and request.method == "GET" and not is_htmx:
        return RedirectResponse(sign_in_url(_path_and_query(request)), 303)
    if isinstance(error, PasswordNeeded) and is_html:
        return _password_form(request, render, error)
    response = await _error_page(request, render, error) if is_html else _error_json(error)
    if needs_sign_in and is_htmx:
        # Send the whole page to the sign-in form, not only the part that htmx asked for.
        current = urlsplit(request.headers.get("hx-current-url", ""))
        response.headers["HX-Redirect"] = sign_in_url(
            current.path + _as_query_suffix(current.query)
        )
    if isinstance(error, HTTPException) and error.headers:
        response.headers.update(error.headers)
    if isinstance(error, RateLimited):
        response.headers["Retry-After"] = str(error.retry_after)
    if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = "5"
    return response


def sign_in_url(path: str) -> str:
    """The sign-in page, which continues to a path on this site."""
    continues = LOCAL_PATH.fullmatch(path) and path != "/"
    return f"/sign-in?{urlencode({'next': path})}" if continues else "/sign-in"


def _path_and_query(request: Request) -> str:
    return quote(request.url.path) + _as_query_suffix(request.url.query)


def _as_query_suffix(query: str) -> str:
    return f"?{query}" if query else ""


async def _error_page(request: Request, render: Render, error: Exception) -> Response:
    """Inside the workspace of a member of the company, so that they can go on; plain for others."""
    code, plain_url = status_code(error), _url_without_query(request, error)
    visitor = await _find_member(request, error)
    last_used = request.cookies.get(WORKSPACE_COOKIE, "")
    shell = AppShell(request.url.path, visitor, (), last_used) if visitor else None
    return render(
        "error.html",
        code,
        shell=shell,
        code=code,
        title=say("This address is not valid") if plain_url else _title(code),
        text=message(error),
        plain_url=plain_url,
        reloads=code == HTTPStatus.SERVICE_UNAVAILABLE and request.method == "GET",
        request_id=request_id(request),
    )


async def _find_member(request: Request, error: Exception) -> Visitor | None:
    """The signed-in member of the company, if the request got far enough to tell or the database responds."""
    visitor = getattr(request.state, "visitor", None)
    if visitor is None and not isinstance(error, Unauthenticated | Unavailable):
        visitor = await _identify(request)
    return visitor if visitor and visitor.role else None


async def _identify(request: Request) -> Visitor | None:
    """Routes that do not exist have no visitor."""
    app = request.scope.get("app")
    if app is None or not hasattr(app.state, "request_database"):
        # Refused before it reached the site, such as a request from another one.
        return None
    try:
        return await identify(request, copy(app.state.request_database))
    except AppError:
        return None


def _password_form(request: Request, render: Render, error: PasswordNeeded) -> Response:
    """Asks for the password and sends the same form again; no cache may store its fields."""
    referer = urlsplit(request.headers.get("referer", ""))
    response = render(
        "account/confirm.html",
        status_code(error),
        action=_path_and_query(request),
        fields=error.form,
        cancel_url=referer.path if LOCAL_PATH.fullmatch(referer.path) else "/account",
        minutes=int(PASSWORD_LIFETIME.total_seconds() // 60),
        error=str(error) if error.is_wrong else None,
    )
    return no_store(response)


def _url_without_query(request: Request, error: Exception) -> str | None:
    """The page without its query, if only the query is wrong."""
    problems = _problems_in(error, "query") if request.method == "GET" else ()
    is_missing = any(problem["type"] == "missing" for problem in problems)
    return quote(request.url.path) if problems and not is_missing else None


def _error_json(error: Exception) -> Response:
    return JSONResponse({"error": message(error)}, status_code(error))


def _title(code: int) -> str:
    match code:
        case 401:
            return say("Sign in to continue")
        case 403:
            return say("You do not have access")
        case 404:
            return say("Page not found")
        case 409:
            return say("This is not possible right now")
        case 410:
            return say("This no longer exists")
        case 429:
            return say("Too many requests")
        case 503:
            return say("Temporarily unavailable")
        case _ if code < 500:
            return say("The request was not accepted")
        case _:
            return say("Something went wrong")
