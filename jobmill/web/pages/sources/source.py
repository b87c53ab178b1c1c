"""The page of one source: what it is, how it fares, and what is asked or told above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from jobmill.web import faults, progress, seeking
from jobmill.web.charts import Line
from jobmill.web.pages.sources import words
from jobmill.web.progress import Progress
from jobmill.web.shell import Pages
from jobmill.web.view import Door

TOLD = 20
"""So many of the last events."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Something to be sure of before it is done."""

    change: str
    title: str
    button: str
    sentences: Sequence[str]
    reason: str = ""
    """What was typed."""


@dataclass(frozen=True, slots=True)
class Story:
    source: Source
    incident: Incident | None
    runs: list[SourceRun]
    events: list[history.CatalogEvent]
    watched: Progress | None

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
    db: Door,
    page: Pages,
    id: int,
    *,
    item: int | None = None,
    did: str | None = None,
    ask: Ask | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    """The whole page, whatever is asked or went wrong."""
    async with db.transaction() as tx:
        story = await _story(tx, id, item)
    source, counts = story.source, story.counts
    platform = BY_NAME.get(source.source_type)
    return page(
        "sources/source.html",
        faults.status(error) if error else 200,
        topics=["sources", "queue"],
        story=story,
        source=source,
        platform=platform.title if platform else source.source_type,
        health=words.health(source),
        via=words.via(source.discovered_via),
        proof=words.proof(source),
        setup=words.setup(source.config),
        url=_link(source.url),
        line=Line.of(counts),
        outcomes=words.outcome,
        cause=words.cause,
        events=[(one.at, words.told(one)) for one in story.events[::-1]],
        web_url=seeking.web_url,
        progress=story.watched,
        here=f"/sources/{id}" + (f"?item={item}" if item else ""),
        did=did,
        ask=ask,
        error=str(error) if error else None,
    )


def _link(url: str | None) -> str | None:
    """Where it leads, unless that would tell a secret."""
    return seeking.web_url(url) if url and words.mask(url) == url else None


async def _story(tx: Tx, id: int, item: int | None) -> Story:
    source = await sources.get(tx, id)

    def fits(one: Item) -> bool:
        return one.kind in (preview.KIND, running.KIND) and one.data.get("source") == id

    return Story(
        source,
        await sources.find_incident(tx, source.source_type),
        await sources.find_runs(tx, id, limit=source_list.MAX_RECENT_RUNS),
        await history.find_events(tx, "source", id, limit=TOLD),
        await progress.read(tx, item, fits) if item else None,
    )
