"""Lists: no longer than asked for, with a way to what follows."""

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
        ge=1, le=MAX_PAGE_SIZE, description="Rows at most; the Link header leads to the next ones."
    ),
    BeforeValidator(require_digits),
]
AfterId = Annotated[
    int,
    Query(ge=0, le=MAX_ID, description="Only what comes after this id."),
    BeforeValidator(require_digits),
]
AfterMark = Annotated[
    str | None, Query(max_length=60, description="As the Link header of the page before has it.")
]
PageLimit = Annotated[
    int, Query(ge=1, le=1_000, description="Rows at most."), BeforeValidator(require_digits)
]
Cursor = Annotated[
    int,
    Query(ge=0, le=MAX_ID, description="`next` of the page before."),
    BeforeValidator(require_digits),
]


class PageOfItems(Schema):
    next: int | None
    """What to send as `after` for the following page; null: there is none."""


def json_response(
    request: Request, shape: BaseModel | Sequence[BaseModel], next: str | int | None = None
) -> Response:
    """The shape, or a list of them, and the address of what follows."""
    if isinstance(shape, BaseModel):
        body = shape.model_dump_json(by_alias=True)
    else:
        body = f"[{','.join(one.model_dump_json(by_alias=True) for one in shape)}]"
    headers = {} if next is None else {"Link": _link(request, next)}
    return Response(body, 200, headers, "application/json")


def _link(request: Request, next: str | int) -> str:
    url = request.url.include_query_params(after=next)
    return f'<{url.path}?{url.query}>; rel="next"'
