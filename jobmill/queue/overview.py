"""The whole queue at one glance, and what its counts come to."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.queue import inspect
from jobmill.queue.alerts import Alert, list_alerts
from jobmill.queue.inspect import PhaseStatus, ProcessorStatus, RunCounter, WorkerStatus


@dataclass(frozen=True, slots=True)
class Overview:
    """The whole queue at one glance."""

    phases: list[PhaseStatus]
    processors: list[ProcessorStatus]
    workers: list[WorkerStatus]
    alerts: list[Alert]
    tallies: list[RunCounter]
    retrying: int
    ticked_seconds: float | None


async def read_overview(tx: Tx) -> Overview:
    """What pages, commands and metrics start from; its cost grows with live work only."""
    crew = await inspect.list_workers(tx)
    # What a worker that fell silent wrote last is not what its processors do now.
    alive = {worker.id for worker in crew if worker.alive}
    return Overview(
        phases=await inspect.list_phases(tx),
        processors=[one for one in await inspect.list_processors(tx) if one.worker in alive],
        workers=crew,
        alerts=await list_alerts(tx),
        tallies=await inspect.list_run_counters(tx),
        retrying=await inspect.count_retrying(tx),
        ticked_seconds=await inspect.seconds_since_schedule_check(tx),
    )


RATE_WINDOW = 300.0
"""Seconds that rates are taken over, at most."""
MIN_SAMPLE_GAP = 2.0
"""Seconds between two looks that are remembered: workers add up their counts no oftener."""


class RateTracker:
    """How many runs of each phase end in a minute, from the counts as they grow while somebody looks."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, Counter[tuple[str, str]]]] = deque()

    def add(self, at: float, tallies: Sequence[RunCounter]) -> RunRates:
        """Remember a look, and give the rates since the first that is remembered."""
        runs: Counter[tuple[str, str]] = Counter()
        for one in tallies:
            runs[one.kind, one.stage] += one.runs
        while self._seen and at - self._seen[0][0] > RATE_WINDOW:
            self._seen.popleft()
        if not self._seen or at - self._seen[-1][0] >= MIN_SAMPLE_GAP:
            self._seen.append((at, runs))
        then, before = self._seen[0]
        minutes = (at - then) / 60
        if at - then < MIN_SAMPLE_GAP:
            return RunRates(0, {})
        return RunRates(
            at - then, {phase: (n - before[phase]) / minutes for phase, n in runs.items()}
        )


@dataclass(frozen=True, slots=True)
class RunRates:
    seconds: float
    """What the rates are taken over; 0 before there is anything to compare."""
    per_minute: Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class ProcessorCounts:
    """The processors of one phase, over all workers, by what they do."""

    kind: str
    stage: str
    idle: int
    busy: int
    error: int


def count_processors(
    phases: Sequence[PhaseStatus], processors: Sequence[ProcessorStatus]
) -> list[ProcessorCounts]:
    """One line a phase, those without any processor included."""
    found = Counter((one.kind, one.stage, one.state) for one in processors)
    known = {(one.kind, one.stage): None for one in (*phases, *processors)}
    return [
        ProcessorCounts(*phase, *(found[*phase, state] for state in ("idle", "busy", "error")))
        for phase in sorted(known)
    ]


@dataclass(frozen=True, slots=True)
class RunTotals:
    """How the runs of one phase ended, ever since it exists."""

    kind: str
    stage: str
    runs: int
    success: int
    waited: int
    retried: int
    failed: int
    seconds: float


def sum_runs(tallies: Sequence[RunCounter]) -> list[RunTotals]:
    """One line a phase that ever ran."""
    lines: list[RunTotals] = []
    for kind, stage in sorted({(one.kind, one.stage) for one in tallies}):
        mine = [one for one in tallies if (one.kind, one.stage) == (kind, stage)]
        results: Counter[str] = Counter()
        for one in mine:
            results[_RESULTS.get(one.outcome, "success")] += one.runs
        lines.append(
            RunTotals(
                kind=kind,
                stage=stage,
                runs=results.total(),
                success=results["success"],
                waited=results["waited"],
                retried=results["retried"],
                failed=results["failed"],
                seconds=sum(one.seconds for one in mine),
            )
        )
    return lines


_RESULTS = {
    "waituntil": "waited",
    "waitfor": "waited",
    "block": "waited",
    "retry": "retried",
    "fail": "failed",
}
"""What is not listed (finish, advance, hand over, filter, skip) did what it was meant to."""
