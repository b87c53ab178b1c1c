"""The recipient of the notifications that a request is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from jobmill.errors import Conflict
from jobmill.people.persons import LOCAL, Owner, Role
from jobmill.web.account_holder import find_account_holder
from jobmill.web.auth import SignedIn
from jobmill.web.dependencies import Db
from jobmill.web.site_settings import get_site_settings
from jobmill.web.translations import say


@dataclass(frozen=True, slots=True)
class Receiver:
    owner: Owner
    role: Role
    email: str


async def find_receiver(request: Request, visitor: SignedIn, db: Db) -> Receiver:
    """The person of this session or the local user; Conflict for API keys, which receive nothing."""
    if visitor.local and visitor.person_id is None:
        return Receiver(LOCAL, "admin", "")
    person = await find_account_holder(request, db)
    if person is None:
        raise Conflict(say("You are not signed in with an account of your own."))
    return Receiver(person.id, person.role, person.email)


def may_use_apprise(request: Request, receiver: Receiver) -> bool:
    """Its channels reach private addresses: the operator allows them, and only to admins."""
    return get_site_settings(request).settings.apprise and receiver.role == "admin"


OfReceiver = Annotated[Receiver, Depends(find_receiver)]
