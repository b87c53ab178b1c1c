"""/activity: whether the work gets done, and what the queue does now."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, NamedTuple, cast

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import AppError
from jobmill.notifications import deliveries
from jobmill.notifications import events as notification_events
from jobmill.notifications.deliveries import StateCount
from jobmill.notifications.events import KindCount
from jobmill.queue import inspect, overview
from jobmill.queue.inspect import NamedCount, Pause, PhaseStatus, ProcessorStatus, ScheduleStatus
from jobmill.queue.overview import Overview, RateTracker, RunRates, RunTotals
from jobmill.web import notification_labels
from jobmill.web.banners import Banners, CurrentBanners
from jobmill.web.confirmation import Confirmation
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/activity")


class PageTrackers(NamedTuple):
    """What the process remembers between two readings."""

    rates: RateTracker
    banners: Banners


async def _trackers(request: Request, banners: CurrentBanners) -> PageTrackers:
    return PageTrackers(cast(RateTracker, request.app.state.rates), banners)


Trackers = Annotated[PageTrackers, Depends(_trackers)]


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


class WorkCounts(NamedTuple):
    """Tasks of all steps."""

    processing: int
    pending: int
    later: int


@dataclass(frozen=True, slots=True)
class QueuePage:
    overview: Overview
    pauses: list[Pause]
    blocked: list[NamedCount]
    schedules: list[ScheduleStatus]
    notified: list[KindCount]
    deliveries: list[StateCount]
    read_at: dt.datetime
    """By the clock of the database server, like the times of schedules and workers."""


@router.get("")
async def show(page: Page, trackers: Trackers) -> HTMLResponse:
    return await render(page, trackers)


async def render(
    page: PageRenderer,
    trackers: PageTrackers,
    *,
    confirmation: Confirmation | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    """The page, with a confirmation or an error above it."""
    async with page.db.transaction() as tx:
        content = await _read(tx)
        health = await trackers.banners.read_health(tx)
    run_rates = trackers.rates.add(time.monotonic(), content.overview.run_counters)
    return page(
        "queue/page.html",
        topics=["queue"],
        content=content,
        overview=content.overview,
        # The page lists all alerts, also those about sources.
        health=health.of("queue", "schedules", "network", code="alert"),
        work=_sum_work(content.overview.phases),
        rows=phase_rows(content, run_rates),
        rates=run_rates,
        runs=_with_mean(overview.sum_runs(content.overview.run_counters)),
        processor_groups=group_processors(content.overview.processors),
        kind_labels=notification_labels.kind_labels(),
        channel_labels=notification_labels.channel_labels(),
        delivery_states=notification_labels.state_labels(),
        states={"idle": say("idle"), "busy": say("busy"), "error": say("error")},
        now=content.read_at,
        confirmation=confirmation,
        notice=_notices().get(page.did),
        error=error,
    )


async def _read(tx: Tx) -> QueuePage:
    return QueuePage(
        await overview.read_overview(tx),
        await inspect.list_pauses(tx),
        await inspect.count_blocked(tx),
        await inspect.list_schedules(tx),
        await notification_events.count_by_kind(tx),
        await deliveries.count_by_state(tx),
        await server_time(tx),
    )


def _notices() -> Mapping[str, str]:
    return {
        "paused": say("Paused. Running tasks finish, and no new ones start."),
        "resumed": say("Resumed."),
        "unblocked": say("Unblocked. The tasks run when a processor is free."),
        "cleared": say("Alert cleared. It comes back if the problem does."),
    }


def _sum_work(phases: Sequence[PhaseStatus]) -> WorkCounts:
    return WorkCounts(
        sum(phase.processing for phase in phases),
        sum(phase.pending for phase in phases),
        sum(phase.later for phase in phases),
    )


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
