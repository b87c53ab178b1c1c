"""/api/sources: where jobs are read from; add, enable, disable, reject, run and test them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import BeforeValidator, Field

from jobmill.catalog import history, source_list, sources
from jobmill.catalog.companies import Confidence
from jobmill.catalog.source_list import Show, SourceFilter
from jobmill.catalog.sources import DiscoveredVia, SourceStatus
from jobmill.db import Tx
from jobmill.pipelines import discovery, preview
from jobmill.pipelines import source as source_pipeline
from jobmill.queue import NewItem
from jobmill.web import actor_labels, source_secrets, task_progress
from jobmill.web.api.callers import AdminCaller, ApiCaller
from jobmill.web.api.history_events import HistoryEvent
from jobmill.web.api.pagination import AfterId, PageOfItems, RowLimit, Words
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.page_query import ShortText
from jobmill.web.parameters import PLAIN_TEXT, OutputTime, PathId

router = APIRouter(prefix="/sources", tags=["sources"])

MAX_EVENTS = 100
Reason = Annotated[str, Field(max_length=500), PLAIN_TEXT]


class SourceItem(Schema):
    id: Annotated[int, Field(examples=[1])]
    name: Annotated[str, Field(examples=["Wells & Co"])]
    platform: Annotated[str, Field(validation_alias="source_type", examples=["greenhouse"])]
    url: Annotated[
        str | None, BeforeValidator(lambda url: url and source_secrets.hide_secrets(url))
    ]
    status: SourceStatus
    enabled: bool
    company_id: int | None
    company_name: str | None
    open_listings: int
    consecutive_failures: int
    last_scraped_at: OutputTime | None
    last_scraped_status: str | None
    last_cause: str | None
    """Why the last run failed."""
    last_detail: str | None
    disabled_reason: str | None
    retry_at: OutputTime | None


class SourceList(PageOfItems):
    items: list[SourceItem]


class SourceRunItem(Schema):
    id: Annotated[int, Field(examples=[1])]
    started_at: OutputTime
    ended_at: OutputTime
    outcome: str
    cause: str | None
    detail: str | None
    calls: int
    seen: int
    added: int
    changed: int
    closed: int
    reopened: int
    duplicates: int


class IncidentItem(Schema):
    """A failure of the whole platform, during which its sources are held."""

    cause: Annotated[str, Field(examples=["blocked"])]
    detail: str
    since: OutputTime
    held_until: OutputTime


class SourceRecord(SourceItem):
    config: dict[str, Any]
    """With `•••` in place of secrets."""
    discovered_via: DiscoveredVia
    discovered_at: OutputTime
    discovery_confidence: Confidence | None
    evidence: str | None
    tested_at: OutputTime | None
    held_until: OutputTime | None
    incident: IncidentItem | None = None
    runs: list[SourceRunItem] = Field(default_factory=list[SourceRunItem])
    """The newest."""


class SourceHistory(Schema):
    events: list[HistoryEvent]


class NewSourceBody(RequestBody):
    url: Annotated[
        str,
        Field(min_length=1, max_length=2_000, examples=["https://boards.greenhouse.io/wells"]),
        PLAIN_TEXT,
    ]
    """Of a job board, a feed or a careers page."""
    company: Annotated[str, Field(max_length=300), PLAIN_TEXT] | None = None
    enable: bool = False
    """Enable it as soon as a test succeeds, without approval."""


class TaskAnswer(Schema):
    task_id: Annotated[int, Field(examples=[1])]
    """Follow it with GET /api/tasks/{item_id}."""


class SourceReasonBody(RequestBody):
    reason: Annotated[Reason, Field(examples=["not wanted"])] = ""


@router.get("", response_model=SourceList)
async def list_sources(
    caller: AdminCaller,
    show: Show = "all",
    platform: ShortText | None = None,
    q: Words = None,
    after: AfterId = 0,
    limit: RowLimit = 50,
) -> Response:
    """Sources, newest first. `show=troubled`: only those with a failed last run."""
    filter = SourceFilter(show, platform or None, q or None, after or None, limit + 1)
    async with caller.db.transaction() as tx:
        rows = await source_list.find(tx, filter)
    return caller.respond_page(SourceList, rows, limit)


@router.post("", response_model=TaskAnswer, status_code=201)
async def create_source(body: NewSourceBody, caller: AdminCaller) -> Response:
    """Have a URL recognized, tested and added as a source by a worker."""
    url = body.url.strip()
    config: dict[str, Any] = {
        "url": url if "://" in url else f"https://{url}",
        "company_name": body.company or None,
    }
    new = discovery.new_item(
        discovery.parse_config(config),
        via="user_submission",
        approved=body.enable,
        by=caller.actor.name,
    )

    async def work(tx: Tx) -> TaskAnswer:
        return TaskAnswer(task_id=await task_progress.submit_or_join(tx, new))

    return await caller.run_once(work, status=201)


@router.get("/{source_id}", response_model=SourceRecord)
async def show_source(source_id: PathId, caller: AdminCaller) -> Response:
    """A source with its configuration and its newest runs."""
    async with caller.db.transaction() as tx:
        return caller.respond(await _read(tx, source_id))


async def _read(tx: Tx, id: int) -> SourceRecord:
    source = await sources.get(tx, id)
    return SourceRecord.of(
        source,
        config=source_secrets.redact_config("", source.config),
        incident=await sources.find_incident(tx, source.source_type),
        runs=await sources.find_runs(tx, id, limit=source_list.MAX_RECENT_RUNS),
    )


@router.get("/{source_id}/history", response_model=SourceHistory)
async def list_source_history(source_id: PathId, caller: AdminCaller) -> Response:
    """What people and Jobmill did with a source, oldest first."""
    async with caller.db.transaction() as tx:
        await sources.get(tx, source_id)
        events = await history.find_events(tx, "source", source_id, limit=MAX_EVENTS)
        events = await actor_labels.name_actors(tx, events, caller.visitor)
    return caller.respond(SourceHistory.of(events=events))


@router.post("/{source_id}/enable", response_model=SourceRecord)
async def enable_source(source_id: PathId, caller: AdminCaller) -> Response:
    """Read a source regularly."""
    return await _change(caller, source_id, sources.enable)


@router.post("/{source_id}/disable", response_model=SourceRecord)
async def disable_source(
    source_id: PathId, body: SourceReasonBody, caller: AdminCaller
) -> Response:
    """Do not read a source until it is enabled; its jobs stay."""

    return await _change(caller, source_id, sources.disable, body.reason.strip() or "by hand")


@router.post("/{source_id}/reject", response_model=SourceRecord)
async def reject_source(source_id: PathId, body: SourceReasonBody, caller: AdminCaller) -> Response:
    """Disable a source and do not suggest it again."""

    return await _change(caller, source_id, sources.reject, body.reason.strip() or "not wanted")


@router.post("/{source_id}/run", response_model=TaskAnswer)
async def run_source(source_id: PathId, caller: AdminCaller) -> Response:
    """Read a source now."""
    return await _submit(caller, source_id, source_pipeline.new_item(source_id))


@router.post("/{source_id}/test", response_model=TaskAnswer)
async def test_source(source_id: PathId, caller: AdminCaller) -> Response:
    """Read the first page of a source without storing its jobs."""
    return await _submit(caller, source_id, preview.new_item(source_id))


async def _change(
    caller: ApiCaller, source_id: int, change: Callable[..., Awaitable[object]], *values: object
) -> Response:
    async def work(tx: Tx) -> SourceRecord:
        await change(tx, source_id, *values, actor=caller.actor.name)
        return await _read(tx, source_id)

    return await caller.run_once(work)


async def _submit(caller: ApiCaller, id: int, new: NewItem) -> Response:
    async def work(tx: Tx) -> TaskAnswer:
        return TaskAnswer(task_id=await task_progress.submit_for_source(tx, id, new))

    return await caller.run_once(work)
