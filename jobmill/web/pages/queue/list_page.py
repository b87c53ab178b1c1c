"""/activity/tasks: all tasks, newest first, with filters."""

from __future__ import annotations

from typing import Annotated, get_args

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import Field, StringConstraints

from jobmill.queue import inspect, search
from jobmill.queue.items import Status
from jobmill.queue.search import ItemFilter
from jobmill.web import private_tasks
from jobmill.web.auth import Admin
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page

router = APIRouter(prefix="/activity")

PAGE_SIZE = 50
SCAN_LIMIT = 100_000
"""Ids that one page searches at most, so that a rare status does not scan the whole table."""

ItemKey = Annotated[
    str, StringConstraints(max_length=2_000, strip_whitespace=True, pattern=r"^[^\x00]*$")
]


class ItemListQuery(PageQuery):
    status: Status | None = None
    kind: ShortText | None = None
    # Not `key`: on every page that parameter is the personal link of an applicant.
    about: ItemKey | None = None
    before: Annotated[int, Field(ge=1, le=MAX_ID)] | None = None

    @property
    def is_filtered(self) -> bool:
        return self.without("before") != ItemListQuery()


@router.get("/tasks")
async def show(
    query: Annotated[ItemListQuery, Query()], visitor: Admin, page: Page
) -> HTMLResponse:
    filter = ItemFilter(query.status, query.kind, query.about)
    async with page.db.transaction() as tx:
        kinds = await inspect.list_kinds(tx)
        result = await search.search_items(
            tx, filter, before=query.before, limit=PAGE_SIZE, reach=SCAN_LIMIT, with_data=False
        )
        items = await private_tasks.redact_items(tx, result.items, visitor)
    return page(
        "queue/items.html",
        query=query,
        statuses=get_args(Status),
        kinds=sorted({*kinds, *([query.kind] if query.kind else [])}),
        items=items,
        is_partial=result.next is not None and len(result.items) < PAGE_SIZE,
        scan_limit=SCAN_LIMIT,
        keep_days=page.site_settings.settings.keep_finished_days,
        next_url=result.next and query.url("/activity/tasks", before=result.next),
        first_url=query.without("before").url("/activity/tasks"),
    )
