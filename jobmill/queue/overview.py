"""An overview of the whole queue, with rates and totals computed from its counters."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.queue import inspect, ticks
from jobmill.queue.alerts import Alert, list_alerts
from jobmill.queue.inspect import PhaseStatus, ProcessorStatus, RunCounter, WorkerStatus


@dataclass(frozen=True, slots=True)
class Overview:
    phases: list[PhaseStatus]
    processors: list[ProcessorStatus]
    workers: list[WorkerStatus]
    alerts: list[Alert]
    run_counters: list[RunCounter]
    retrying: int
    ticked_seconds: float | None


async def read_overview(tx: Tx) -> Overview:
    """Read the state of the whole queue; the cost grows only with the number of live items."""
    workers = await inspect.list_workers(tx)
    # The processors that a silent worker last reported are out of date.
    alive = {worker.id for worker in workers if worker.alive}
    processors = await inspect.list_processors(tx)
    return Overview(
        phases=await inspect.list_phases(tx),
        processors=[processor for processor in processors if processor.worker in alive],
        workers=workers,
        alerts=await list_alerts(tx),
        run_counters=await inspect.list_run_counters(tx),
        retrying=await inspect.count_retrying(tx),
        ticked_seconds=await ticks.seconds_since_tick(tx, "scheduler"),
    )


RATE_WINDOW = 300.0
"""The longest period, in seconds, over which rates are computed."""
MIN_SAMPLE_GAP = 2.0
"""The shortest time, in seconds, between two samples: workers write their counters no more often."""


class RateTracker:
    """Computes how many runs of each phase end per minute, from samples of the run counters."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, Counter[tuple[str, str]]]] = deque()

    def add(self, at: float, counters: Sequence[RunCounter]) -> RunRates:
        """Store a sample; return the rates since the oldest stored sample."""
        runs: Counter[tuple[str, str]] = Counter()
        for counter in counters:
            runs[counter.kind, counter.stage] += counter.runs
        while self._samples and at - self._samples[0][0] > RATE_WINDOW:
            self._samples.popleft()
        if not self._samples or at - self._samples[-1][0] >= MIN_SAMPLE_GAP:
            self._samples.append((at, runs))
        then, before = self._samples[0]
        minutes = (at - then) / 60
        if at - then < MIN_SAMPLE_GAP:
            return RunRates(0, {})
        return RunRates(
            at - then, {phase: (n - before[phase]) / minutes for phase, n in runs.items()}
        )


@dataclass(frozen=True, slots=True)
class RunRates:
    seconds: float
    """The period of the rates; 0 before there are two samples."""
    per_minute: Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class ProcessorCounts:
    """How many processors of a phase are idle, busy and in error, over all workers."""

    kind: str
    stage: str
    idle: int
    busy: int
    error: int


def count_processors(
    phases: Sequence[PhaseStatus], processors: Sequence[ProcessorStatus]
) -> list[ProcessorCounts]:
    """One entry for each phase, also for those without a processor."""
    counts = Counter((processor.kind, processor.stage, processor.state) for processor in processors)
    names = {(entry.kind, entry.stage) for entry in (*phases, *processors)}
    return [
        ProcessorCounts(*name, *(counts[*name, state] for state in ("idle", "busy", "error")))
        for name in sorted(names)
    ]


@dataclass(frozen=True, slots=True)
class RunTotals:
    """How all runs of a phase ended."""

    kind: str
    stage: str
    runs: int
    success: int
    waited: int
    retried: int
    failed: int
    seconds: float


def sum_runs(counters: Sequence[RunCounter]) -> list[RunTotals]:
    """One entry for each phase that ever ran."""
    totals: list[RunTotals] = []
    for kind, stage in sorted({(counter.kind, counter.stage) for counter in counters}):
        of_phase = [
            counter for counter in counters if (counter.kind, counter.stage) == (kind, stage)
        ]
        results: Counter[str] = Counter()
        for counter in of_phase:
            results[_RESULTS.get(counter.outcome, "success")] += counter.runs
        totals.append(
            RunTotals(
                kind=kind,
                stage=stage,
                runs=results.total(),
                success=results["success"],
                waited=results["waited"],
                retried=results["retried"],
                failed=results["failed"],
                seconds=sum(counter.seconds for counter in of_phase),
            )
        )
    return totals


_RESULTS = {
    "waituntil": "waited",
    "postpone": "waited",
    "waitfor": "waited",
    "block": "waited",
    "retry": "retried",
    "fail": "failed",
}
"""Every other outcome (finish, advance, hand over, filter, skip) counts as a success."""
