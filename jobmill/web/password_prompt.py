"""Ask for the password again before a person changes who has access, or erases data.

A handler declares `ConfirmedAdmin` or `ConfirmedPerson`. If the password was entered too long ago, the
visitor gets a page that asks for it and then sends the same form again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, Request

from jobmill.errors import Unauthenticated
from jobmill.people import sessions
from jobmill.web import sign_in
from jobmill.web.account_holder import find_account_holder
from jobmill.web.auth import SESSION_COOKIE, PasswordNeeded, Visitor, admin, signed_in
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import fields
from jobmill.web.translations import say

PASSWORD_FIELD = "confirm_password"


async def confirm(request: Request, db: RequestDatabase, password: str) -> None:
    """Check the password of the signed-in person; PasswordNeeded if it is wrong."""
    key = request.cookies.get(SESSION_COOKIE, "")
    person = await find_account_holder(request, db)
    if person is None:
        raise PasswordNeeded(say("You are not signed in. Sign in, then try again."))
    try:
        await sign_in.check_password(request, db, person.email, password)
    except Unauthenticated as error:
        raise PasswordNeeded(say("That is not your password.")) from error
    async with db.transaction() as tx:
        await sessions.confirm_password(tx, key)


async def require_confirmed(request: Request, visitor: Visitor, db: RequestDatabase) -> Visitor:
    """The visitor, if they entered their password a short time ago or in this form; PasswordNeeded."""
    if visitor.is_confirmed:
        return visitor
    form: Mapping[str, str] = await fields(request)
    try:
        if PASSWORD_FIELD not in form:
            visitor.require_confirmed()
        await confirm(request, db, form.get(PASSWORD_FIELD, ""))
    except PasswordNeeded as error:
        error.form = {name: value for name, value in form.items() if name != PASSWORD_FIELD}
        error.is_wrong = PASSWORD_FIELD in form
        raise
    return visitor


async def confirmed_admin(
    request: Request, visitor: Annotated[Visitor, Depends(admin)], db: Db
) -> Visitor:
    return await require_confirmed(request, visitor, db)


async def confirmed_person(
    request: Request, visitor: Annotated[Visitor, Depends(signed_in)], db: Db
) -> Visitor:
    return await require_confirmed(request, visitor, db)


ConfirmedAdmin = Annotated[Visitor, Depends(confirmed_admin)]
ConfirmedPerson = Annotated[Visitor, Depends(confirmed_person)]
