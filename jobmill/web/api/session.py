"""/api/session: signing in and out, and the current user."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from jobmill.errors import Unauthenticated
from jobmill.people import passwords
from jobmill.people.persons import Role
from jobmill.people.second_factors import MAX_CODE_LENGTH
from jobmill.web import password_prompt
from jobmill.web import sign_in as sign_in_service
from jobmill.web.api.callers import SignedInCaller
from jobmill.web.api.operation_roles import or_applicant
from jobmill.web.auth import Anyone
from jobmill.web.dependencies import Db

router = APIRouter(prefix="/session", tags=["session"])


class Credentials(BaseModel):
    email: Annotated[str, Field(max_length=254, examples=["ada@example.org"])]
    password: Annotated[str, Field(max_length=passwords.MAX_LENGTH)]
    code: Annotated[str, Field(max_length=MAX_CODE_LENGTH, examples=["123456"])] = ""
    """Of the authenticator app, or a recovery code."""


class CurrentUser(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    name: Annotated[str | None, Field(examples=["Ada Lovelace"])]
    role: Annotated[Role | None, Field(examples=["recruiter"])]
    applicant_id: int | None = None
    local: bool = False


@router.post("")
async def sign_in(body: Credentials, request: Request, response: Response, db: Db) -> CurrentUser:
    """Sign in; the response sets the session cookie. The error `SECOND_FACTOR_NEEDED` asks for `code`."""
    started = await sign_in_service.start_session(request, db, body.email, body.password, body.code)
    sign_in_service.set_sign_in_cookies(request, response, started)
    return CurrentUser(name=started.person.name, role=started.person.role)


@router.get("", openapi_extra=or_applicant("any"))
async def show(visitor: Anyone) -> CurrentUser:
    """The current user and role."""
    if visitor.role is None and visitor.applicant_id is None:
        raise Unauthenticated("You are not signed in.")
    return CurrentUser(
        name=visitor.name,
        role=visitor.role,
        applicant_id=visitor.applicant_id,
        local=visitor.local,
    )


class PasswordBody(BaseModel):
    password: Annotated[
        str, Field(max_length=passwords.MAX_LENGTH, examples=["seven lanterns walk to Bergen"])
    ]


@router.post("/confirm", status_code=204)
async def confirm_password(body: PasswordBody, caller: SignedInCaller) -> None:
    """Enter the password again, before what needs it: `PASSWORD_NEEDED` errors name it."""
    await password_prompt.confirm(caller.request, caller.db, body.password)


@router.delete("", status_code=204)
async def sign_out(request: Request, response: Response, db: Db) -> None:
    """Sign out; the session cookie becomes invalid everywhere."""
    await sign_in_service.sign_out(request, response, db)
