"""/api/session: signing in, signing out, and who I am."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from jobmill.errors import Unauthenticated
from jobmill.people import passwords, persons, sessions
from jobmill.people.persons import Role
from jobmill.web import limits, rights
from jobmill.web.rights import SESSION, Anyone
from jobmill.web.view import Db

router = APIRouter(prefix="/session", tags=["session"])


class Credentials(BaseModel):
    email: Annotated[str, Field(max_length=254, examples=["ada@example.org"])]
    password: Annotated[str, Field(max_length=passwords.LONGEST)]


class Me(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    name: Annotated[str | None, Field(examples=["Ada Lovelace"])]
    role: Annotated[Role | None, Field(examples=["recruiter"])]
    applicant_id: int | None = None
    local: bool = False


@router.post("")
async def sign_in(body: Credentials, request: Request, response: Response, db: Db) -> Me:
    """Begin a session; the cookie that comes with the answer is its key."""
    key = persons.email_key(body.email)
    limits.check_sign_in(request, key)
    async with db.transaction() as tx:
        person = await persons.known(tx, key)
    right = await passwords.verify(person.password if person else None, body.password)
    if person is None or not right:
        # Which of the two was wrong is nobody's business.
        raise Unauthenticated("The address or the password is wrong.")
    async with db.transaction() as tx:
        id = await sessions.begin(tx, person)
    response.set_cookie(
        SESSION,
        id,
        max_age=int(sessions.LASTS.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=rights.peers(request).is_https(request),
    )
    response.headers["Cache-Control"] = "no-store"
    return Me(name=person.name, role=person.role)


@router.get("")
async def show(visitor: Anyone) -> Me:
    """Who asks, and what they may do."""
    if visitor.role is None and visitor.applicant_id is None:
        raise Unauthenticated("Nobody is signed in.")
    return Me(
        name=visitor.name,
        role=visitor.role,
        applicant_id=visitor.applicant_id,
        local=visitor.local,
    )


@router.delete("", status_code=204)
async def sign_out(request: Request, response: Response, db: Db) -> None:
    """End the session, here and for whoever copied its key."""
    if id := request.cookies.get(SESSION):
        async with db.transaction() as tx:
            await sessions.end(tx, id)
    response.delete_cookie(SESSION, httponly=True, samesite="lax")
