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


async def _rate_tracker(request: Request) -> RateTracker:
    return cast(RateTracker, request.app.state.rates)


Rates = Annotated[RateTracker, Depends(_rate_tracker)]


@dataclass(frozen=True, slots=True)
class PhaseRow:
    phase: PhaseStatus
    per_minute: float | None
    """None until two readings can be compared."""
    pauses: list[Pause]
    """Pauses of this phase and of its kind."""

    @property
    def name(self) -> str:
        return f"{self.phase.kind}/{self.phase.stage}"


@dataclass(frozen=True, slots=True)
class QueuePage:
    overview: Overview
    pauses: list[Pause]
    blocked: list[NamedCount]
    schedules: list[ScheduleStatus]
    read_at: dt.datetime
    """By the clock of the database server, like the times of schedules and workers."""


@router.get("")
async def show(db: Db, page: Page, rates: Rates, did: str = "") -> HTMLResponse:
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
    """The page, with a confirmation or an error above it."""
    async with db.transaction() as tx:
        content = await _read(tx)
    run_rates = rates.add(time.monotonic(), content.overview.run_counters)
    return page(
        "queue/page.html",
        html_errors.status_code(error),
        topics=["queue"],
        content=content,
        overview=content.overview,
        health=describe_health(content.overview),
        rows=phase_rows(content, run_rates),
        rates=run_rates,
        runs=_with_mean(overview.sum_runs(content.overview.run_counters)),
        processor_groups=group_processors(content.overview.processors),
        states={"idle": say("idle"), "busy": say("busy"), "error": say("error")},
        now=content.read_at,
        confirmation=confirmation,
        notice=_notices().get(did),
        error=str(error) if error else None,
    )


async def _read(tx: Tx) -> QueuePage:
    return QueuePage(
        await overview.read_overview(tx),
        await inspect.list_pauses(tx),
        await inspect.count_blocked(tx),
        await inspect.list_schedules(tx),
        await server_time(tx),
    )


def _notices() -> Mapping[str, str]:
    return {
        "paused": say("Paused. Running tasks finish, and no new ones start."),
        "resumed": say("Resumed."),
        "unblocked": say("Unblocked. The tasks run when a processor is free."),
        "cleared": say("Alert cleared. It comes back if the problem does."),
    }


def describe_health(overview: Overview) -> tuple[str, str]:
    """A color and a sentence for the state of the queue."""
    silent = sum(not worker.alive for worker in overview.workers)
    pending = sum(phase.pending for phase in overview.phases)
    if n := len(overview.alerts):
        return "bad", say_many("%(n)s active alert", "%(n)s active alerts", n)
    if silent:
        return "bad", say_many(
            "%(n)s worker is not responding", "%(n)s workers are not responding", silent
        )
    if not overview.workers:
        return "calm", say("No workers are running, so no tasks are processed")
    if n := sum(phase.paused is not None for phase in overview.phases):
        return "calm", say_many("%(n)s step is paused", "%(n)s steps are paused", n)
    if any(phase.processing for phase in overview.phases):
        return "good", say("Processing tasks")
    if pending:
        return "calm", say_many("%(n)s task is waiting", "%(n)s tasks are waiting", pending)
    return "good", say("All tasks are done")


def phase_rows(content: QueuePage, rates: RunRates) -> list[PhaseRow]:
    return [
        PhaseRow(
            phase,
            rates.per_minute.get((phase.kind, phase.stage), 0.0) if rates.seconds else None,
            [
                pause
                for pause in content.pauses
                if pause.kind == phase.kind and pause.stage in ("", phase.stage)
            ],
        )
        for phase in content.overview.phases
    ]


def _with_mean(totals: Sequence[RunTotals]) -> list[tuple[RunTotals, float]]:
    """Each with the mean duration in seconds."""
    return [(total, total.seconds / total.runs if total.runs else 0.0) for total in totals]


def group_processors(
    processors: Sequence[ProcessorStatus],
) -> list[tuple[str, list[ProcessorStatus]]]:
    """The processors of each phase, of all workers."""
    ordered = sorted(processors, key=lambda row: (row.kind, row.stage, row.worker, row.number))
    groups = groupby(ordered, key=lambda row: f"{row.kind}/{row.stage}")
    return [(phase, list(group)) for phase, group in groups]
