"""Pages of lists. All have the same parameters, `after` and `limit`, and a Link header to the next page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Annotated, Protocol, TypeVar

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from jobmill.hiring.openings.applicant_lists import MAX_PAGE_SIZE
from jobmill.web.api import etags
from jobmill.web.api.schemas import Schema
from jobmill.web.page_query import ShortText
from jobmill.web.parameters import DIGITS_ONLY, MAX_ID

ROWS_PER_READ = 1_000
"""Rows of a streamed list that are in memory at once."""

LIMIT_TEXT = "Maximum number of rows; the Link header leads to the next page."
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE, description=LIMIT_TEXT), DIGITS_ONLY]
OptionalLimit = Annotated[
    int | None,
    Query(ge=1, le=MAX_PAGE_SIZE, description=f"{LIMIT_TEXT} Default: all rows."),
    DIGITS_ONLY,
]
PageLimit = Annotated[int, Query(ge=1, le=1_000, description=LIMIT_TEXT), DIGITS_ONLY]
"""For rows that cost more."""

RowLimit = Annotated[int, Query(ge=1, le=100, description=LIMIT_TEXT), DIGITS_ONLY]

AFTER_TEXT = "From the Link header of the previous page."
AfterId = Annotated[int, Query(ge=0, le=MAX_ID, description=AFTER_TEXT), DIGITS_ONLY]
Words = Annotated[ShortText | None, Query(description="Words to search for.")]
ProfileParameter = Annotated[
    ShortText | None, Query(description="The name of a profile. Default: the default profile.")
]
AfterCursor = Annotated[str | None, Query(max_length=60, description=AFTER_TEXT)]


class PageOfItems(Schema):
    next: int | None
    """The `after` of the next page, as in the Link header; null on the last page."""


class CursorPage(Schema):
    """A page of a list whose rows are not ordered by an id."""

    next: str | None
    """The `after` of the next page, as in the Link header; null on the last page."""


class Row(Protocol):
    @property
    def id(self) -> int: ...


RowT = TypeVar("RowT", bound=Row)


def json_response(
    request: Request,
    schema: BaseModel | Sequence[BaseModel],
    next: str | int | None = None,
    *,
    status: int = 200,
    version: int | None = None,
) -> Response:
    """A JSON response with an ETag, and a Link header if there is a next page; 304 if the client has
    it already. `version`: of a thing that is changed with If-Match."""
    if isinstance(schema, PageOfItems | CursorPage):
        next = schema.next
    is_object = isinstance(schema, BaseModel)
    body = schema.model_dump_json(by_alias=True) if is_object else f"[{_join(schema)}]"
    headers = {} if next is None else {"Link": _link(request, next)}
    headers["ETag"] = etag = etags.make_etag(body, version)
    if etags.is_not_modified(request, etag):
        return Response(None, 304, headers)
    return Response(body, status, headers, "application/json")


async def stream_response(
    read_page: Callable[[int, int], Awaitable[list[RowT]]],
    to_schema: Callable[[RowT], BaseModel],
    after: int,
) -> Response:
    """All rows behind an id as one JSON array; neither memory nor a transaction grows with their number.

    `read_page` gets the id of the last row and the number of rows to read.
    """
    # Read before the response begins: an error still gets a status of its own.
    first = await read_page(after, ROWS_PER_READ)

    async def parts() -> AsyncIterator[str]:
        rows, start = first, "["
        while rows:
            yield start + _join([to_schema(row) for row in rows])
            start = ","
            is_last = len(rows) < ROWS_PER_READ
            rows = [] if is_last else await read_page(rows[-1].id, ROWS_PER_READ)
        yield "]" if first else "[]"

    return StreamingResponse(parts(), media_type="application/json")


def _join(schemas: Sequence[BaseModel]) -> str:
    return ",".join(schema.model_dump_json(by_alias=True) for schema in schemas)


def _link(request: Request, next: str | int) -> str:
    url = request.url.include_query_params(after=next)
    return f'<{url.path}?{url.query}>; rel="next"'
