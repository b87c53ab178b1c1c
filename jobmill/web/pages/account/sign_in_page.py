"""/sign-in, /sign-out: the same session as that of the API."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Invalid, RateLimited, Unauthenticated
from jobmill.people import passwords
from jobmill.web import html_errors
from jobmill.web import sign_in as sign_in_service
from jobmill.web.auth import Anyone, Visitor
from jobmill.web.dependencies import Db, Render, View
from jobmill.web.form import Fields
from jobmill.web.translations import say

router = APIRouter()

LONGEST_EMAIL = 254


@router.get("/sign-in")
async def ask(request: Request, visitor: Anyone, view: View) -> HTMLResponse:
    return _form(view, visitor, request.query_params.get("next", ""))


@router.post("/sign-in")
async def sign_in(request: Request, visitor: Anyone, form: Fields, db: Db, view: View) -> Response:
    """Begin a session and go on, or show the form again without the password."""
    email, goes_on = form.get("email", ""), form.get("next", "")
    try:
        _check_lengths(email, form.get("password", ""))
        begun = await sign_in_service.start_session(request, db, email, form.get("password", ""))
    except (Invalid, Unauthenticated, RateLimited) as error:
        return _form(view, visitor, goes_on, email=email[:LONGEST_EMAIL], error=error)
    response = RedirectResponse(_own(goes_on), 303)
    sign_in_service.set_session_cookie(request, response, begun.key)
    return response


def _check_lengths(email: str, password: str) -> None:
    if len(email) > LONGEST_EMAIL or len(password) > passwords.MAX_LENGTH:
        raise Invalid(say("That is longer than an address or a password can be."))


def _own(path: str) -> str:
    """Where to go on to: a page of ours, or else home."""
    return path if html_errors.LOCAL_PATH.fullmatch(path) else "/"


def _form(
    view: Render, visitor: Visitor, goes_on: str, *, email: str = "", error: AppError | None = None
) -> HTMLResponse:
    response = view(
        "account/sign_in.html",
        html_errors.status_code(error) if error else 200,
        visitor=visitor,
        next=_own(goes_on),
        email=email,
        error=str(error) if error else None,
    )
    response.headers["Cache-Control"] = "no-store"
    if isinstance(error, RateLimited):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


@router.post("/sign-out")
async def sign_out(request: Request, db: Db) -> Response:
    response = RedirectResponse("/sign-in", 303)
    await sign_in_service.sign_out(request, response, db)
    return response
