"""/metrics: queue, rotation and hiring for Prometheus, described in docs/reference/metrics.md."""

from __future__ import annotations

import os
from collections import Counter
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

from jobmill.db.clock import server_time
from jobmill.hiring import hiring_metrics
from jobmill.hiring.hiring_metrics import HiringMetrics
from jobmill.notifications import deliveries
from jobmill.notifications import events as notification_events
from jobmill.notifications.deliveries import StateCount
from jobmill.notifications.events import KindCount
from jobmill.queue import inspect, run_counters
from jobmill.queue.inspect import NamedCount, PhaseStatus, RunCounter, WorkerStatus
from jobmill.queue.overview import Overview, count_processors, read_overview
from jobmill.rotation import rotation_metrics
from jobmill.rotation.rotation_metrics import RotationMetrics
from jobmill.web import system_health
from jobmill.web.banners import CurrentBanners
from jobmill.web.dependencies import Db
from jobmill.web.system_health import SystemHealth

router = APIRouter()

PHASE_LABELS = ("kind", "stage")


@router.api_route("/metrics", methods=["GET", "HEAD"])
async def metrics(request: Request, db: Db, banners: CurrentBanners) -> Response:
    """Read from the database at each scrape, so that all web processes report the same."""
    async with db.transaction() as tx:
        overview, rules = await read_overview(tx), await inspect.count_alerts(tx)
        rotation = await rotation_metrics.read_metrics(tx, await server_time(tx), os.environ)
        hiring = await hiring_metrics.read_metrics(tx)
        events = await notification_events.count_by_kind(tx)
        sent = await deliveries.count_by_state(tx)
        health = await banners.read_health(tx)
    encode, media_type = choose_encoder(request.headers.get("accept", ""))
    registry = CollectorRegistry(auto_describe=False)
    families = [
        *_queue(overview, rules),
        *_rotation(rotation),
        *_hiring(hiring),
        *_notifications(events, sent),
        _health(health),
    ]
    registry.register(_FixedCollector(families))
    return Response(encode(registry), media_type=media_type)


class _FixedCollector(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families

    def describe(self) -> Iterable[Metric]:
        return ()


def _health(health: SystemHealth) -> Metric:
    counts = Counter(condition.code for condition in health.conditions)
    family = GaugeMetricFamily(
        "jobmill_health_conditions", "Conditions of the page Health", labels=("condition",)
    )
    for code in system_health.CODES:
        family.add_metric((code,), counts[code])
    return family


def _notifications(events: Sequence[KindCount], sent: Sequence[StateCount]) -> Iterator[Metric]:
    yield _gauge(
        "events_last_day",
        "Events of the last 24 hours that people are notified about",
        [((row.kind,), row.count) for row in events],
        ("kind",),
        "notification",
    )
    yield _gauge(
        "deliveries_last_day",
        "Messages that wait, or that ended in the last 24 hours",
        [((row.channel_kind, row.state), row.count) for row in sent],
        ("channel", "state"),
        "notification",
    )


def _queue(overview: Overview, rules: Sequence[NamedCount]) -> list[Metric]:
    return [
        *_phases(overview.phases),
        _processors(overview),
        _run_seconds(overview.run_counters),
        _runs(overview.run_counters),
        _gauge("retrying_items", "Live items that failed before", [((), overview.retrying)]),
        _gauge(
            "alerts",
            "Active alerts",
            [((rule.name,), rule.count) for rule in rules],
            labels=("rule",),
        ),
        _workers(overview.workers),
        *_schedule_age(overview.ticked_seconds),
        InfoMetricFamily(
            "jobmill", "Version of the web process", value={"version": version("jobmill")}
        ),
    ]


def _gauge(
    name: str,
    help: str,
    samples: Iterable[tuple[Sequence[str], float]],
    labels: Sequence[str] = (),
    subject: str = "queue",
) -> Metric:
    family = GaugeMetricFamily(f"jobmill_{subject}_{name}", help, labels=labels)
    for values, sample in samples:
        family.add_metric(values, sample)
    return family


def _phases(phases: Sequence[PhaseStatus]) -> Iterator[Metric]:
    yield _gauge(
        "items",
        "Live items by state",
        [
            ((phase.kind, phase.stage, state), getattr(phase, state))
            for phase in phases
            for state in ("pending", "later", "processing", "blocked")
        ],
        labels=(*PHASE_LABELS, "state"),
    )
    for name, help, field in (
        ("oldest_seconds", "How long the oldest pending item has been due", "oldest_seconds"),
        ("capacity", "How many items may wait", "capacity"),
    ):
        samples = [((phase.kind, phase.stage), getattr(phase, field) or 0) for phase in phases]
        yield _gauge(name, help, samples, labels=PHASE_LABELS)
    yield _gauge(
        "paused",
        "1 if the phase is paused",
        [((phase.kind, phase.stage), phase.paused is not None) for phase in phases],
        labels=PHASE_LABELS,
    )


def _processors(overview: Overview) -> Metric:
    counts = count_processors(overview.phases, overview.processors)
    return _gauge(
        "processors",
        "Processors of all workers by state",
        [
            ((count.kind, count.stage, state), getattr(count, state))
            for count in counts
            for state in ("idle", "busy", "error")
        ],
        labels=(*PHASE_LABELS, "state"),
    )


def _run_seconds(counters: Sequence[RunCounter]) -> Metric:
    family = HistogramMetricFamily(
        "jobmill_queue_run_seconds", "Duration of runs, whatever their outcome", labels=PHASE_LABELS
    )
    for phase in sorted({(counter.kind, counter.stage) for counter in counters}):
        of_phase = [counter for counter in counters if (counter.kind, counter.stage) == phase]
        buckets = zip(*(counter.buckets for counter in of_phase), strict=True)
        counts = [sum(bucket) for bucket in buckets]
        bounds = [*map(str, run_counters.BUCKET_BOUNDS), "+Inf"]
        # Buckets of Prometheus are cumulative.
        cumulative = [float(sum(counts[: n + 1])) for n in range(len(counts))]
        family.add_metric(
            phase,
            list(zip(bounds, cumulative, strict=True)),
            sum(counter.seconds for counter in of_phase),
        )
    return family


def _runs(counters: Sequence[RunCounter]) -> Metric:
    family = CounterMetricFamily(
        "jobmill_queue_runs", "Runs by outcome", labels=(*PHASE_LABELS, "outcome")
    )
    for counter in counters:
        family.add_metric((counter.kind, counter.stage, counter.outcome), counter.runs)
    return family


def _workers(workers: Sequence[WorkerStatus]) -> Metric:
    alive = sum(worker.alive for worker in workers)
    samples = [(("alive",), alive), (("silent",), len(workers) - alive)]
    return _gauge("workers", "Registered workers", samples, labels=("state",))


def _schedule_age(seconds: float | None) -> Iterator[Metric]:
    if seconds is not None:
        yield _gauge(
            "schedule_age_seconds",
            "Seconds since a worker checked the schedules",
            [((), seconds)],
        )


def _rotation(rotation: RotationMetrics) -> Iterator[Metric]:
    def gauge(
        name: str, help: str, samples: Iterable[tuple[Sequence[str], float]], *labels: str
    ) -> Metric:
        return _gauge(name, help, samples, labels, "rotation")

    counts = [((count.platform, count.status), count.targets) for count in rotation.targets]
    yield gauge("targets", "Boards and searches by status", counts, "platform", "status")
    for field, help in (
        ("calls", "Calls"),
        ("new", "New jobs that calls found"),
        ("failed", "Failed calls"),
    ):
        samples = [((recent.platform,), getattr(recent, field)) for recent in rotation.calls]
        yield gauge(f"{field}_last_day", f"{help} in the last 24 hours", samples, "platform")
    left = [((platform,), calls) for platform, calls in rotation.calls_left.items()]
    yield gauge(
        "calls_left", "Calls that a limited or unavailable platform accepts", left, "platform"
    )
    yield gauge("price", "New jobs that a call must be worth", [((), rotation.price)])
    yield gauge("allowance", "Calls that the schedule may make", [((), rotation.allowance)])
    if rotation.run_seconds is not None:
        yield gauge("run_age_seconds", "Seconds since the last run", [((), rotation.run_seconds)])


def _hiring(hiring: HiringMetrics) -> Iterator[Metric]:
    for name, help, field in (
        ("openings", "Openings", "openings"),
        ("occupied_places", "Places that are taken or offered", "occupied"),
        ("waiting_applicants", "Applicants on waitlists", "waiting"),
        ("applicants_in_review", "Applicants who wait for a decision", "in_review"),
    ):
        samples = [((count.status,), getattr(count, field)) for count in hiring.openings]
        yield _gauge(name, f"{help} by status of the opening", samples, ("status",), "hiring")
    for name, help, value in (
        ("pending_offers", "Offers that wait for an answer", hiring.pending_offers),
        ("overdue_seconds", "How long the oldest expired offer stands", hiring.overdue_seconds),
        ("waiting_notices", "Messages that wait to be sent", hiring.waiting_notices),
        (
            "deadline_age_seconds",
            "Seconds since a worker checked the deadlines of offers",
            hiring.deadline_seconds,
        ),
    ):
        if value is not None:
            yield _gauge(name, help, [((), value)], subject="hiring")
