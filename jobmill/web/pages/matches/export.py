"""/matches/export.csv and .jsonl: what the list shows, all of it and every copy, as a file."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from jobmill.matching import match_export, profiles
from jobmill.matching.match_export import Form
from jobmill.matching.matches import Match
from jobmill.web.dependencies import Db
from jobmill.web.pages.matches.inbox_query import Inbox

router = APIRouter(prefix="/matches")

KINDS: dict[Form, str] = {"csv": "text/csv", "jsonl": "application/jsonl"}
Wish = Annotated[Inbox, Query()]


@router.get("/export.csv")
async def write_table(asked: Wish, db: Db) -> StreamingResponse:
    return await _write(asked, db, "csv")


@router.get("/export.jsonl")
async def write_lines(asked: Wish, db: Db) -> StreamingResponse:
    return await _write(asked, db, "jsonl")


async def _write(asked: Inbox, db: Db, form: Form) -> StreamingResponse:
    async with db.transaction() as tx:
        version = await profiles.get(tx, asked.profile)
    wanted = asked.without("after").wanted(version.profile_id, match_export.PAGE)
    pages = match_export.read(db.transaction, wanted)
    # Before we promise a file: what fails at once is told as an error.
    first = await anext(pages)
    headers = {"Content-Disposition": f'attachment; filename="matches.{form}"'}
    return StreamingResponse(_pieces(first, pages, form), media_type=KINDS[form], headers=headers)


async def _pieces(
    first: list[Match], pages: AsyncGenerator[list[Match]], form: Form
) -> AsyncGenerator[str]:
    yield match_export.head(form)
    yield "".join(match_export.write(one, form) for one in first)
    async for page in pages:
        yield "".join(match_export.write(one, form) for one in page)
