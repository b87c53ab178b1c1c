"""Signing in and out: one way for the page and for the API."""

from __future__ import annotations

from typing import NamedTuple

from fastapi import Request, Response

from jobmill.errors import Unauthenticated
from jobmill.people import passwords, persons, sessions
from jobmill.people.persons import Credentials
from jobmill.web import limits, rights
from jobmill.web.rights import SESSION
from jobmill.web.view import Door


class Begun(NamedTuple):
    person: Credentials
    session: str
    """Its id, which is kept nowhere else."""


async def begin(request: Request, db: Door, email: str, password: str) -> Begun:
    """A new session; Unauthenticated if the two do not belong together, RateLimited after a few."""
    person = await check(request, db, email, password)
    async with db.transaction() as tx:
        # What this browser had before opens nothing any more.
        await sessions.delete(tx, request.cookies.get(SESSION, ""))
        return Begun(person, await sessions.create(tx, person))


async def check(request: Request, db: Door, email: str, password: str) -> Credentials:
    """Whoever has this address and this password."""
    key = persons.email_key(email)
    limits.check_sign_in(request, key)
    async with db.transaction() as tx:
        person = await persons.find_credentials(tx, key)
    right = await passwords.verify(person.password if person else None, password)
    if person is None or not right:
        # Which of the two was wrong is nobody's business.
        raise Unauthenticated("The address or the password is wrong.")
    return person


def keep(request: Request, response: Response, session: str) -> None:
    """Hand a session to the browser: no script reads it, and no other site sends it along."""
    response.set_cookie(
        SESSION,
        session,
        max_age=int(sessions.SESSION_LIFETIME.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=rights.peers(request).is_https(request),
    )
    response.headers["Cache-Control"] = "no-store"


async def end(request: Request, response: Response, db: Door) -> None:
    """End the session, here and for whoever copied its key."""
    if id := request.cookies.get(SESSION):
        async with db.transaction() as tx:
            await sessions.delete(tx, id)
    response.delete_cookie(SESSION, httponly=True, samesite="lax")
