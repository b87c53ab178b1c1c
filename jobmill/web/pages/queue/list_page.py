"""/queue/items: every item, newest first, by what it is like."""

from __future__ import annotations

from typing import Annotated, get_args

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import Field, StringConstraints

from jobmill.queue import inspect, search
from jobmill.queue.items import Status
from jobmill.queue.search import ItemFilter
from jobmill.web.dependencies import Db
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page

router = APIRouter(prefix="/queue")

AT_ONCE = 50
REACH = 100_000
"""Numbers that one page looks through at most: what is rare must not make it wait for all of them."""


Key = Annotated[
    str, StringConstraints(max_length=2_000, strip_whitespace=True, pattern=r"^[^\x00]*$")
]


class Wanted(PageQuery):
    status: Status | None = None
    kind: ShortText | None = None
    # Not `key`: that is an applicant's link, whatever the page.
    about: Key | None = None
    before: Annotated[int, Field(ge=1, le=MAX_ID)] | None = None

    @property
    def is_narrow(self) -> bool:
        return self.without("before") != Wanted()


@router.get("/items")
async def show(asked: Annotated[Wanted, Query()], db: Db, page: Page) -> HTMLResponse:
    sought = ItemFilter(asked.status, asked.kind, asked.about)
    async with db.transaction() as tx:
        kinds = await inspect.list_kinds(tx)
        found = await search.search_items(
            tx, sought, before=asked.before, limit=AT_ONCE, reach=REACH, with_data=False
        )
    return page(
        "queue/items.html",
        asked=asked,
        statuses=get_args(Status),
        kinds=sorted({*kinds, *([asked.kind] if asked.kind else [])}),
        items=found.items,
        short=found.next is not None and len(found.items) < AT_ONCE,
        reach=REACH,
        more=found.next and asked.url("/queue/items", before=found.next),
        first=asked.without("before").url("/queue/items"),
    )
