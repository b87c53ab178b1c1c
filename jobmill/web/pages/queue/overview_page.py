"""/queue: what the queue does now."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import AppError
from jobmill.queue import inspect, overview
from jobmill.queue.inspect import NamedCount, Pause, PhaseStatus, ProcessorStatus, ScheduleStatus
from jobmill.queue.overview import Overview, RateTracker, RunRates, RunTotals
from jobmill.web import html_errors
from jobmill.web.confirmation import Confirmation
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/queue")


async def _rates(request: Request) -> RateTracker:
    return cast(RateTracker, request.app.state.rates)


Speed = Annotated[RateTracker, Depends(_rates)]


@dataclass(frozen=True, slots=True)
class Line:
    """A phase in the table."""

    phase: PhaseStatus
    per_minute: float | None
    """None while there is nothing to compare."""
    pauses: list[Pause]
    """Of itself, of its whole kind, or both."""

    @property
    def name(self) -> str:
        return f"{self.phase.kind}/{self.phase.stage}"

    @property
    def is_paused(self) -> bool:
        """Whether it is paused by itself."""
        return any(pause.stage for pause in self.pauses)


@dataclass(frozen=True, slots=True)
class Glance:
    seen: Overview
    pauses: list[Pause]
    blocks: list[NamedCount]
    schedules: list[ScheduleStatus]
    read_at: dt.datetime
    """By the server's clock, as are the times of schedules and workers."""


@router.get("")
async def show(db: Db, page: Page, rates: Speed, did: str = "") -> HTMLResponse:
    return await render(db, page, rates, did=did)


async def render(
    db: RequestDatabase,
    page: PageRenderer,
    rates: RateTracker,
    *,
    did: str = "",
    confirmation: Confirmation | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    """The whole page, whatever is asked or went wrong."""
    async with db.transaction() as tx:
        glance = await _read(tx)
    pace = rates.add(time.monotonic(), glance.seen.run_counters)
    return page(
        "queue/page.html",
        html_errors.status_code(error) if error else 200,
        topics=["queue"],
        glance=glance,
        seen=glance.seen,
        verdict=verdict(glance.seen),
        lines=lines(glance, pace),
        pace=pace,
        runs=_mean(overview.sum_runs(glance.seen.run_counters)),
        crews=crews(glance.seen.processors),
        states={"idle": say("idle"), "busy": say("busy"), "error": say("error")},
        now=glance.read_at,
        confirmation=confirmation,
        told=done().get(did),
        error=str(error) if error else None,
    )


async def _read(tx: Tx) -> Glance:
    return Glance(
        await overview.read_overview(tx),
        await inspect.list_pauses(tx),
        await inspect.count_blocked(tx),
        await inspect.list_schedules(tx),
        await server_time(tx),
    )


def done() -> Mapping[str, str]:
    """What was just done, by the word in the address."""
    return {
        "paused": say("It is paused: what runs goes on, and nothing more is started."),
        "resumed": say("It goes on."),
        "unblocked": say("What was blocked may go on."),
        "cleared": say("The alert is cleared. It comes back if its cause does."),
    }


def verdict(seen: Overview) -> tuple[str, str]:
    """How things are, in a word for the eye and a sentence for the reader."""
    silent = sum(not worker.alive for worker in seen.workers)
    waiting = sum(phase.pending for phase in seen.phases)
    if n := len(seen.alerts):
        return "bad", say_many("%(n)s alert stands.", "%(n)s alerts stand.", n)
    if silent:
        return "bad", say_many("%(n)s worker is silent.", "%(n)s workers are silent.", silent)
    if not seen.workers:
        return "calm", say("No worker runs, so nothing is worked on.")
    if n := sum(phase.paused is not None for phase in seen.phases):
        return "calm", say_many("%(n)s phase is paused.", "%(n)s phases are paused.", n)
    if any(phase.processing for phase in seen.phases):
        return "good", say("Work is going on.")
    if waiting:
        words = ("%(n)s item waits to be run.", "%(n)s items wait to be run.")
        return "calm", say_many(*words, waiting)
    return "good", say("All is well; there is nothing to do.")


def lines(glance: Glance, pace: RunRates) -> list[Line]:
    return [
        Line(
            phase,
            pace.per_minute.get((phase.kind, phase.stage), 0.0) if pace.seconds else None,
            [
                pause
                for pause in glance.pauses
                if pause.kind == phase.kind and pause.stage in ("", phase.stage)
            ],
        )
        for phase in glance.seen.phases
    ]


def _mean(runs: Sequence[RunTotals]) -> list[tuple[RunTotals, float]]:
    """With how many seconds one takes."""
    return [(one, one.seconds / one.runs if one.runs else 0.0) for one in runs]


def crews(processors: Sequence[ProcessorStatus]) -> list[tuple[str, list[ProcessorStatus]]]:
    """The processors of each phase, whichever worker they belong to."""
    ordered = sorted(processors, key=lambda one: (one.kind, one.stage, one.worker, one.number))
    groups = groupby(ordered, key=lambda one: f"{one.kind}/{one.stage}")
    return [(phase, list(group)) for phase, group in groups]
