"""Sign in and out; the page and the API share this code."""

from __future__ import annotations

import datetime as dt
import logging
from typing import NamedTuple, TypedDict

from fastapi import Request, Response

from jobmill.errors import Unauthenticated
from jobmill.people import passwords, persons, remembered_browsers, sessions
from jobmill.people.persons import StoredCredentials
from jobmill.people.secrets import get_signing_key
from jobmill.web import auth, rate_limits
from jobmill.web.auth import SESSION_COOKIE
from jobmill.web.dependencies import RequestDatabase

log = logging.getLogger(__name__)


BROWSER_COOKIE = "jobmill_browser"
BROWSER_LIFETIME = dt.timedelta(days=365)


class NewSession(NamedTuple):
    person: StoredCredentials
    key: str
    """The session key; the database stores only its hash."""
    browser: str
    """The token by which this browser is remembered."""


async def start_session(
    request: Request, db: RequestDatabase, email: str, password: str
) -> NewSession:
    """Check the password and create a session, which replaces the browser's old one."""
    person = await check_password(request, db, email, password)
    async with db.transaction() as tx:
        await sessions.delete(tx, request.cookies.get(SESSION_COOKIE, ""))
        key = await sessions.create(tx, person, **describe_client(request))
        token = remembered_browsers.create_token(await get_signing_key(tx), person)
        return NewSession(person, key, token)


class ClientDescription(TypedDict):
    user_agent: str
    address: str


def describe_client(request: Request) -> ClientDescription:
    """What the list of sessions shows about a browser."""
    return {
        "user_agent": request.headers.get("user-agent", ""),
        "address": auth.get_client_resolver(request).address(request),
    }


async def check_password(
    request: Request, db: RequestDatabase, email: str, password: str
) -> StoredCredentials:
    """The person with this email and password; Unauthenticated or RateLimited otherwise."""
    key = persons.email_key(email)
    token = request.cookies.get(BROWSER_COOKIE, "")
    async with db.transaction() as tx:
        person = await persons.find_credentials(tx, key)
        # Read also for unknown accounts, which must not be told apart by time.
        signing_key = await get_signing_key(tx)
    remembered = person is not None and remembered_browsers.is_remembered(
        signing_key, person, token
    )
    rate_limits.check_sign_in(request, key, remembered=remembered)
    correct = await passwords.verify(person.password if person else None, password)
    if person is None or not correct:
        # One line per failure, for programs such as fail2ban that block addresses.
        address = auth.get_client_resolver(request).address(request)
        log.warning("failed sign-in", extra={"address": address, "account": key})
        # The same message in both cases, so that it does not reveal which addresses have an account.
        raise Unauthenticated("The email address or the password is wrong.")
    return person


def set_sign_in_cookies(request: Request, response: Response, session: NewSession) -> None:
    set_session_cookie(request, response, session.key)
    _set_cookie(request, response, BROWSER_COOKIE, session.browser, BROWSER_LIFETIME)


def set_session_cookie(request: Request, response: Response, key: str) -> None:
    _set_cookie(request, response, SESSION_COOKIE, key, sessions.SESSION_LIFETIME)
    response.headers["Cache-Control"] = "no-store"


def _set_cookie(
    request: Request, response: Response, name: str, value: str, lifetime: dt.timedelta
) -> None:
    response.set_cookie(
        name,
        value,
        max_age=int(lifetime.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=auth.get_client_resolver(request).is_https(request),
    )


async def sign_out(request: Request, response: Response, db: RequestDatabase) -> None:
    """End the session in the database, so that copies of its key stop working too."""
    if key := request.cookies.get(SESSION_COOKIE):
        async with db.transaction() as tx:
            await sessions.delete(tx, key)
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax")
