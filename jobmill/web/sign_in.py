"""Sign in and out; the page and the API share this code."""

from __future__ import annotations

import datetime as dt
import logging
from typing import NamedTuple, TypedDict

from fastapi import Request, Response

from jobmill.errors import Unauthenticated
from jobmill.people import (
    passkeys,
    passwords,
    persons,
    second_factors,
    sessions,
    sign_in_tokens,
)
from jobmill.people.persons import StoredCredentials
from jobmill.people.secrets import get_signing_key
from jobmill.web import auth, rate_limits
from jobmill.web.auth import SESSION_COOKIE
from jobmill.web.dependencies import RequestDatabase
from jobmill.web.local_access import COOKIE_LIFETIME, LocalAccess
from jobmill.web.translations import say

log = logging.getLogger(__name__)


PENDING_COOKIE = "jobmill_sign_in"
"""Remembers for a few minutes that the password was right, while the second factor is missing."""
PENDING_LIFETIME = dt.timedelta(minutes=5)
BROWSER_COOKIE = "jobmill_browser"
BROWSER_LIFETIME = dt.timedelta(days=365)


class SecondFactorNeeded(Unauthenticated):
    """The password is right, and the account asks for a second factor."""

    code = "SECOND_FACTOR_NEEDED"

    def __init__(self, pending: str) -> None:
        super().__init__(
            "Enter a code of your authenticator app or a recovery code, or sign in with a passkey in a "
            "browser."
        )
        self.pending = pending
        """The value of the pending cookie."""


class NewSession(NamedTuple):
    person: StoredCredentials
    key: str
    """The session key; the database stores only its hash."""
    browser: str
    """The token by which this browser is remembered."""


async def start_session(
    request: Request, db: RequestDatabase, email: str, password: str, code: str = ""
) -> NewSession:
    """Check the password and the second factor, and create a session, which replaces the browser's
    old one; SecondFactorNeeded if the code is missing."""
    person = await check_password(request, db, email, password)
    async with db.transaction() as tx:
        factor = await second_factors.find(tx, person.id)
        signing_key = await get_signing_key(tx)
    if factor.is_on and not code:
        raise SecondFactorNeeded(sign_in_tokens.create_pending_token(signing_key, person))
    if factor.is_on:
        await _check_code(request, db, person, code)
    return await _create_session(request, db, person)


async def finish_sign_in(request: Request, db: RequestDatabase, code: str) -> NewSession:
    """Check the second factor after the password; Unauthenticated if that was too long ago."""
    person = await get_pending_person(request, db)
    await _check_code(request, db, person, code)
    return await _create_session(request, db, person)


async def finish_sign_in_with_passkey(
    request: Request, db: RequestDatabase, credential: str
) -> NewSession:
    """As finish_sign_in, with what a passkey signed."""
    person = await get_pending_person(request, db)
    await rate_limits.check_sign_in(request, db, f"code of {person.email_key}", remembered=False)
    async with db.transaction() as tx:
        accepted = await passkeys.check_signature(tx, person.id, credential, site_of(request))
    if not accepted:
        _log_failure(request, person.email_key)
        raise Unauthenticated(say("This passkey was not accepted. Try again."))
    return await _create_session(request, db, person)


def site_of(request: Request) -> passkeys.Site:
    """The site as the browser sees it; the middleware has checked the host."""
    scheme = "https" if auth.get_client_resolver(request).is_https(request) else "http"
    return passkeys.Site(
        request.url.hostname or "", f"{scheme}://{request.headers.get('host', '')}"
    )


async def get_pending_person(request: Request, db: RequestDatabase) -> StoredCredentials:
    """The person that entered their password a moment ago."""
    async with db.transaction() as tx:
        signing_key = await get_signing_key(tx)
        token = request.cookies.get(PENDING_COOKIE, "")
        person_id = sign_in_tokens.read_pending_person_id(signing_key, token, PENDING_LIFETIME)
        person = await persons.find_credentials_by_id(tx, person_id) if person_id else None
    if person is None or not sign_in_tokens.is_pending_token_of(signing_key, token, person):
        raise Unauthenticated(say("That took too long. Enter your password again."))
    return person


async def _check_code(
    request: Request, db: RequestDatabase, person: StoredCredentials, code: str
) -> None:
    """Unauthenticated if the code is wrong; attempts are limited like those of passwords."""
    await rate_limits.check_sign_in(request, db, f"code of {person.email_key}", remembered=False)
    # Each use of a recovery code is recorded with its person.
    db.changed_by = f"person:{person.id}"
    async with db.transaction() as tx:
        result = await second_factors.check_code(tx, person.id, code)
    if result == "accepted":
        return
    _log_failure(request, person.email_key)
    if result == "locked":
        raise Unauthenticated(say("Too many wrong codes. Wait 15 minutes, or use a recovery code."))
    raise Unauthenticated(say("This code is wrong or was already used. Enter the next one."))


async def _create_session(
    request: Request, db: RequestDatabase, person: StoredCredentials
) -> NewSession:
    async with db.transaction() as tx:
        await sessions.delete(tx, request.cookies.get(SESSION_COOKIE, ""))
        key = await sessions.create(tx, person, **describe_client(request))
        token = sign_in_tokens.create_browser_token(await get_signing_key(tx), person)
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
    remembered = person is not None and sign_in_tokens.is_browser_remembered(
        signing_key, person, token
    )
    await rate_limits.check_sign_in(request, db, key, remembered=remembered)
    correct = await passwords.verify(person.password if person else None, password)
    if person is None or not correct:
        _log_failure(request, key)
        # The same message in both cases, so that it does not reveal which addresses have an account.
        raise Unauthenticated("The email address or the password is wrong.")
    return person


def _log_failure(request: Request, account: str) -> None:
    """One line per failure, for programs such as fail2ban that block addresses."""
    address = auth.get_client_resolver(request).address(request)
    log.warning("failed sign-in", extra={"address": address, "account": account})


def set_pending_cookie(request: Request, response: Response, pending: str) -> None:
    _set_cookie(request, response, PENDING_COOKIE, pending, PENDING_LIFETIME)
    response.headers["Cache-Control"] = "no-store"


def set_sign_in_cookies(request: Request, response: Response, session: NewSession) -> None:
    set_session_cookie(request, response, session.key)
    _set_cookie(request, response, BROWSER_COOKIE, session.browser, BROWSER_LIFETIME)
    if PENDING_COOKIE in request.cookies:
        response.delete_cookie(PENDING_COOKIE, httponly=True, samesite="lax")


def set_session_cookie(request: Request, response: Response, key: str) -> None:
    _set_cookie(request, response, SESSION_COOKIE, key, sessions.SESSION_LIFETIME)
    response.headers["Cache-Control"] = "no-store"


def set_local_cookie(request: Request, response: Response, access: LocalAccess) -> None:
    """Strict: other sites cannot lead the browser to a program of another user on another port of this
    machine, which would receive the cookie."""
    response.set_cookie(
        auth.local_cookie_name(request),
        access.create_cookie(),
        max_age=int(COOKIE_LIFETIME.total_seconds()),
        httponly=True,
        samesite="strict",
    )
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
    """End the session in the database, so that copies of its key stop working too; without a session, end
    the browser's local access."""
    if key := request.cookies.get(SESSION_COOKIE):
        async with db.transaction() as tx:
            await sessions.delete(tx, key)
        response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax")
    else:
        response.delete_cookie(auth.local_cookie_name(request), httponly=True, samesite="strict")
