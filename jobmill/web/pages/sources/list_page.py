"""/sources: all sources, or those that have problems, are disabled or need approval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import Field

from jobmill.catalog import approvals, source_list
from jobmill.catalog.approvals import Approval, ApprovalRef
from jobmill.catalog.source_list import SourceFilter
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.errors import AppError, NotFound
from jobmill.web import job_view, source_secrets
from jobmill.web.banners import Banners, CurrentBanners
from jobmill.web.charts import SparkBars
from jobmill.web.job_view import format_capped
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.rotation.labels import platform_title
from jobmill.web.pages.sources import labels
from jobmill.web.pages.sources.labels import SourceHealth
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/sources")

PAGE_SIZE = 50
COUNT_LIMIT = 1_000
"""Tabs count up to this many sources."""

Show = Literal["all", "waiting", "troubled", "disabled", "rejected"]
RefText = Annotated[str, Field(pattern=r"^(?:board|source):\d{1,18}$")]


class SourceListQuery(PageQuery):
    show: Show = "all"
    platform: ShortText | None = None
    q: ShortText | None = None
    before: Annotated[int, Field(ge=1, le=MAX_ID)] | None = None
    after: RefText | None = None
    """The last approval of the previous page."""
    did: RefText | None = None
    """The approval that was just decided."""

    @property
    def is_filtered(self) -> bool:
        return bool(self.platform or self.q)


class SourceRow(NamedTuple):
    source: Source
    health: SourceHealth
    job_counts: SparkBars
    runs: int


class SourceTab(NamedTuple):
    show: Show
    name: str
    count_text: str


@dataclass(frozen=True, slots=True)
class SourceListPage:
    """A page of rows, plus one row if there is a next page."""

    tabs: Sequence[SourceTab]
    platforms: Sequence[str]
    rows: Sequence[SourceRow] = ()
    waiting: Sequence[Approval] = ()
    decided: Approval | None = None

    @property
    def next_start(self) -> str | None:
        """The last row of this page, if there is a next page."""
        if len(self.waiting) > PAGE_SIZE:
            return str(self.waiting[PAGE_SIZE - 1].ref)
        return str(self.rows[PAGE_SIZE - 1].source.id) if len(self.rows) > PAGE_SIZE else None


@router.get("")
async def show(
    query: Annotated[SourceListQuery, Query()], page: Page, banners: CurrentBanners
) -> HTMLResponse:
    return await render(page, banners, query)


async def render(
    page: PageRenderer, banners: Banners, query: SourceListQuery, *, error: AppError | None = None
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        content = await _read(tx, query)
        health = await banners.read_health(tx)
    parameter = "after" if query.show == "waiting" else "before"
    current = query.without("did")
    return page(
        "sources/page.html",
        topics=["sources", "companies"] if query.show == "waiting" else ["sources", "queue"],
        query=query,
        content=content,
        # Without a network or a worker no source is read, however well it worked the last time.
        source_conditions=health.of("network", "queue", "schedules", "sources").conditions,
        rows=content.rows[:PAGE_SIZE],
        waiting=content.waiting[:PAGE_SIZE],
        next_url=content.next_start and current.url("/sources", **{parameter: content.next_start}),
        first_url=current.without("before", "after").url("/sources"),
        current_url=current.url("/sources"),
        web_url=job_view.web_url,
        hide_secrets=source_secrets.hide_secrets,
        platform_title=platform_title,
        platform_options=[(name, platform_title(name)) for name in content.platforms],
        error=error,
    )


async def _read(tx: Tx, query: SourceListQuery) -> SourceListPage:
    tabs = await _tabs(tx)
    platforms = await source_list.find_platforms(tx)
    if query.show == "waiting":
        after = approvals.parse_ref(query.after) if query.after else None
        waiting = await approvals.find(tx, after=after, limit=PAGE_SIZE + 1)
        decided = await _find_decided(tx, query.did)
        return SourceListPage(tabs, platforms, waiting=waiting, decided=decided)
    filter = SourceFilter(query.show, query.platform, query.q, query.before, PAGE_SIZE + 1)
    found_sources = await source_list.find(tx, filter)
    runs = await source_list.find_recent_runs(tx, [source.id for source in found_sources])
    rows = [_row(source, runs.get(source.id, ())) for source in found_sources]
    return SourceListPage(tabs, platforms, rows=rows)


def _row(source: Source, runs: Sequence[source_list.RunOutcome]) -> SourceRow:
    counts = source_list.posting_counts(runs)
    return SourceRow(source, labels.source_health(source), SparkBars.of(counts), len(counts))


async def _find_decided(tx: Tx, did: str | None) -> Approval | None:
    """The approval that was just decided, to be shown with a way to change it."""
    if did is None:
        return None
    try:
        approval = await approvals.get(tx, approvals.parse_ref(did))
    except NotFound:
        return None
    return None if approval.state == "waiting" else approval


async def _tabs(tx: Tx) -> list[SourceTab]:
    waiting = await approvals.count_waiting(tx, limit=COUNT_LIMIT)
    counts = await source_list.count_troubled(tx, limit=COUNT_LIMIT)
    return [
        SourceTab("all", say("All"), ""),
        SourceTab("waiting", say("Needs approval"), format_capped(waiting, COUNT_LIMIT)),
        SourceTab("troubled", say("Failing"), format_capped(counts.troubled, COUNT_LIMIT)),
        SourceTab("disabled", say("Disabled"), format_capped(counts.disabled, COUNT_LIMIT)),
        SourceTab("rejected", say("Rejected"), ""),
    ]


def decided_url(ref: ApprovalRef) -> str:
    """The list of approvals, with a notice about this decision."""
    return f"/sources?show=waiting&did={ref}"
