"""The page of one source: what it is, how it fares, and what is asked or told above it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi.responses import HTMLResponse

from jobmill.boards.adapters import BY_NAME
from jobmill.catalog import history, source_list, sources
from jobmill.catalog.sources import Incident, Source, SourceRun
from jobmill.db import Tx
from jobmill.errors import AppError
from jobmill.pipelines import preview
from jobmill.pipelines import source as running
from jobmill.queue.inspect import Item
from jobmill.web import html_errors, job_view, task_progress
from jobmill.web.charts import Sparkline
from jobmill.web.confirmation import Confirmation
from jobmill.web.dependencies import RequestDatabase
from jobmill.web.pages.sources import labels
from jobmill.web.shell import PageRenderer
from jobmill.web.task_progress import TaskProgress

TOLD = 20
"""So many of the last events."""


@dataclass(frozen=True, slots=True)
class Story:
    source: Source
    incident: Incident | None
    runs: list[SourceRun]
    events: list[history.CatalogEvent]
    watched: TaskProgress | None

    @property
    def counts(self) -> list[int]:
        """How many postings there were after each run."""
        return source_list.posting_counts(
            source_list.RunOutcome(self.source.id, one.outcome, one.seen) for one in self.runs[::-1]
        )

    @property
    def found(self) -> Mapping[str, Any] | None:
        """What a test showed, if one was asked for."""
        item = self.watched and self.watched.item
        return item.data.get("found") if item and item.kind == preview.KIND else None


async def show(
    db: RequestDatabase,
    page: PageRenderer,
    id: int,
    *,
    item: int | None = None,
    did: str | None = None,
    confirmation: Confirmation | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    """The whole page, whatever is asked or went wrong."""
    async with db.transaction() as tx:
        story = await _story(tx, id, item)
    source, counts = story.source, story.counts
    platform = BY_NAME.get(source.source_type)
    return page(
        "sources/source.html",
        html_errors.status_code(error) if error else 200,
        topics=["sources", "queue"],
        story=story,
        source=source,
        platform=platform.title if platform else source.source_type,
        health=labels.source_health(source),
        via=labels.via(source.discovered_via),
        proof=labels.proof(source),
        setup=labels.setup(source.config),
        url=_link(source.url),
        line=Sparkline.of(counts),
        outcomes=labels.outcome,
        cause=labels.cause,
        events=[(one.at, labels.describe_event(one)) for one in story.events[::-1]],
        web_url=job_view.web_url,
        progress=story.watched,
        current_url=f"/sources/{id}" + (f"?item={item}" if item else ""),
        did=did,
        confirmation=confirmation,
        error=str(error) if error else None,
    )


def _link(url: str | None) -> str | None:
    """Where it leads, unless that would tell a secret."""
    return job_view.web_url(url) if url and labels.mask(url) == url else None


async def _story(tx: Tx, id: int, item: int | None) -> Story:
    source = await sources.get(tx, id)

    def fits(one: Item) -> bool:
        return one.kind in (preview.KIND, running.KIND) and one.data.get("source") == id

    return Story(
        source,
        await sources.find_incident(tx, source.source_type),
        await sources.find_runs(tx, id, limit=source_list.MAX_RECENT_RUNS),
        await history.find_events(tx, "source", id, limit=TOLD),
        await task_progress.read_progress(tx, item, fits) if item else None,
    )
