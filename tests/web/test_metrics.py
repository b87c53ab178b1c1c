from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from jobmill.catalog import sources
from jobmill.db import Database, Tx
from jobmill.db.clock import server_time
from jobmill.errors import OutsideError
from jobmill.pipelines import notifications
from jobmill.queue import (
    Block,
    Finish,
    Move,
    NewItem,
    Stage,
    Stages,
    Work,
    inspect,
    operator_actions,
)
from jobmill.queue.run_counters import BUCKET_BOUNDS, RunCounters
from jobmill.rotation import platform_state, targets
from jobmill.rotation.planner import RunRequest, start_run
from tests.hiring.helpers import apply, make_opening
from tests.notifications.helpers import add_channel, add_event
from tests.queue.helpers import drain, put
from tests.rotation.helpers import answer, make_target

PAGE = Path("docs/reference/metrics.md")
OUTCOMES = {
    "finish", "advance", "handover", "filter", "skip", "waituntil", "waitfor", "block", "retry",
    "fail", "postpone",
}  # fmt: skip


async def boil(work: Work) -> Move:
    match work.key:
        case "broken":
            raise OutsideError("the kettle is gone", permanent=True)
        case "dry":
            return Block("water", "There is no water")
        case _:
            return Finish()


TEA: Stages = {("tea", "boil"): Stage(boil, capacity=7)}

Samples = dict[tuple[str, *tuple[str, ...]], float]


async def scrape(site: httpx2.AsyncClient) -> Samples:
    """The samples, by name and values of the labels in the order of their names."""
    answer = await site.get("/metrics")
    assert answer.status_code == 200
    return {
        (sample.name, *(text for _, text in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


async def fill(database: Database) -> None:
    """One row for every metric."""
    await put(database, TEA, *(NewItem("tea", "boil", key) for key in ("green", "broken", "dry")))
    await drain(database, TEA)
    await put(database, TEA, NewItem("tea", "boil", "black"))
    async with database.transaction() as tx:
        await add_channel(tx)
        await add_event(tx)
        await notifications.plan(tx)
        await operator_actions.pause_phase(tx, "tea", None, "a break")
        await tx.execute(
            "UPDATE queue.live SET available_at = now() - interval '90 s' WHERE NOT parked"
        )
        await tx.execute(
            """
            INSERT INTO queue.worker (name, lease, processors) VALUES ('here:1', '20 s',
                '[{"kind": "tea", "stage": "boil", "number": 1, "state": "busy"},
                  {"kind": "tea", "stage": "boil", "number": 2, "state": "error"}]')
            """
        )
        await tx.execute(
            """
            INSERT INTO queue.worker (name, lease, heartbeat_at)
            VALUES ('dead:1', '20 s', now() - interval '1 h')
            """
        )
        await tx.execute(
            """
            INSERT INTO queue.alert (rule, subject, detail, cleared_at)
            VALUES ('deep', 'a', '', NULL), ('deep', 'b', '', NULL), ('same key', 'c', '', now())
            """
        )
        await tx.execute(
            """
            INSERT INTO queue.tick VALUES ('scheduler', now() - interval '7 s'),
                                          ('deadlines', now() - interval '9 s')
            """
        )
        await fill_rotation(tx)
        opening = await make_opening(tx, 1, require_acknowledgement=True)
        for _ in range(3):
            await apply(tx, opening)


async def fill_rotation(tx: Tx) -> None:
    """A limited, a paused and a disabled target, and a call that found two jobs."""
    at = await server_time(tx)
    board, resting, other = [await make_target(tx) for _ in range(3)]
    await targets.pause(tx, resting)
    await sources.disable(tx, other, "closed")
    await targets.sync_changed_sources(tx)
    await platform_state.set_limits(tx, "greenhouse", per_hour=5, per_day=None)
    await start_run(tx, RunRequest(trigger="manual", sources=[board]), at, {})
    await start_run(tx, RunRequest(trigger="manual", max_calls=1), at, {})
    await answer(tx, board, at, new=2)
    await make_target(tx, "jooble")


async def test_metrics_match_the_queue(site: httpx2.AsyncClient, database: Database) -> None:
    await fill(database)
    samples = await scrape(site)
    phase = ("tea", "boil")
    for name, labels, value in (
        ("items", ("pending",), 1),
        ("items", ("blocked",), 1),
        ("items", ("processing",), 0),
        ("items", ("later",), 0),
        ("capacity", (), 7),
        ("paused", (), 1),
        ("processors", ("idle",), 0),
        ("processors", ("busy",), 1),
        ("processors", ("error",), 1),
    ):
        kind, stage = phase
        assert samples[f"jobmill_queue_{name}", kind, stage, *labels] == value, (name, labels)
    assert 90 <= samples["jobmill_queue_oldest_seconds", "tea", "boil"] < 120
    runs = {key[2]: n for key, n in samples.items() if key[0] == "jobmill_queue_runs_total"}
    assert runs == {"finish": 1, "fail": 1, "block": 1}
    assert samples["jobmill_queue_alerts", "deep"] == 2
    assert samples["jobmill_queue_alerts", "same key"] == 0
    assert samples["jobmill_queue_workers", "alive"] == 1
    assert samples["jobmill_queue_workers", "silent"] == 1
    assert 7 <= samples["jobmill_queue_schedule_age_seconds",] < 30
    assert samples["jobmill_queue_retrying_items",] == 0


async def test_metrics_show_rotation_and_hiring(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await fill(database)
    samples = await scrape(site)
    rotation = {name: n for name, n in samples.items() if name[0].startswith("jobmill_rotation_")}
    assert rotation.pop(("jobmill_rotation_run_age_seconds",)) >= 0
    assert rotation.pop(("jobmill_rotation_price",)) > 0
    assert ("jobmill_rotation_allowance",) in rotation
    del rotation["jobmill_rotation_allowance",]
    assert rotation == {
        ("jobmill_rotation_targets", "greenhouse", "active"): 1,
        ("jobmill_rotation_targets", "greenhouse", "paused"): 1,
        ("jobmill_rotation_targets", "greenhouse", "disabled"): 1,
        ("jobmill_rotation_targets", "jooble", "active"): 1,
        ("jobmill_rotation_calls_last_day", "greenhouse"): 1,
        ("jobmill_rotation_new_last_day", "greenhouse"): 2,
        ("jobmill_rotation_failed_last_day", "greenhouse"): 0,
        ("jobmill_rotation_calls_left", "greenhouse"): 4,
        # It has no key.
        ("jobmill_rotation_calls_left", "jooble"): 0,
    }
    assert samples["jobmill_hiring_openings", "open"] == 1
    assert samples["jobmill_hiring_openings", "closed"] == 0
    assert samples["jobmill_hiring_waiting_applicants", "open"] == 2
    assert samples["jobmill_hiring_occupied_places", "open"] == 1
    assert samples["jobmill_hiring_overdue_seconds",] == 0
    assert 9 <= samples["jobmill_hiring_deadline_age_seconds",] < 60
    assert ("jobmill_hiring_pending_offers",) in samples


async def test_run_times_are_a_histogram_over_all_outcomes(
    site: httpx2.AsyncClient, database: Database
) -> None:
    tally = RunCounters()
    for outcome, seconds in (("finish", 0.001), ("finish", 0.07), ("retry", 0.07), ("fail", 999)):
        tally.add("tea", "boil", outcome, seconds)
    async with database.transaction() as tx:
        await tally.write(tx)
    samples = await scrape(site)
    name = "jobmill_queue_run_seconds"
    buckets = [samples[f"{name}_bucket", "tea", str(bound), "boil"] for bound in BUCKET_BOUNDS]
    assert buckets == [1, 1, 1, 1, *[3] * (len(BUCKET_BOUNDS) - 4)]
    assert samples[f"{name}_bucket", "tea", "+Inf", "boil"] == 4
    assert samples[f"{name}_count", "tea", "boil"] == 4
    assert abs(samples[f"{name}_sum", "tea", "boil"] - 999.141) < 1e-6


async def test_runs_are_counted_once_although_their_first_write_is_rolled_back(
    database: Database,
) -> None:
    tally = RunCounters()
    tally.add("tea", "boil", "finish", 0.001)
    with pytest.raises(ZeroDivisionError):
        async with database.transaction() as tx:
            await tally.write(tx)
            raise ZeroDivisionError
    tally.restore()
    tally.add("tea", "boil", "finish", 0.001)
    for _ in range(2):
        async with database.transaction() as tx:
            await tally.write(tx)
    async with database.transaction() as tx:
        (counter,) = await inspect.list_run_counters(tx)
    assert counter.runs == 2


async def test_openmetrics_is_served_on_request(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await fill(database)
    answer = await site.get("/metrics", headers={"Accept": "application/openmetrics-text"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert list(openmetrics.text_string_to_metric_families(answer.text))


async def test_the_metrics_reference_lists_every_metric_with_type_and_labels(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await fill(database)
    answer = await site.get("/metrics")
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", answer.text, re.MULTILINE))
    exported = {(name, types[name], tuple(sorted(_labels(answer.text, name)))) for name in types}
    rows = re.findall(r"^\| `(jobmill_\w+)` \| (\w+) \|(.*?)\| ", PAGE.read_text(), re.MULTILINE)
    assert exported == {
        (name, kind, tuple(sorted(re.findall(r"`(\w+)`", labels)))) for name, kind, labels in rows
    }


def _labels(text: str, name: str) -> set[str]:
    names: set[str] = set()
    for line in re.findall(rf"^{name}(?:_bucket)?\{{(.*)\}} ", text, re.MULTILINE):
        names |= set(re.findall(r'(\w+)="', line))
    return names - {"le"}


def test_the_metrics_reference_lists_every_outcome() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ", PAGE.read_text(), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([a-z]+)`", row)} == OUTCOMES


def test_the_outcomes_are_those_that_workers_record() -> None:
    from jobmill.queue.stages import Move as Moves
    from jobmill.queue.stages import Outcome

    names = {kind.__name__.lower() for kind in (*Moves.__args__, *Outcome.__args__)}
    assert names - {"release"} == OUTCOMES
