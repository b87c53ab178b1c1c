"""/api/people and /api/keys: access to Jobmill. Only for sessions: an API key cannot give access."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from jobmill.db import Tx
from jobmill.errors import Conflict
from jobmill.outside import budget_ledger
from jobmill.people import keys, passwords, persons
from jobmill.people.keys import Scope
from jobmill.people.persons import Person, Role
from jobmill.web.api.callers import AdminCaller
from jobmill.web.api.openapi import problems
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Admin
from jobmill.web.dependencies import Db
from jobmill.web.parameters import PLAIN_TEXT, BodyId, OutputTime, PathId, WholeNumber
from jobmill.web.translations import say

router = APIRouter(tags=["people"])


class PersonRecord(Schema):
    id: Annotated[int, Field(examples=[1])]
    name: Annotated[str, Field(examples=["Ada Lovelace"])]
    email: Annotated[str, Field(examples=["ada@example.org"])]
    role: Role
    created_at: OutputTime
    ended_at: OutputTime | None
    """When their access was removed."""


class PersonList(Schema):
    items: list[PersonRecord]


class NewPerson(RequestBody):
    name: Annotated[str, Field(min_length=1, max_length=200, examples=["Ada Lovelace"]), PLAIN_TEXT]
    email: Annotated[str, Field(max_length=254, examples=["ada@example.org"]), PLAIN_TEXT]
    role: Annotated[Role, Field(examples=["recruiter"])]
    password: Annotated[
        str,
        Field(max_length=passwords.MAX_LENGTH, examples=["seven lanterns walk to Bergen"]),
        PLAIN_TEXT,
    ]


class RoleBody(RequestBody):
    role: Annotated[Role, Field(examples=["viewer"])]


class BudgetShareBody(RequestBody):
    share: Annotated[str, Field(max_length=40, examples=["25%"]), PLAIN_TEXT] | None
    """US dollars such as `0.50`, or a percentage of the daily budget; null: no limit of their own."""


class BudgetShareRecord(Schema):
    person_id: Annotated[int, Field(examples=[1])]
    share: str | None


class KeyRecord(Schema):
    id: Annotated[int, Field(examples=[1])]
    name: Annotated[str, Field(examples=["backup script"])]
    scope: Scope
    owner: str | None
    created_at: OutputTime
    used_at: OutputTime | None
    expires_at: OutputTime | None
    ended_at: OutputTime | None
    is_active: bool


class KeyList(Schema):
    items: list[KeyRecord]


class NewKey(RequestBody):
    name: Annotated[str, Field(min_length=1, max_length=200, examples=["my script"]), PLAIN_TEXT]
    scope: Annotated[Scope, Field(examples=["search"])]
    owner_id: BodyId | None = None
    """The key reads the job search of this person, and their rights limit it."""
    days: Annotated[WholeNumber, Field(ge=1, le=3_650)] | None = 90
    """Null: it does not expire."""


class CreatedKey(Schema):
    id: Annotated[int, Field(examples=[1])]
    name: str
    scope: Scope
    expires_at: OutputTime | None
    key: str | None
    """Shown once: a repeated request with the same Idempotency-Key gets null."""


@router.get("/people", response_model=PersonList)
async def list_people(caller: AdminCaller) -> Response:
    """All people with access, and those that had it."""
    async with caller.db.transaction() as tx:
        return caller.respond(PersonList.of(items=await persons.find_all(tx)))


@router.post("/people", response_model=PersonRecord, status_code=201)
async def create_person(body: NewPerson, caller: AdminCaller) -> Response:
    """Give a person access."""
    caller.visitor.require_confirmed()
    return await caller.run_once(
        lambda tx: persons.add(tx, body.name, body.email, body.role, body.password),
        to_schema=PersonRecord.of,
        status=201,
    )


@router.put("/people/{person_id}/role", response_model=PersonRecord)
async def set_person_role(person_id: PathId, body: RoleBody, caller: AdminCaller) -> Response:
    """Change what a person may do. The last admin stays one."""
    caller.visitor.require_confirmed()
    return await caller.run_once(
        lambda tx: change_role(tx, person_id, body.role), to_schema=PersonRecord.of
    )


async def change_role(tx: Tx, person_id: int, role: Role) -> Person:
    """Conflict if nobody else is an admin."""
    person = await get_active(tx, person_id)
    if role != "admin":
        await persons.require_other_admin(tx, person_id)
    return await persons.set_role(tx, person.email, role)


@router.put("/people/{person_id}/budget", response_model=BudgetShareRecord)
async def set_person_budget(
    person_id: PathId, body: BudgetShareBody, caller: AdminCaller
) -> Response:
    """Limit what the job search of a person may spend on models each day."""
    share = budget_ledger.parse_share(body.share or "")

    async def work(tx: Tx) -> BudgetShareRecord:
        person = await get_active(tx, person_id)
        await budget_ledger.set_share(tx, person.id, share)
        return BudgetShareRecord(person_id=person.id, share=str(share) if share else None)

    return await caller.run_once(work)


@router.delete("/people/{person_id}", status_code=204)
async def remove_person_access(person_id: PathId, visitor: Admin, db: Db) -> None:
    """Remove a person's access and revoke their keys; what they did stays in the history."""
    visitor.require_confirmed()
    async with db.transaction() as tx:
        await remove_access(tx, person_id)


async def remove_access(tx: Tx, person_id: int) -> None:
    """Conflict if nobody else is an admin."""
    person = await get_active(tx, person_id)
    await persons.require_other_admin(tx, person_id)
    await persons.deactivate(tx, person.email)


async def get_active(tx: Tx, id: int) -> Person:
    """The person; Conflict if their access was removed."""
    person = await persons.get(tx, id)
    if person.ended_at:
        raise Conflict(say("This person's access was removed. Add them again to restore it."))
    return person


@router.get("/keys", response_model=KeyList)
async def list_keys(caller: AdminCaller) -> Response:
    """All API keys, including revoked and expired ones."""
    async with caller.db.transaction() as tx:
        return caller.respond(KeyList.of(items=await keys.find_all(tx)))


@router.post("/keys", response_model=CreatedKey, status_code=201, responses=problems(404))
async def create_key(body: NewKey, caller: AdminCaller) -> Response:
    """Create an API key. The response shows it once."""
    caller.visitor.require_confirmed()
    lifetime = None if body.days is None else dt.timedelta(days=body.days)
    return await caller.run_once(
        lambda tx: keys.add(tx, body.name, body.scope, owner_id=body.owner_id, lifetime=lifetime),
        to_schema=CreatedKey.of,
        status=201,
        secret="key",
    )


@router.delete("/keys/{key_id}", status_code=204)
async def revoke_key(key_id: PathId, visitor: Admin, db: Db) -> None:
    """Revoke an API key for good."""
    async with db.transaction() as tx:
        await keys.revoke(tx, key_id)
