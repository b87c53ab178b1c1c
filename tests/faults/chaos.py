"""Runs workers, clients and two replicated servers under all faults at once, then the checker.

`python -m tests.faults.chaos --seconds 600` prints what was injected, checked and observed. A violation, or
a counter that stays at zero (then the run proved nothing), makes it fail.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import faulthandler
import logging
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import psycopg
from psycopg.conninfo import make_conninfo

from jobmill import queue
from jobmill.db import connect
from jobmill.db.migrate import migrate
from jobmill.errors import AppError
from tests.cli.forked import ForkedProcess

from . import worker
from .checker import EVIDENCE, violations
from .history import HistoryWriter, read_history
from .pipeline import PIPELINE, order
from .proxy import Action, FaultProxy, Link, Request, proxied
from .replicas import PostgresServer, Replicas, replicas

LEASE = 3.0
WORKERS = 3
CLIENTS = 2
SPOILED_COMMITS = 0.2
RECOVERY_GOAL = LEASE + 10
QUIET_LIMIT = 120.0
FAULT_LIMIT = 2 * QUIET_LIMIT

LOGGED = {
    "leases lost": "lease lost",
    "closed fences": "lease lost, nothing written",
    "unknown commits": "already settled, or lease lost",
    "stale attempts in a batch": "several attempts of one item in a batch",
}
"""Counters and the log lines of the workers that they count."""


@dataclass
class Report:
    faults: Counter[str] = field(default_factory=Counter[str])
    occurrences: Counter[str] = field(default_factory=Counter[str])
    recoveries: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    operations: int = 0
    items: int = 0
    violations: list[str] = field(default_factory=list[str])

    def goals(self, wanted_faults: int) -> list[tuple[str, str, str, bool]]:
        """Name, figure, goal, and whether it was reached."""
        injected = self.faults.total()
        rows = [
            ("violations", str(len(self.violations)), "0", not self.violations),
            ("faults", str(injected), str(wanted_faults), injected >= wanted_faults),
        ]
        rows += [
            (f"sometimes-{name.replace(' ', '-')}", str(times), "1", times > 0)
            for name, times in self.occurrences.items()
        ]
        for name, seconds in self.recoveries.items():
            longest = max(seconds)
            in_time = longest <= RECOVERY_GOAL
            figure, goal = f"{longest:.1f}s", f"{RECOVERY_GOAL:.0f}s"
            rows.append((f"recovery-{name.replace(' ', '-')}", figure, goal, in_time))
        return rows


class Workers:
    """Worker processes; killed ones are replaced."""

    def __init__(self, url: str, logs: Path) -> None:
        self._url = url
        self._logs = logs
        self._started = 0
        self.processes: list[ForkedProcess] = []

    def fill_up(self) -> None:
        self.processes = [process for process in self.processes if process.poll() is None]
        while len(self.processes) < WORKERS:
            self._started += 1
            log = self._logs / f"worker-{self._started}.log"
            self.processes.append(ForkedProcess(worker.run, self._url, LEASE, log))

    def kill(self) -> None:
        process = random.choice(self.processes)
        process.kill()
        process.wait()
        self.fill_up()

    async def pause(self) -> None:
        """Pause a worker past its lease, then let it continue with claims it no longer holds."""
        process = random.choice(self.processes)
        process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(LEASE + 1)
        process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()

    def count(self, line: str) -> int:
        return sum(
            log.read_text(errors="replace").splitlines().count(line)
            for log in self._logs.glob("worker-*.log")
        )


class Chaos:
    def __init__(self, pair: Replicas, proxies: list[FaultProxy], folder: Path) -> None:
        self._pair = pair
        self._proxies = proxies
        self._folder = folder
        self.report = Report()
        self.url = make_conninfo(
            proxies[0].url,
            host="127.0.0.1,127.0.0.1",
            port=",".join(str(proxy.port) for proxy in proxies),
            target_session_attrs="read-write",
        )
        self.workers = Workers(self.url, folder)

    async def run(self, seconds: float, wanted_faults: int = 0) -> Report:
        """Run for this many seconds, and until this many faults were injected."""
        await self._prepare()
        self.workers.fill_up()
        stop = asyncio.Event()
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(CLIENTS):
                    group.create_task(self._submit(f"client-{number}", stop))
                await self._started()
                await self._inject(time.monotonic() + seconds, wanted_faults)
                stop.set()
            await self._come_to_rest()
        finally:
            self.workers.end()
        self._judge()
        return self.report

    async def _started(self) -> None:
        """Wait for the first ended item: starting Python must not count as recovering."""
        deadline = time.monotonic() + QUIET_LIMIT
        before = await asyncio.to_thread(self._pair.primary.execute, ENDED)
        while await asyncio.to_thread(self._pair.primary.execute, ENDED) == before:
            assert time.monotonic() < deadline, "the workers do not start"
            await asyncio.sleep(0.1)

    async def _prepare(self) -> None:
        async with connect(self._pair.primary.url()) as database, database.transaction() as tx:
            await migrate(tx)
            await tx.execute(EVIDENCE)
            await queue.declare_stages(tx, PIPELINE)

    async def _submit(self, client: str, stop: asyncio.Event) -> None:
        with closing(HistoryWriter(self._folder, client)) as history:
            await self._submit_all(client, history, stop)

    async def _submit_all(self, client: str, history: HistoryWriter, stop: asyncio.Event) -> None:
        """Submit one order after the other; record each before it is sent and after it is answered."""
        number = 0
        while not stop.is_set():
            try:
                async with connect(self.url, size=1, answer_limit=5) as database:
                    while not stop.is_set():
                        number += 1
                        key = f"{client} order {number}"
                        history.invoke(key)
                        try:
                            async with database.transaction() as tx:
                                await queue.submit(tx, order(key))
                        except psycopg.Error:
                            history.complete(key, "unknown")
                            self.report.occurrences["unknown submissions"] += 1
                        else:
                            history.complete(key, "ok")
                        await asyncio.sleep(0.05)
            except (AppError, psycopg.Error):
                await asyncio.sleep(0.2)

    async def _inject(self, until: float, wanted_faults: int) -> None:
        """Every fault in random order, again and again."""
        faults: dict[str, Callable[[], Awaitable[object]]] = {
            "connection reset": partial(self._hit_links, "connection reset", Link.cut),
            "connection silent": partial(self._hit_links, "connection silent", Link.black_hole),
            "connection half open": partial(
                self._hit_links, "connection half open", Link.half_open
            ),
            "requests lost": partial(self._hit_links, "requests lost", Link.lose_requests),
            "answers lost": partial(self._hit_links, "answers lost", Link.lose_answers),
            "commits spoiled": self._spoil_commits,
            "slow network": self._slow,
            "worker killed": self._kill,
            "worker paused": self._pause,
            "saves blocked": self._block_saves,
            "server restarted": self._restart,
            "primary killed": partial(self._fail_over, "primary killed", PostgresServer.kill),
            "primary frozen": partial(self._fail_over, "primary frozen", PostgresServer.freeze),
        }
        names: list[str] = []
        while time.monotonic() < until or self.report.faults.total() < wanted_faults:
            if not names:
                names = random.sample(sorted(faults), len(faults))
            name = names.pop()
            began = time.monotonic()
            async with asyncio.timeout(FAULT_LIMIT):
                await faults[name]()
            left = max(0.0, until - time.monotonic())
            print(f"{name}: {time.monotonic() - began:.1f} s ({left:.0f} s left)", flush=True)
            await asyncio.sleep(random.random())

    async def _hit_links(self, name: str, fault: Callable[[Link], None]) -> None:
        """The fault on a random half of the connections."""
        links = [link for proxy in self._proxies for link in proxy.links]
        for link in random.sample(links, (len(links) + 1) // 2):
            fault(link)
            self.report.faults[name] += 1

    async def _slow(self) -> None:
        self.report.faults["slow network"] += 1
        for proxy in self._proxies:
            proxy.delay = 0.05
        await asyncio.sleep(2)
        for proxy in self._proxies:
            proxy.delay = 0

    async def _spoil_commits(self) -> None:
        """For some seconds, cut some commits off before or after the server runs them, or lose their answers."""
        actions: list[Action] = ["cut before", "cut after", "lose answer"]

        def decide(request: Request) -> Action:
            if not request.is_commit or random.random() > SPOILED_COMMITS:
                return "forward"
            action = random.choice(actions)
            self.report.faults[f"commit: {action}"] += 1
            return action

        for proxy in self._proxies:
            proxy.decide = decide
        await asyncio.sleep(3)
        for proxy in self._proxies:
            proxy.decide = lambda request: "forward"

    async def _kill(self) -> None:
        self.workers.kill()
        self.report.faults["worker killed"] += 1

    async def _pause(self) -> None:
        await self.workers.pause()
        self.report.faults["worker paused"] += 1

    async def _block_saves(self) -> None:
        """Keep all saves waiting while a worker is paused past its lease."""
        with contextlib.suppress(psycopg.Error):
            async with await psycopg.AsyncConnection.connect(self._pair.primary.url()) as blocker:
                await blocker.execute("LOCK TABLE chaos.saved")
                self.report.faults["saves blocked"] += 1
                await asyncio.sleep(0.5)
                await self._pause()
                await blocker.rollback()

    async def _restart(self) -> None:
        """Shut the server down immediately and start it again."""
        began, claims = time.monotonic(), self._held()
        await asyncio.to_thread(self._pair.primary.kill)
        await asyncio.to_thread(self._pair.primary.start)
        await self._recovered("server restarted", began, claims)

    async def _fail_over(self, name: str, fail: Callable[[PostgresServer], None]) -> None:
        began, claims = time.monotonic(), self._held()
        fail(self._pair.primary)
        await asyncio.to_thread(self._pair.promote)
        await self._recovered(name, began, claims)
        self.report.occurrences["failovers"] += 1
        # The old primary becomes a copy of the new one, so that it can happen again.
        await asyncio.to_thread(self._pair.replace_primary)

    def _held(self) -> set[tuple[object, ...]]:
        """The claims at this moment."""
        return set(self._pair.primary.execute(CLAIMS))

    async def _recovered(self, name: str, began: float, claims: set[tuple[object, ...]]) -> None:
        """Wait until items end again and every earlier claim was settled or released."""
        self.report.faults[name] += 1
        server = self._pair.writable
        before = await asyncio.to_thread(server.execute, ENDED)
        while (
            await asyncio.to_thread(server.execute, ENDED) == before
            or set(await asyncio.to_thread(server.execute, CLAIMS)) & claims
        ):
            assert time.monotonic() - began < QUIET_LIMIT, f"no work goes on after {name}"
            await asyncio.sleep(0.1)
        self.report.recoveries[name].append(time.monotonic() - began)

    async def _come_to_rest(self) -> None:
        deadline = time.monotonic() + QUIET_LIMIT
        while await asyncio.to_thread(self._pair.primary.execute, LIVE) != [(0,)]:
            self.workers.fill_up()
            if time.monotonic() > deadline:
                return
            await asyncio.sleep(0.2)

    def _judge(self) -> None:
        report, server = self.report, self._pair.primary
        history = read_history(self._folder)
        report.operations = len(history)
        for statement in CHECK_FAST:
            server.execute(statement)
        report.violations = violations(server.url(), history)
        report.items = cast(int, server.execute("SELECT count(*) FROM queue.item")[0][0])
        report.occurrences["rescues"] = cast(int, server.execute(RESCUES)[0][0])
        for name, line in LOGGED.items():
            report.occurrences[name] = self.workers.count(line)


CLAIMS = "SELECT id, attempt FROM queue.live WHERE status = 'PROCESSING'"
ENDED = "SELECT count(*) FROM queue.ending"
LIVE = "SELECT count(*) FROM queue.live"
CHECK_FAST = (
    "CREATE INDEX ON queue.item (parent_id)",
    "CREATE INDEX ON chaos.saved (item)",
    "ANALYZE",
)
"""Without these, the time of a check grows with the square of the items: minutes after a long run."""
RESCUES = "SELECT count(*) FROM queue.event WHERE type = 'rescued'"


@asynccontextmanager
async def chaos(folder: Path) -> AsyncIterator[Chaos]:
    async with AsyncExitStack() as stack:
        pair = stack.enter_context(replicas(folder / "servers"))
        proxies = [
            await stack.enter_async_context(proxied(server.url()))
            for server in (pair.primary, pair.standby)
        ]
        yield Chaos(pair, proxies, folder)


def show(report: Report, wanted_faults: int) -> bool:
    """Print the table and the goals; False if one is missed."""
    print(f"{'fault':<32}times")
    for name, times in sorted(report.faults.items()):
        print(f"{name:<32}{times}")
    print(f"\noperations {report.operations}, items checked {report.items}")
    for name, seconds in report.recoveries.items():
        median = statistics.median(seconds)
        print(f"recovery after {name}: median {median:.1f} s, longest {max(seconds):.1f} s")
    for line in report.violations:
        print(f"VIOLATION {line}")
    print()
    goals = report.goals(wanted_faults)
    for name, figure, goal, reached in goals:
        print(f"goal {name} {figure} {goal} {'ok' if reached else 'short'}")
    return all(reached for *_, reached in goals)


async def main(seconds: float, wanted_faults: int, folder: str | None) -> bool:
    with tempfile.TemporaryDirectory() as scratch:
        async with chaos(Path(folder or scratch)) as storm:
            report = await storm.run(seconds, wanted_faults)
    return show(report, wanted_faults)


def parse() -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--faults", type=int, default=500, help="at least as many are wanted")
    parser.add_argument("--folder", help="where logs and histories are kept")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    return parser.parse_args()


if __name__ == "__main__":
    arguments = parse()
    faulthandler.register(signal.SIGUSR1)  # It should end by itself; if not, show where it hangs.
    logging.disable(logging.WARNING)  # Lost connections are expected here.
    print(f"seed {arguments.seed} (it fixes the order of the faults, not their timing)")
    random.seed(arguments.seed)
    sys.exit(not asyncio.run(main(arguments.seconds, arguments.faults, arguments.folder)))
