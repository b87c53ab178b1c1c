"""Sign in and out; the page and the API share this code."""

from __future__ import annotations

from typing import NamedTuple

from fastapi import Request, Response

from jobmill.errors import Unauthenticated
from jobmill.people import passwords, persons, sessions
from jobmill.people.persons import StoredCredentials
from jobmill.web import auth, rate_limits
from jobmill.web.auth import SESSION_COOKIE
from jobmill.web.dependencies import RequestDatabase


class NewSession(NamedTuple):
    person: StoredCredentials
    key: str
    """The session key; the database stores only its hash."""


async def start_session(
    request: Request, db: RequestDatabase, email: str, password: str
) -> NewSession:
    """Check the password and create a session, which replaces the browser's old one."""
    person = await check_password(request, db, email, password)
    async with db.transaction() as tx:
        await sessions.delete(tx, request.cookies.get(SESSION_COOKIE, ""))
        return NewSession(person, await sessions.create(tx, person))


async def check_password(
    request: Request, db: RequestDatabase, email: str, password: str
) -> StoredCredentials:
    """The person with this email and password; Unauthenticated or RateLimited otherwise."""
    key = persons.email_key(email)
    rate_limits.check_sign_in(request, key)
    async with db.transaction() as tx:
        person = await persons.find_credentials(tx, key)
    correct = await passwords.verify(person.password if person else None, password)
    if person is None or not correct:
        # The same message in both cases, so that it does not reveal which addresses have an account.
        raise Unauthenticated("The email address or the password is wrong.")
    return person


def set_session_cookie(request: Request, response: Response, key: str) -> None:
    response.set_cookie(
        SESSION_COOKIE,
        key,
        max_age=int(sessions.SESSION_LIFETIME.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=auth.get_client_resolver(request).is_https(request),
    )
    response.headers["Cache-Control"] = "no-store"


async def sign_out(request: Request, response: Response, db: RequestDatabase) -> None:
    """End the session in the database, so that copies of its key stop working too."""
    if key := request.cookies.get(SESSION_COOKIE):
        async with db.transaction() as tx:
            await sessions.delete(tx, key)
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax")
