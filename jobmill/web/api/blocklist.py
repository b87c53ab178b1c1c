"""/api/blocklist: who may not apply."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from jobmill.db import Tx
from jobmill.hiring.records import blocklist
from jobmill.web.api.openapi import problems
from jobmill.web.api.pagination import answer
from jobmill.web.api.schemas import PLAIN, Body, Shape, Time
from jobmill.web.idempotency import once
from jobmill.web.rights import Recruiter, Viewer
from jobmill.web.view import Db

router = APIRouter(prefix="/blocklist", tags=["blocklist"])


class NewBlocked(Body):
    address: Annotated[str, Field(min_length=3, max_length=300, examples=["@example.org"]), PLAIN]
    """An address, or a domain with an @ before it."""
    reason: Annotated[str, Field(min_length=1, max_length=2_000, examples=["Spam"]), PLAIN]


class Blocked(Shape):
    address: Annotated[str, Field(validation_alias="email_key")]
    reason: str
    created_at: Time


class KeptBlocked(Shape):
    address: Annotated[str, Field(examples=["@example.org"])]
    reason: Annotated[str, Field(examples=["Spam"])]


@router.get("", response_model=list[Blocked])
async def list_blocked(request: Request, visitor: Viewer, db: Db) -> Response:
    """Addresses and domains, by name."""
    async with db.transaction() as tx:
        return answer(request, [Blocked.of(one) for one in await blocklist.find(tx)])


@router.post("", response_model=KeptBlocked, status_code=201)
async def block(body: NewBlocked, request: Request, visitor: Recruiter, db: Db) -> Response:
    """Take no more applications from there; those who are in stay."""
    address = blocklist.entry(body.address)

    async def work(tx: Tx) -> KeptBlocked:
        await blocklist.add(tx, address, body.reason)
        return KeptBlocked(address=address, reason=body.reason)

    return await once(request, visitor, db, work, shape=KeptBlocked.of, status=201)


@router.delete("/{address}", status_code=204, responses=problems(404))
async def unblock(
    address: Annotated[str, Path(max_length=300, examples=["@example.org"]), PLAIN],
    visitor: Recruiter,
    db: Db,
) -> None:
    """Take them again."""
    async with db.transaction() as tx:
        await blocklist.remove(tx, blocklist.entry(address))
