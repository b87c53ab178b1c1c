"""/sources/{source_id}: one source, its health, runs, settings and history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from jobmill.boards.adapters import BY_NAME
from jobmill.catalog import history, source_list, sources
from jobmill.catalog.sources import Incident, Source, SourceRun
from jobmill.db import Tx
from jobmill.errors import AppError
from jobmill.pipelines import preview
from jobmill.pipelines import source as source_pipeline
from jobmill.queue.inspect import Item
from jobmill.web import actor_labels, job_view, source_secrets, task_progress
from jobmill.web.charts import SparkBars
from jobmill.web.confirmation import Confirmation
from jobmill.web.pages.sources import labels
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.task_progress import TaskProgress
from jobmill.web.translations import say

router = APIRouter(prefix="/sources/{source_id}")

MAX_EVENTS = 20
WatchedItem = Annotated[int | None, Query(ge=1, le=MAX_ID)]
Done = Annotated[Literal["enabled", "disabled", "rejected"] | None, Query()]


@dataclass(frozen=True, slots=True)
class SourceDetail:
    source: Source
    incident: Incident | None
    runs: list[SourceRun]
    events: list[history.CatalogEvent]
    progress: TaskProgress | None

    @property
    def job_counts(self) -> list[int]:
        """The number of jobs after each run."""
        return source_list.posting_counts(
            source_list.RunOutcome(self.source.id, run.outcome, run.seen) for run in self.runs[::-1]
        )

    @property
    def test_result(self) -> Mapping[str, Any] | None:
        """The result of the test that the page follows."""
        item = self.progress and self.progress.item
        return item.data.get("found") if item and item.kind == preview.KIND else None


@router.get("")
async def show(
    source_id: PathId, page: Page, item: WatchedItem = None, did: Done = None
) -> HTMLResponse:
    return await render(page, source_id, item=item, did=did)


async def render(
    page: PageRenderer,
    id: int,
    *,
    item: int | None = None,
    did: str | None = None,
    confirmation: Confirmation | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    """The page, with a confirmation or an error above it."""
    async with page.db.transaction() as tx:
        detail = await _read(tx, id, item)
        events = await actor_labels.name_actors(tx, detail.events, page.visitor)
    source = detail.source
    platform = BY_NAME.get(source.source_type)
    return page(
        "sources/source.html",
        topics=["sources", "queue"],
        detail=detail,
        source=source,
        platform=platform.title if platform else source.source_type,
        source_health=labels.source_health(source),
        discovery=labels.describe_discovery(source.discovered_via),
        check=labels.describe_check(source),
        config=labels.describe_config(source.config),
        url=_public_url(source.url),
        job_counts=SparkBars.of(detail.job_counts),
        describe_outcome=labels.describe_outcome,
        describe_cause=labels.describe_cause,
        events=[(event.at, labels.describe_event(event)) for event in events[::-1]],
        web_url=job_view.web_url,
        progress=detail.progress,
        current_url=f"/sources/{id}" + (f"?item={item}" if item else ""),
        notice=_notices().get(did or ""),
        confirmation=confirmation,
        error=error,
    )


def _notices() -> Mapping[str, str]:
    return {
        "enabled": say("Source enabled."),
        "disabled": say("Source disabled. It does not run until someone enables it."),
        "rejected": say("Source rejected. It will not be suggested again."),
    }


def _public_url(url: str | None) -> str | None:
    """The URL if it contains no secret."""
    return job_view.web_url(url) if url and source_secrets.hide_secrets(url) == url else None


async def _read(tx: Tx, id: int, item: int | None) -> SourceDetail:
    source = await sources.get(tx, id)
    kinds = (preview.KIND, source_pipeline.KIND)

    def is_about_source(candidate: Item) -> bool:
        return candidate.kind in kinds and candidate.data.get("source") == id

    return SourceDetail(
        source,
        await sources.find_incident(tx, source.source_type),
        await sources.find_runs(tx, id, limit=source_list.MAX_RECENT_RUNS),
        await history.find_events(tx, "source", id, limit=MAX_EVENTS),
        await task_progress.read_progress(tx, item, is_about_source) if item else None,
    )
