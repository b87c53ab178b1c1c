"""The signed-in person of this session."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from jobmill.errors import Conflict
from jobmill.people import persons, sessions
from jobmill.people.persons import Person
from jobmill.web.auth import SESSION_COOKIE, SignedIn
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.translations import say


async def account_holder(request: Request, visitor: SignedIn, db: Db) -> Person:
    """The person of this session; Conflict for local visitors and API keys, which have none."""
    person = await find_account_holder(request, db)
    if person is None:
        raise Conflict(say("You are not signed in with an account of your own."))
    return person


AccountHolder = Annotated[Person, Depends(account_holder)]


async def find_account_holder(request: Request, db: RequestDatabase) -> Person | None:
    async with db.transaction() as tx:
        session = await sessions.find(tx, request.cookies.get(SESSION_COOKIE, ""))
        return await persons.get(tx, session.person_id) if session else None
