"""How reports enter the queue: locks, reasons for refusal, pools and capacities."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from jobmill import queue
from jobmill.db import Database, connect
from jobmill.pipelines import report
from jobmill.queue import Move, NotAdmitted, Stage, Work, Worker
from jobmill.queue.feed import feed_batch, feed_task
from jobmill.queue.worker import PeriodicTask
from jobmill.reports import store
from jobmill.reports.report import ReportOptions
from jobmill.settings import Settings
from tests.queue.helpers import claim, fetch
from tests.reports.helpers import SITE, ReportBed


async def _unlock(database: Database, status: str = "not-started") -> None:
    """As if the lock of the row had been lost while its item lives."""
    async with database.transaction() as tx:
        await tx.execute(
            "UPDATE reports.report SET in_progress = false, in_progress_since = NULL, status = %s",
            [status],
        )


async def test_a_report_that_is_queued_is_refused(database: Database) -> None:
    bed = ReportBed(database)
    id = await bed.create()
    assert await bed.scan() == 1
    await _unlock(database)
    await bed.scan()
    stored = await bed.get(id)
    assert not stored.in_progress
    assert stored.note == f"Already queued: report/website-analysis for report:{id}"
    assert await fetch(database, "SELECT count(*) FROM queue.item") == [1]
    # The next scan waits a minute instead of asking in a loop.
    assert await bed.scan() == 0
    assert (await bed.events(id))[-1] == "refused"


async def test_a_report_that_is_being_processed_is_refused(database: Database) -> None:
    bed = ReportBed(database)
    id = await bed.create()
    await bed.scan()
    await claim(database, "report", "website-analysis")
    await _unlock(database)
    await bed.scan()
    assert (await bed.get(id)).note == (
        f"Currently processing: report/website-analysis for report:{id}"
    )
    assert await fetch(database, "SELECT count(*) FROM queue.item") == [1]


async def test_a_report_in_the_queue_of_another_phase_is_refused(database: Database) -> None:
    bed = ReportBed(database)
    id = await bed.create()
    await bed.scan()
    await _unlock(database, "prompt-forming")
    await bed.scan()
    assert (await bed.get(id)).note == f"Wrong phase: report for report:{id} is in another phase"
    assert await fetch(database, "SELECT stage FROM queue.items") == ["website-analysis"]


async def test_a_full_queue_takes_no_report_and_accepts_it_later(database: Database) -> None:
    bed = ReportBed(database, settings=Settings(queue_capacity=1))
    first, second = await bed.create(), await bed.create()
    assert await bed.scan() == 1
    assert await bed.scan() == 0
    assert ((await bed.get(first)).in_progress, (await bed.get(second)).in_progress) == (
        True,
        False,
    )
    async with database.transaction() as tx:
        with pytest.raises(NotAdmitted, match="Queue full") as refused:
            await queue.submit(tx, report.new_item(second, "website-analysis"))
    assert refused.value.refused.reason == "full"
    await bed.drain()
    await bed.run()
    assert (await bed.get(second)).status == "completed"


async def test_two_schedulers_that_race_on_a_thousand_reports_queue_each_once(
    url: str, database: Database
) -> None:
    bed = ReportBed(database)
    await bed.declare()
    async with database.transaction() as tx:
        for _ in range(1_000):
            await store.create(tx, SITE, ReportOptions())
    [feed] = [feed for feed in report.queue_feeds() if feed.stage == "website-analysis"]

    async def scan() -> int:
        taken = 0
        async with connect(url) as own:
            while True:
                async with own.transaction() as tx:
                    batch = await feed_batch(tx, feed)
                if batch == 0:
                    return taken
                taken += batch

    taken = await asyncio.gather(scan(), scan())
    assert sum(taken) == 1_000
    assert min(taken) > 0
    keys = Counter(await fetch(database, "SELECT key FROM queue.item"))
    assert len(keys) == 1_000
    assert set(keys.values()) == {1}
    assert await fetch(database, "SELECT count(*) FROM reports.report WHERE NOT in_progress") == [0]
    assert await fetch(database, "SELECT count(*) FROM catalog.event WHERE type = 'refused'") == [0]


async def test_a_scan_neither_takes_nor_awaits_what_another_one_takes(
    url: str, database: Database
) -> None:
    bed = ReportBed(database)
    first, second = await bed.create(), await bed.create()
    async with connect(url) as other, database.transaction() as tx:
        assert await store.claim_due(tx, "website-analysis", 1) == [first]
        async with asyncio.timeout(20), other.transaction() as other_tx:
            assert await store.claim_due(other_tx, "website-analysis", 10) == [second]


class Gauge:
    """Counts the runs of a phase at the same time."""

    def __init__(self) -> None:
        self.now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.together = 0

    def measure(self, stage: Stage) -> Stage:
        async def run(work: Work) -> Move:
            self.now[work.stage] += 1
            self.most[work.stage] = max(self.most[work.stage], self.now[work.stage])
            self.together = max(self.together, sum(count > 0 for count in self.now.values()))
            try:
                return await stage.run(work)
            finally:
                self.now[work.stage] -= 1

        return replace(stage, run=run)


async def test_sixty_reports_pass_pools_of_ten_within_the_capacity(
    database: Database,
) -> None:
    bed = ReportBed(database, settings=Settings(queue_capacity=20))
    await bed.declare()
    async with database.transaction() as tx:
        for _ in range(60):
            await store.create(tx, SITE, ReportOptions(runs=1, prompt_count=1))
    gauge = Gauge()
    stages = {phase: gauge.measure(stage) for phase, stage in bed.stages.items()}
    assert {stage.processors for stage in stages.values()} == {10}
    worker = Worker(
        database,
        stages,
        periodic_tasks=[
            PeriodicTask(0.5, feed_task(feed), on_feed_notify=True) for feed in report.queue_feeds()
        ],
    )
    task = asyncio.create_task(worker.run())
    pending: list[int] = []
    async with asyncio.timeout(240):
        while await fetch(
            database, "SELECT count(*) FROM reports.report WHERE status <> 'completed'"
        ) != [0]:
            pending += await fetch(
                database,
                "SELECT count(*) FROM queue.live WHERE status = 'PENDING' GROUP BY kind, stage",
            )
            await asyncio.sleep(0.05)
    worker.stop()
    await task
    assert max(pending) <= 20
    assert set(gauge.most) == {"website-analysis", "prompt-forming", "model-analysis"}
    assert max(gauge.most.values()) <= 10
    assert gauge.most["website-analysis"] == 10
    # Later phases run while earlier ones still have work: no phase is starved.
    assert gauge.together >= 2
    runs = await fetch(database, "SELECT stage, count(*) FROM queue.items GROUP BY 1 ORDER BY 1")
    assert runs == [("model-analysis", 60), ("prompt-forming", 60), ("website-analysis", 60)]
