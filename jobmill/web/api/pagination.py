"""Pages of lists, with a link to the next page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query, Request, Response
from pydantic import BaseModel, BeforeValidator

from jobmill.hiring.openings.applicant_lists import MAX_PAGE_SIZE
from jobmill.web.api.schemas import Schema
from jobmill.web.parameters import MAX_ID, require_digits

Limit = Annotated[
    int,
    Query(
        ge=1,
        le=MAX_PAGE_SIZE,
        description="Maximum number of rows; the Link header leads to the next page.",
    ),
    BeforeValidator(require_digits),
]
AfterId = Annotated[
    int,
    Query(ge=0, le=MAX_ID, description="Only rows after this id."),
    BeforeValidator(require_digits),
]
AfterMark = Annotated[
    str | None, Query(max_length=60, description="From the Link header of the previous page.")
]
PageLimit = Annotated[
    int,
    Query(ge=1, le=1_000, description="Maximum number of rows."),
    BeforeValidator(require_digits),
]
Cursor = Annotated[
    int,
    Query(ge=0, le=MAX_ID, description="`next` of the previous page."),
    BeforeValidator(require_digits),
]


class PageOfItems(Schema):
    next: int | None
    """The `after` of the next page; null on the last page."""


def json_response(
    request: Request, schema: BaseModel | Sequence[BaseModel], next: str | int | None = None
) -> Response:
    """A JSON response with a Link header if there is a next page."""
    if isinstance(schema, BaseModel):
        body = schema.model_dump_json(by_alias=True)
    else:
        body = f"[{','.join(item.model_dump_json(by_alias=True) for item in schema)}]"
    headers = {} if next is None else {"Link": _link(request, next)}
    return Response(body, 200, headers, "application/json")


def _link(request: Request, next: str | int) -> str:
    url = request.url.include_query_params(after=next)
    return f'<{url.path}?{url.query}>; rel="next"'
