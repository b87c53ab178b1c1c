"""/matches/export.csv and .jsonl: all matches of a list, with every duplicate, as a file."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from jobmill.matching import match_export, profiles
from jobmill.matching.match_export import Form
from jobmill.matching.matches import Match
from jobmill.web.auth import Seeker, Visitor
from jobmill.web.dependencies import Db
from jobmill.web.pages.matches.inbox_query import InboxQuery

router = APIRouter(prefix="/matches")

MEDIA_TYPES: dict[Form, str] = {"csv": "text/csv", "jsonl": "application/jsonl"}
ExportQuery = Annotated[InboxQuery, Query()]


@router.get("/export.csv")
async def export_csv(query: ExportQuery, visitor: Seeker, db: Db) -> StreamingResponse:
    return await _export(query, visitor, db, "csv")


@router.get("/export.jsonl")
async def export_jsonl(query: ExportQuery, visitor: Seeker, db: Db) -> StreamingResponse:
    return await _export(query, visitor, db, "jsonl")


async def _export(query: InboxQuery, visitor: Visitor, db: Db, form: Form) -> StreamingResponse:
    async with db.transaction() as tx:
        version = await profiles.get(tx, query.profile, owner=visitor.owner)
    filter = query.without("after").to_filter(version.profile_id, match_export.PAGE_SIZE)
    pages = match_export.read_pages(db.transaction, filter)
    # Read the first page before the response starts, so that an early failure is an error page.
    first = await anext(pages)
    headers = {"Content-Disposition": f'attachment; filename="matches.{form}"'}
    content = _write(first, pages, form)
    return StreamingResponse(content, media_type=MEDIA_TYPES[form], headers=headers)


async def _write(
    first: list[Match], pages: AsyncGenerator[list[Match]], form: Form
) -> AsyncGenerator[str]:
    yield match_export.header(form)
    yield "".join(match_export.write_match(match, form) for match in first)
    async for page in pages:
        yield "".join(match_export.write_match(match, form) for match in page)
