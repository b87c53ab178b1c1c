"""/sources: all of them, or those that are in trouble, stand still, or wait for a person."""

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
from jobmill.web import html_errors, job_view
from jobmill.web.charts import Sparkline
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.sources import labels
from jobmill.web.pages.sources.labels import Health
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/sources")

AT_ONCE = 50
MANY = 1_000
"""So many are counted for a tab."""

Show = Literal["all", "waiting", "troubled", "disabled", "rejected"]


class Looked(PageQuery):
    show: Show = "all"
    platform: ShortText | None = None
    q: ShortText | None = None
    before: Annotated[int, Field(ge=1, le=MAX_ID)] | None = None
    after: Annotated[str, Field(pattern=r"^(?:board|source):\d{1,18}$")] | None = None
    """Of those that wait, the last one of the page before."""
    did: Annotated[str, Field(pattern=r"^(?:board|source):\d{1,18}$")] | None = None
    """What was just decided about."""

    @property
    def is_narrow(self) -> bool:
        return bool(self.platform or self.q)


class Row(NamedTuple):
    """A source in a list."""

    source: Source
    health: Health
    line: Sparkline
    runs: int


class Tab(NamedTuple):
    show: Show
    name: str
    many: str


@dataclass(frozen=True, slots=True)
class Shown:
    """One page of a list, and one more of it if there are more."""

    tabs: Sequence[Tab]
    platforms: Sequence[str]
    rows: Sequence[Row] = ()
    waiting: Sequence[Approval] = ()
    done: Approval | None = None

    @property
    def more(self) -> str | None:
        """Where the next page begins, by the last one on this."""
        if len(self.waiting) > AT_ONCE:
            return str(self.waiting[AT_ONCE - 1].ref)
        return str(self.rows[AT_ONCE - 1].source.id) if len(self.rows) > AT_ONCE else None


@router.get("")
async def show(asked: Annotated[Looked, Query()], db: Db, page: Page) -> HTMLResponse:
    return await show_list(db, page, asked)


async def show_list(
    db: RequestDatabase, page: PageRenderer, asked: Looked, *, error: AppError | None = None
) -> HTMLResponse:
    """The list, whatever went wrong."""
    async with db.transaction() as tx:
        shown = await _read(tx, asked)
    step = "after" if asked.show == "waiting" else "before"
    here = asked.without("did")
    return page(
        "sources/page.html",
        html_errors.status_code(error) if error else 200,
        topics=["sources", "companies"] if asked.show == "waiting" else ["sources"],
        asked=asked,
        shown=shown,
        rows=shown.rows[:AT_ONCE],
        waiting=shown.waiting[:AT_ONCE],
        more=shown.more and here.url("/sources", **{step: shown.more}),
        first=here.without("before", "after").url("/sources"),
        current_url=here.url("/sources"),
        web_url=job_view.web_url,
        mask=labels.mask,
        error=str(error) if error else None,
    )


async def _read(tx: Tx, asked: Looked) -> Shown:
    tabs = await _tabs(tx)
    names = await source_list.find_platforms(tx)
    if asked.show == "waiting":
        after = approvals.parse_ref(asked.after) if asked.after else None
        found = await approvals.find(tx, after=after, limit=AT_ONCE + 1)
        return Shown(tabs, names, waiting=found, done=await _done(tx, asked.did))
    wanted = SourceFilter(asked.show, asked.platform, asked.q, asked.before, AT_ONCE + 1)
    listed = await source_list.find(tx, wanted)
    runs = await source_list.find_recent_runs(tx, [one.id for one in listed])
    return Shown(tabs, names, rows=[_row(one, runs.get(one.id, ())) for one in listed])


def _row(source: Source, runs: Sequence[source_list.RunOutcome]) -> Row:
    counts = source_list.posting_counts(runs)
    return Row(source, labels.source_health(source), Sparkline.of(counts), len(counts))


async def _done(tx: Tx, did: str | None) -> Approval | None:
    """What was just decided, to be said and perhaps taken back."""
    if did is None:
        return None
    try:
        done = await approvals.get(tx, approvals.parse_ref(did))
    except NotFound:
        return None
    return None if done.state == "waiting" else done


async def _tabs(tx: Tx) -> list[Tab]:
    waiting = await approvals.count_waiting(tx, limit=MANY)
    counts = await source_list.count_troubled(tx, limit=MANY)
    return [
        Tab("all", say("All"), ""),
        Tab("waiting", say("Waiting for approval"), _many(waiting)),
        Tab("troubled", say("In trouble"), _many(counts.troubled)),
        Tab("disabled", say("Disabled"), _many(counts.disabled)),
        Tab("rejected", say("Rejected"), ""),
    ]


def _many(count: int) -> str:
    return f"{count:,}{'+' if count >= MANY else ''}"


def back_to(ref: ApprovalRef) -> str:
    """The list of what waits, which says what was decided."""
    return f"/sources?show=waiting&did={ref}"
