"""Worker processes that are killed, stopped, paused or cut off lose nothing and save nothing twice."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobmill import queue
from jobmill.db import Database, connect
from jobmill.db.embedded import EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.queue import NewItem, submit_all
from jobmill.queue.worker import LEASE
from tests.cli.forked import ForkedProgram

from . import process
from .helpers import SOON, fetch, happened, item, new, put, statuses
from .process import PIPELINES


class WorkerProcesses:
    """Worker processes that a test may kill; `fill_up` replaces killed ones."""

    def __init__(self, url: str, pipeline: str, lease: float) -> None:
        self._arguments = (url, pipeline, lease)
        self.processes: list[ForkedProgram] = []

    def fill_up(self, count: int) -> None:
        while len(self.processes) < count:
            self.processes.append(ForkedProgram(process.run, *self._arguments))

    def ready(self) -> None:
        for n in range(len(self.processes)):
            self.expect_line("ready", n)

    def expect_line(self, line: str, n: int = 0) -> None:
        """Wait for the next line that a process prints."""
        assert self.processes[n].stdout.readline() == f"{line}\n"

    def kill(self, n: int = 0) -> None:
        self.processes.pop(n).close()

    def end(self) -> None:
        while self.processes:
            self.kill()


@contextmanager
def worker_processes(
    url: str, pipeline: str, count: int, *, lease: float = SOON.total_seconds()
) -> Iterator[WorkerProcesses]:
    workers = WorkerProcesses(url, pipeline, lease)
    try:
        workers.fill_up(count)
        workers.ready()
        yield workers
    finally:
        workers.end()


async def until_ended(database: Database, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while await fetch(database, "SELECT count(*) FROM queue.live") != [0]:
        assert time.monotonic() < deadline, await fetch(
            database, "SELECT id, kind, status, worker, attempt, parked FROM queue.live LIMIT 10"
        )
        await asyncio.sleep(0.05)


async def until(database: Database, status: str, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not (await statuses(database))[status]:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def saved_table(database: Database) -> None:
    async with database.transaction() as tx:
        # Without a unique key, so that a second row of the same item would be visible.
        await tx.execute("CREATE TABLE public.saved (item bigint, pid int)")


@pytest.fixture
async def slow_item(database: Database) -> queue.ItemId:
    await saved_table(database)
    [id] = await put(database, PIPELINES["slow"], new("slow", data={"seconds": 4}))
    return id


async def pause_while_processing(database: Database, workers: WorkerProcesses) -> ForkedProgram:
    await until(database, "PROCESSING")
    worker = workers.processes[0]
    worker.send_signal(signal.SIGSTOP)
    return worker


async def test_a_killed_worker_loses_nothing(url: str, database: Database, slow_item: int) -> None:
    with worker_processes(url, "slow", 1) as workers:
        await until(database, "PROCESSING")
        workers.kill()
        workers.fill_up(1)
        await until_ended(database)
    assert await fetch(database, "SELECT item FROM public.saved") == [slow_item]
    assert "rescued" in await happened(database, queue.ItemId(slow_item))


async def test_a_worker_stopped_past_its_lease_and_resumed_writes_nothing(
    url: str, database: Database, slow_item: int
) -> None:
    with worker_processes(url, "slow", 1) as workers:
        zombie = await pause_while_processing(database, workers)
        workers.fill_up(2)
        await until_ended(database)
        zombie.send_signal(signal.SIGCONT)
        # Long enough for the paused worker to resume and try to write.
        await asyncio.sleep(5)
        rescuer = workers.processes[1].pid
        assert zombie.poll() is None
    assert await fetch(database, "SELECT item, pid FROM public.saved") == [(slow_item, rescuer)]
    assert await fetch(database, "SELECT count(*) FROM queue.worker") == [3], "it joined anew"


async def test_a_worker_with_a_lapsed_lease_writes_nothing_even_if_its_items_were_not_rescued(
    url: str, database: Database, slow_item: int
) -> None:
    with worker_processes(url, "slow", 1) as workers:
        zombie = await pause_while_processing(database, workers)
        await asyncio.sleep(5)
        zombie.send_signal(signal.SIGCONT)
        await until_ended(database)
    # Its first run wrote nothing; it claimed the item again under a new worker id.
    done = await item(database, queue.ItemId(slow_item))
    assert (done.status, done.attempts) == ("SUCCESS", 2)
    assert await fetch(database, "SELECT count(*) FROM public.saved") == [1]


async def saves_survive_a_pause_past_the_lease(url: str, database: Database, lease: float) -> None:
    """Four saves wait for a lock and five for a commit connection while the worker is paused.

    Every item is saved once, although the worker resumes with attempts it no longer holds and then
    claims the same items again.
    """
    await saved_table(database)
    async with await psycopg.AsyncConnection.connect(url) as lock:
        await lock.execute("LOCK TABLE public.saved")
        with worker_processes(url, "quick", 1, lease=lease) as workers:
            for n in range(4):
                # One by one: saves that arrive together would share a transaction.
                await put(database, PIPELINES["quick"], new("quick", str(n)))
                await until_equal(database, WAITING_SAVERS, n + 1)
            await put(database, PIPELINES["quick"], *(new("quick", str(n)) for n in range(4, 9)))
            await until_equal(database, HELD, 9)
            [worker] = workers.processes
            worker.send_signal(signal.SIGSTOP)
            await asyncio.sleep(lease + 1)
            worker.send_signal(signal.SIGCONT)
            # The worker registers again and claims the items it held before.
            await until_equal(database, "SELECT (max(attempt) >= 2)::int FROM queue.live", 1)
            await lock.rollback()
            await until_ended(database)
    assert await fetch(database, "SELECT count(*), count(DISTINCT item) FROM public.saved") == [
        (9, 9)
    ]


async def until_equal(database: Database, query: LiteralString, expected: int) -> None:
    async with asyncio.timeout(30):
        while await fetch(database, query) != [expected]:
            await asyncio.sleep(0.02)


HELD = "SELECT count(*) FROM queue.live WHERE status = 'PROCESSING'"
WAITING_SAVERS = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND query LIKE 'INSERT INTO public.saved%%'
"""


async def test_saves_of_a_worker_paused_past_its_lease_happen_once(
    url: str, database: Database
) -> None:
    await saves_survive_a_pause_past_the_lease(url, database, lease=6)


@pytest.mark.soak
async def test_saves_of_a_worker_paused_past_the_default_lease_happen_once(
    url: str, database: Database
) -> None:
    await saves_survive_a_pause_past_the_lease(url, database, lease=LEASE.total_seconds())


async def test_sigterm_lets_items_finish_or_releases_them(url: str, database: Database) -> None:
    await saved_table(database)
    short, long = await put(
        database,
        PIPELINES["slow"],
        new("slow", "short", data={"seconds": 1}),
        new("slow", "long", data={"seconds": 60}),
    )
    # A lease that no busy machine lets lapse: this is about the stop.
    with worker_processes(url, "slow", 1, lease=LEASE.total_seconds()) as workers:
        # An item that is claimed but not yet running would be released, however short it is.
        for _ in (short, long):
            await asyncio.to_thread(workers.expect_line, "started")
        workers.processes[0].terminate()
        assert await asyncio.to_thread(workers.processes[0].wait, 30) == 0
    assert (await item(database, short)).status == "SUCCESS"
    given_back = await item(database, long)
    assert (given_back.status, given_back.retry_count) == ("PENDING", 0)
    assert (await happened(database, long))[-1] == "released"
    assert await fetch(database, "SELECT count(*) FROM queue.worker WHERE ended_at IS NULL") == [0]


async def test_4000_items_four_workers_killed_in_turn_the_database_restarted(
    tmp_path: Path,
) -> None:
    """Each item's `save` is committed exactly once."""
    # Four workers with ten processors take two seconds, however fast the machine is.
    kills, restarts = await survive(
        tmp_path, items=4_000, restart_every=1_500, kill_every=0.3, seconds=0.02
    )
    assert kills >= 1
    assert restarts >= 1


@pytest.mark.soak
async def test_a_million_items_while_workers_and_the_database_are_killed(
    tmp_path: Path,
) -> None:
    kills, restarts = await survive(tmp_path, items=1_000_000, restart_every=50_000, kill_every=1)
    assert kills > 50
    assert restarts > 10


async def survive(
    tmp_path: Path, *, items: int, restart_every: int, kill_every: float, seconds: float = 0
) -> tuple[int, int]:
    """Run four workers, kill one after another and the server now and then, until all items have ended.

    `seconds`: how long each item takes at least.
    """
    server = EmbeddedServer(tmp_path / "postgres", durable=False)
    with server.use() as url:
        await fill(url, items, seconds)
        kills = restarts = 0
        with worker_processes(url, "quick", 4) as workers:
            while (left := await live_or_none(url)) != 0:
                workers.kill(kills % len(workers.processes))
                kills += 1
                workers.fill_up(4)
                if left is not None and left < items - restart_every * (restarts + 1):
                    restarts += 1
                    cut_power(tmp_path / "postgres")
                # Every process of the product that uses the bundled server does this.
                await asyncio.to_thread(server.maintain)
                assert kills < 100 + items / 100, f"{left} still live"
                await asyncio.sleep(kill_every)
        async with connect(url) as database:
            assert await fetch(
                database, "SELECT count(*), count(DISTINCT item) FROM public.saved"
            ) == [(items, items)]
            assert await statuses(database) == {"SUCCESS": items}
    return kills, restarts


async def fill(url: str, items: int, seconds: float) -> None:
    async with connect(url) as database:
        async with database.transaction() as tx:
            await migrate(tx)
        await saved_table(database)
        async with database.transaction() as tx:
            await queue.declare_stages(tx, PIPELINES["quick"])
        for start in range(0, items, 1000):
            async with database.transaction() as tx:
                keys = map(str, range(start, start + 1000))
                await submit_all(tx, [new("quick", key, data={"seconds": seconds}) for key in keys])


async def live_or_none(url: str) -> int | None:
    """How many items are alive; None while the server is unreachable."""
    try:
        async with connect(url) as database:
            return (await fetch(database, "SELECT count(*) FROM queue.live"))[0]
    except Exception:  # noqa: BLE001
        return None


def cut_power(data: Path) -> None:
    """Kill the server; `maintain` starts it again."""
    os.kill(int((data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)


@pytest.fixture(scope="module")
async def graphs(server: str, template: str) -> AsyncIterator[tuple[str, Database]]:
    """One database and four workers for all the random graphs."""
    from tests.conftest import drop, run

    name = "graphs"
    run(server, "CREATE DATABASE {} TEMPLATE {}", name, template)
    from psycopg.conninfo import make_conninfo

    url = make_conninfo(server, dbname=name)
    async with connect(url) as database:
        async with database.transaction() as tx:
            await queue.declare_stages(tx, PIPELINES["graph"])
            await tx.execute("CREATE TABLE public.ran (tracking_id text, kind text, key text)")
        yield url, database
    drop(server, name)


NODES = [f"n{n}" for n in range(6)]
EDGES = st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(NODES)), max_size=4)
GRAPHS = st.fixed_dictionaries({node: EDGES for node in NODES})


@pytest.fixture(scope="module")
async def graph_workers(graphs: tuple[str, Database]) -> AsyncIterator[WorkerProcesses]:
    with worker_processes(graphs[0], "graph", 4) as workers:
        yield workers


@settings(
    max_examples=8,
    deadline=None,
    database=None,
)
@given(graph=GRAPHS, kills=st.lists(st.integers(0, 3), min_size=1, max_size=3))
async def test_random_cyclic_graphs_always_end(
    graphs: tuple[str, Database],
    graph_workers: WorkerProcesses,
    graph: dict[str, list[tuple[str, str]]],
    kills: list[int],
) -> None:
    _, database = graphs
    prefix = f"{time.monotonic_ns()}-"
    data = {"graph": graph, "prefix": prefix}
    ids = await put(
        database,
        PIPELINES["graph"],
        *(NewItem("a", "run", prefix + node, data, max_spawn_depth=6) for node in NODES[:3]),
    )
    for n in kills:
        await asyncio.sleep(0.02)
        graph_workers.kill(n % len(graph_workers.processes))
        graph_workers.fill_up(4)
    await until_ended(database)
    lineages = await fetch(
        database, "SELECT tracking_id::text FROM queue.item WHERE id = ANY (%s)", [ids]
    )
    twice = await fetch(
        database,
        """
        SELECT tracking_id, kind, key FROM public.ran WHERE tracking_id = ANY (%s)
         GROUP BY 1, 2, 3 HAVING count(*) > 1
        """,
        [lineages],
    )
    assert twice == []
    [(deepest, born, succeeded)] = await fetch(
        database,
        """
        SELECT max(spawn_depth), count(*), count(*) FILTER (WHERE status = 'SUCCESS')
          FROM queue.items WHERE tracking_id::text = ANY (%s)
        """,
        [lineages],
    )
    assert deepest <= 6
    assert born == succeeded, "nothing is lost"
    [ran] = await fetch(
        database, "SELECT count(*) FROM public.ran WHERE tracking_id = ANY (%s)", [lineages]
    )
    assert ran == born
