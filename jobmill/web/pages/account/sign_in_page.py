"""/sign-in and /sign-out: sessions are shared with the API. /sign-in/local admits the user who runs a local
server."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Invalid, RateLimited, Unauthenticated
from jobmill.people import passkeys, passwords, second_factors
from jobmill.web import auth, html_errors, local_access
from jobmill.web import sign_in as sign_in_service
from jobmill.web.auth import Anyone, Visitor
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.public_page import PublicPage
from jobmill.web.sign_in import NewSession, SecondFactorNeeded
from jobmill.web.translations import say

router = APIRouter()

MAX_EMAIL_LENGTH = 254


class InvalidLocalLink(Unauthenticated):
    def __init__(self) -> None:
        super().__init__(
            say("This link has expired or was already used. Get a new link, or sign in below.")
        )


@router.get("/sign-in")
async def show_form(visitor: Anyone, page: PublicPage) -> HTMLResponse:
    return _render_form(page, visitor, page.request.query_params.get("next", ""))


@router.get(local_access.PATH)
async def sign_in_locally(visitor: Anyone, page: PublicPage, token: str = "") -> HTMLResponse:
    """Exchange the token of a link from the terminal for a cookie, then continue to the home page.

    Not by a redirect: browsers that come from another page would not send the cookie along.
    """
    request = page.request
    access = auth.get_local_access(request)
    if visitor.local:
        return page.render("account/signed_in.html")
    # A browser may load a page in advance that the user never opens.
    is_prefetch = "prefetch" in request.headers.get("sec-purpose", "")
    if access is None or is_prefetch or not access.redeem(token):
        return _render_form(page, visitor, "", error=InvalidLocalLink())
    response = page.render("account/signed_in.html")
    sign_in_service.set_local_cookie(request, response, access)
    return response


@router.post("/sign-in")
async def sign_in(visitor: Anyone, form: Fields, page: PublicPage) -> Response:
    """Start a session and continue, or show the form again without the password."""
    email, next_path = form.get("email", ""), form.get("next", "")
    request, password = page.request, form.get("password", "")
    try:
        _check_lengths(email, password)
        session = await sign_in_service.start_session(request, page.db, email, password)
    except SecondFactorNeeded as error:
        response = RedirectResponse(_code_url(next_path), 303)
        sign_in_service.set_pending_cookie(request, response, error.pending)
        return response
    except (Invalid, Unauthenticated, RateLimited) as error:
        return _render_form(page, visitor, next_path, email=email[:MAX_EMAIL_LENGTH], error=error)
    return _continue(page, next_path, session)


@router.get("/sign-in/code")
async def show_code_form(visitor: Anyone, page: PublicPage) -> Response:
    next_path = page.request.query_params.get("next", "")
    try:
        return await _render_code_form(page, next_path)
    except Unauthenticated:
        return RedirectResponse(html_errors.sign_in_url(_checked_path(next_path)), 303)


@router.post("/sign-in/code")
async def check_code(visitor: Anyone, form: Fields, page: PublicPage) -> Response:
    """The second step of signing in: a passkey, a code of the app, or a recovery code."""
    request, db, next_path = page.request, page.db, form.get("next", "")
    try:
        await sign_in_service.get_pending_person(request, db)
    except Unauthenticated as error:
        return _render_form(page, visitor, next_path, error=error)
    try:
        if credential := form.get("credential"):
            session = await sign_in_service.finish_sign_in_with_passkey(request, db, credential)
        else:
            session = await sign_in_service.finish_sign_in(request, db, form.get("code", ""))
    except (Unauthenticated, RateLimited) as error:
        return await _render_code_form(page, next_path, error)
    return _continue(page, next_path, session)


def _continue(page: PublicPage, next_path: str, session: NewSession) -> Response:
    response = RedirectResponse(_checked_path(next_path), 303)
    sign_in_service.set_sign_in_cookies(page.request, response, session)
    return response


def _code_url(next_path: str) -> str:
    path = _checked_path(next_path)
    return "/sign-in/code" if path == "/" else f"/sign-in/code?{urlencode({'next': path})}"


async def _render_code_form(
    page: PublicPage, next_path: str, error: AppError | None = None
) -> HTMLResponse:
    person = await sign_in_service.get_pending_person(page.request, page.db)
    site = sign_in_service.site_of(page.request)
    async with page.db.transaction() as tx:
        factor = await second_factors.find(tx, person.id)
        passkey_options = await passkeys.start_sign_in(tx, person.id, site)
    response = page.render(
        "account/sign_in_code.html",
        next=_checked_path(next_path),
        factor=factor,
        passkey_options=passkey_options,
        error=error,
    )
    return _without_cache(response, error)


def _without_cache(response: HTMLResponse, error: AppError | None) -> HTMLResponse:
    response.headers["Cache-Control"] = "no-store"
    if isinstance(error, RateLimited):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def _check_lengths(email: str, password: str) -> None:
    if len(email) > MAX_EMAIL_LENGTH or len(password) > passwords.MAX_LENGTH:
        raise Invalid(say("The email address or the password is too long."))


def _checked_path(path: str) -> str:
    """A path on this site, or the home page."""
    return path if html_errors.LOCAL_PATH.fullmatch(path) else "/"


def _render_form(
    page: PublicPage,
    visitor: Visitor,
    next_path: str,
    *,
    email: str = "",
    error: AppError | None = None,
) -> HTMLResponse:
    response = page.render(
        "account/sign_in.html",
        visitor=visitor,
        is_local=auth.get_local_access(page.request) is not None,
        next=_checked_path(next_path),
        email=email,
        error=error,
    )
    return _without_cache(response, error)


@router.post("/sign-out")
async def sign_out(request: Request, db: Db) -> Response:
    response = RedirectResponse("/sign-in", 303)
    await sign_in_service.sign_out(request, response, db)
    return response
