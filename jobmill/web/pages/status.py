"""/: what the queue does now."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from itertools import groupby

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.queue import inspect
from jobmill.queue.inspect import Overview, Processor
from jobmill.web.shell import Page
from jobmill.web.view import Db

router = APIRouter()


@router.api_route("/", methods=["GET", "HEAD"])
async def show(db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        overview = await inspect.overview(tx)
    return page(
        "status/page.html",
        topics=["queue"],
        verdict=verdict(overview),
        overview=overview,
        runs=inspect.count_runs(overview.tallies),
        crews=crews(overview.processors),
        now=dt.datetime.now(dt.UTC),
    )


def verdict(overview: Overview) -> tuple[str, str]:
    """How things are, in a word for the eye and a sentence for the reader."""
    silent = sum(not worker.alive for worker in overview.workers)
    waiting = sum(phase.pending for phase in overview.phases)
    if overview.alerts:
        return "bad", _count(len(overview.alerts), "alert stands", "alerts stand")
    if silent:
        return "bad", _count(silent, "worker is silent", "workers are silent")
    if not overview.workers:
        return "calm", "No worker runs, so nothing is worked on."
    if any(phase.processing for phase in overview.phases):
        return "good", "Work is going on."
    if waiting:
        return "calm", _count(waiting, "item waits to be run", "items wait to be run")
    return "good", "All is well; there is nothing to do."


def _count(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}."


def crews(processors: Sequence[Processor]) -> list[tuple[str, list[Processor]]]:
    """The processors of each phase, whichever worker they belong to."""
    ordered = sorted(processors, key=lambda one: (one.kind, one.stage, one.worker, one.number))
    groups = groupby(ordered, key=lambda one: f"{one.kind}/{one.stage}")
    return [(phase, list(group)) for phase, group in groups]
