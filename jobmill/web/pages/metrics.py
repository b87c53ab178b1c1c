"""/metrics: the queue in numbers, for Prometheus; docs/reference/metrics.md explains each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version

from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from jobmill.queue import inspect, run_counters
from jobmill.queue import overview as glance
from jobmill.queue.inspect import NamedCount, PhaseStatus, RunCounter, WorkerStatus
from jobmill.queue.overview import Overview
from jobmill.web.dependencies import Db

router = APIRouter()

PHASE = ("kind", "stage")


@router.api_route("/metrics", methods=["GET", "HEAD"])
async def metrics(request: Request, db: Db) -> Response:
    """Counted in the database at each scrape, so every web process tells the same."""
    async with db.transaction() as tx:
        overview, rules = await glance.read_overview(tx), await inspect.count_alerts(tx)
    encode, media_type = choose_encoder(request.headers.get("accept", ""))
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Counted(families(overview, rules)))
    return Response(encode(registry), media_type=media_type)


class _Counted(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families

    def describe(self) -> Iterable[Metric]:
        return ()


def families(overview: Overview, rules: Sequence[NamedCount]) -> list[Metric]:
    return [
        *_phases(overview.phases),
        _processors(overview),
        _run_seconds(overview.run_counters),
        _runs(overview.run_counters),
        _gauge("retrying_items", "Live items that failed before", [((), overview.retrying)]),
        _gauge(
            "alerts",
            "Alerts that stand",
            [((rule.name,), rule.count) for rule in rules],
            labels=("rule",),
        ),
        _workers(overview.workers),
        *_tick(overview.ticked_seconds),
        InfoMetricFamily(
            "jobmill", "The version that answers", value={"version": version("jobmill")}
        ),
    ]


def _gauge(
    name: str,
    help: str,
    samples: Iterable[tuple[Sequence[str], float]],
    labels: Sequence[str] = (),
) -> Metric:
    family = GaugeMetricFamily(f"jobmill_queue_{name}", help, labels=labels)
    for values, sample in samples:
        family.add_metric(values, sample)
    return family


def _phases(phases: Sequence[PhaseStatus]) -> Iterator[Metric]:
    yield _gauge(
        "items",
        "Live items by what they do",
        [
            ((one.kind, one.stage, state), getattr(one, state))
            for one in phases
            for state in ("pending", "later", "processing", "blocked")
        ],
        labels=(*PHASE, "state"),
    )
    for name, help, field in (
        ("oldest_seconds", "How long the oldest item that could run has waited", "oldest_seconds"),
        ("capacity", "How many items may wait", "capacity"),
    ):
        samples = [((one.kind, one.stage), getattr(one, field) or 0) for one in phases]
        yield _gauge(name, help, samples, labels=PHASE)
    yield _gauge(
        "paused",
        "1 where nothing more is started",
        [((one.kind, one.stage), one.paused is not None) for one in phases],
        labels=PHASE,
    )


def _processors(overview: Overview) -> Metric:
    crews = glance.count_processors(overview.phases, overview.processors)
    return _gauge(
        "processors",
        "Processors of all workers by what they do",
        [
            ((one.kind, one.stage, state), getattr(one, state))
            for one in crews
            for state in ("idle", "busy", "error")
        ],
        labels=(*PHASE, "state"),
    )


def _run_seconds(tallies: Sequence[RunCounter]) -> Metric:
    family = HistogramMetricFamily(
        "jobmill_queue_run_seconds", "How long runs took, whatever their outcome", labels=PHASE
    )
    for phase in sorted({(one.kind, one.stage) for one in tallies}):
        mine = [one for one in tallies if (one.kind, one.stage) == phase]
        counts = [sum(column) for column in zip(*(one.buckets for one in mine), strict=True)]
        bounds = [*map(str, run_counters.BUCKET_BOUNDS), "+Inf"]
        # Prometheus counts in each bucket what is in the smaller ones too.
        grown = [float(sum(counts[: n + 1])) for n in range(len(counts))]
        family.add_metric(
            phase, list(zip(bounds, grown, strict=True)), sum(one.seconds for one in mine)
        )
    return family


def _runs(tallies: Sequence[RunCounter]) -> Metric:
    family = CounterMetricFamily(
        "jobmill_queue_runs", "Runs by outcome", labels=(*PHASE, "outcome")
    )
    for one in tallies:
        family.add_metric((one.kind, one.stage, one.outcome), one.runs)
    return family


def _workers(workers: Sequence[WorkerStatus]) -> Metric:
    alive = sum(one.alive for one in workers)
    samples = [(("alive",), alive), (("silent",), len(workers) - alive)]
    return _gauge("workers", "Workers that signed on", samples, labels=("state",))


def _tick(ticked: float | None) -> Iterator[Metric]:
    if ticked is not None:
        yield _gauge(
            "schedule_age_seconds",
            "How long ago a worker looked at the schedules",
            [((), ticked)],
        )
