"""/api/blocklist: addresses and domains that may not apply."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field

from jobmill.db import Tx
from jobmill.hiring.records import blocklist
from jobmill.web.api.callers import RecruiterCaller, ViewerCaller
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db
from jobmill.web.parameters import PLAIN_TEXT, OutputTime

router = APIRouter(prefix="/blocklist", tags=["blocklist"])


class NewBlocklistEntry(RequestBody):
    address: Annotated[
        str, Field(min_length=3, max_length=300, examples=["@example.org"]), PLAIN_TEXT
    ]
    """An address, or a domain with an @ before it."""
    reason: Annotated[str, Field(min_length=1, max_length=2_000, examples=["Spam"]), PLAIN_TEXT]


class BlocklistEntry(Schema):
    address: Annotated[str, Field(validation_alias="email_key")]
    reason: str
    created_at: OutputTime


class AddedBlocklistEntry(Schema):
    address: Annotated[str, Field(examples=["@example.org"])]
    reason: Annotated[str, Field(examples=["Spam"])]


@router.get("", response_model=list[BlocklistEntry])
async def list_blocked(caller: ViewerCaller) -> Response:
    """Blocked addresses and domains, in alphabetical order."""
    async with caller.db.transaction() as tx:
        return caller.respond(
            [BlocklistEntry.of(entry) for entry in await blocklist.list_blocked(tx)]
        )


@router.post("", response_model=AddedBlocklistEntry, status_code=201)
async def block(body: NewBlocklistEntry, caller: RecruiterCaller) -> Response:
    """Refuse new applications from an address or a domain; current applications stay."""
    address = blocklist.parse_entry(body.address)

    async def work(tx: Tx) -> AddedBlocklistEntry:
        await blocklist.add(tx, address, body.reason)
        return AddedBlocklistEntry(address=address, reason=body.reason)

    return await caller.run_once(work, status=201)


@router.delete("/{address}", status_code=204)
async def unblock(
    address: Annotated[str, Path(max_length=300, examples=["@example.org"]), PLAIN_TEXT],
    visitor: Recruiter,
    db: Db,
) -> None:
    """Accept applications from there again."""
    async with db.transaction() as tx:
        await blocklist.remove(tx, blocklist.parse_entry(address))
