"""Log lines about the whole queue: statistics of its phases, and the health of its workers."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from jobmill.db import Tx
from jobmill.queue import alerts, inspect, ticks

log = logging.getLogger(__name__)

HEALTH_EVERY = 30.0

LogTask: TypeAlias = Callable[[Tx], Awaitable[None]]


def statistics_task(level: str) -> LogTask:
    """The periodic task that logs how many items wait, run and are blocked, in all and for each busy phase."""
    number = logging.getLevelNamesMapping()[level.upper()]

    async def log_statistics(tx: Tx) -> None:
        if not log.isEnabledFor(number):
            return
        totals: Counter[str] = Counter()
        phases: dict[str, dict[str, int]] = {}
        for phase in await inspect.list_phases(tx):
            counts = {name: getattr(phase, name) for name in STATISTICS}
            totals.update(counts)
            if any(counts.values()):
                phases[f"{phase.kind}/{phase.stage}"] = counts
        retrying = await inspect.count_retrying(tx)
        log.log(
            number, "queue statistics", extra={**totals, "retrying": retrying, "phases": phases}
        )

    return log_statistics


STATISTICS = ("pending", "later", "processing", "blocked")
"""The counts of a phase that are logged."""


def health_task(level: str) -> LogTask:
    """The periodic task that logs the state of workers, processors, alerts and the scheduler."""
    number = logging.getLevelNamesMapping()[level.upper()]

    async def log_health(tx: Tx) -> None:
        if log.isEnabledFor(number):
            log.log(number, "queue health", extra=await _read_health(tx))

    return log_health


async def _read_health(tx: Tx) -> dict[str, object]:
    workers = await inspect.list_workers(tx)
    alive = {worker.id for worker in workers if worker.alive}
    processors = [
        processor for processor in await inspect.list_processors(tx) if processor.worker in alive
    ]
    counts = Counter(processor.state for processor in processors)
    return {
        "workers": len(alive),
        "dead_workers": len(workers) - len(alive),
        "processors": {state: counts[state] for state in ("idle", "busy", "error")},
        "alerts": len(await alerts.list_alerts(tx)),
        "schedule_age": await ticks.seconds_since_tick(tx, "scheduler"),
    }
