"""Measures hiring over real HTTP, with one web process and a durable PostgreSQL: applications per
second, and whether the cost of a step grows with the waitlist."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import psycopg
from psycopg.conninfo import conninfo_to_dict
from rich.console import Console
from rich.table import Table

from bench import cpu_time
from bench.hiring import history
from evaluation.goal import Goal
from evaluation.run import line
from jobmill.db import Database, binaries, connect
from jobmill.db.embedded import EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.audit_log import replay
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import OpeningTerms

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results" / "hiring.json"
SECONDS = 8.0
STEPS = 300
CAPACITY = 5
SETTLE = 5.0
MANY_CLIENTS = 300
OFFERS = 100_000
OFFER_OPENINGS = (1_000, 1)
WORKERS = 2


@dataclass
class HiringFigures:
    """Rates per second, milliseconds and kilobytes, by number of clients or of waiting applicants."""

    bare: dict[int, float] = field(default_factory=dict[int, float])
    applies: dict[int, float] = field(default_factory=dict[int, float])
    keyed_applies: dict[int, float] = field(default_factory=dict[int, float])
    """With an Idempotency-Key."""
    failed_applies: int = 0
    page_ms: float = 0
    """A page while 300 clients apply with keys, the slowest of 20."""
    deadlines_s: dict[int, float] = field(default_factory=dict[int, float])
    """Seconds until `OFFERS` offers that ended together are taken back, by number of openings."""
    web_ms: dict[int, float] = field(default_factory=dict[int, float])
    overbooked: int = 0
    costs: dict[str, dict[int, dict[str, float]]] = field(default_factory=dict[str, Any])
    position_ms: dict[int, float] = field(default_factory=dict[int, float])
    replay_ms: dict[int, float] = field(default_factory=dict[int, float])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[0, 10_000, 1_000_000])
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--offers", type=int, default=OFFERS)
    options = parser.parse_args()
    figures = HiringFigures()
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedServer(Path(folder, "postgres")).use() as url,
    ):
        bench = Bench(url, Path(folder), figures)
        asyncio.run(bench.prepare(max(*options.sizes, 2 * options.offers, 40_000) + 10_000))
        with bench.web():
            bench.crowds(options.seconds)
            for size in options.sizes:
                bench.steps(size)
            for count in OFFER_OPENINGS:
                bench.deadlines(count, options.offers)
    _print(figures, options.sizes)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(asdict(figures), indent=1) + "\n")


class Bench:
    def __init__(self, url: str, folder: Path, figures: HiringFigures) -> None:
        self.url = url
        self.folder = folder
        self.figures = figures
        self.port = 0
        self.cookie = ""
        self._web: subprocess.Popen[str] | None = None

    async def prepare(self, people: int) -> None:
        async with connect(self.url) as database:
            async with database.transaction() as tx:
                await migrate(tx)
            async with database.transaction() as tx:
                await history.people(tx, people)

    @contextmanager
    def web(self) -> Iterator[None]:
        """The real command, as an operator starts it."""
        self.port = _free_port()
        self._web = self._start("web")
        try:
            assert self._web.stdout
            self._web.stdout.readline()
            link = self._web.stdout.readline().split()[-1]
            self._wait()
            self.cookie = self._sign_in(link)
            yield
        finally:
            self._web.terminate()
            self._web.communicate()

    def _start(self, command: str) -> subprocess.Popen[str]:
        variables = {
            "DATABASE_URL": f"postgresql:///?{urlencode(conninfo_to_dict(self.url))}",
            "JOBMILL_WEB_PORT": str(self.port),
            "JOBMILL_LOG_LEVEL": "error" if command == "worker" else "warning",
            "JOBMILL_DATA_DIR": str(self.folder / "data"),
        }
        return subprocess.Popen(
            [sys.executable, "-m", "jobmill", command],
            cwd=ROOT,
            env=os.environ | variables,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _sign_in(self, link: str) -> str:
        """Open the printed link and return its cookie."""
        with urlopen(link) as answer:
            return answer.headers["Set-Cookie"].partition(";")[0]

    def _wait(self) -> None:
        for _ in range(200):
            try:
                self.get("/api/healthz")
                return
            except OSError:
                time.sleep(0.05)

    def get(self, path: str) -> bytes:
        connection = HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", path, headers={"Host": "localhost", "Cookie": self.cookie})
        answer = connection.getresponse().read()
        connection.close()
        return answer

    def load(
        self,
        path: str,
        bodies: list[dict[str, int]],
        clients: int,
        seconds: float,
        *,
        keyed: bool = False,
    ) -> Any:
        sent = subprocess.run(
            [
                sys.executable,
                "-m",
                "bench.hiring.load",
                str(self.port),
                path,
                str(clients),
                str(seconds),
            ],
            cwd=ROOT,
            env=os.environ | {"COOKIE": self.cookie} | ({"KEYED": "yes"} if keyed else {}),
            input="\n".join(json.dumps(body) for body in bodies),
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(sent.stdout)

    def in_database(self, work: Any) -> Any:
        async def go() -> Any:
            async with connect(self.url, size=1) as database, database.transaction() as tx:
                return await work(tx)

        return asyncio.run(go())

    def crowds(self, seconds: float) -> None:
        """Applications per second to one opening, beside plain updates per second of its row."""
        for clients in (1, 32, MANY_CLIENTS):
            self.figures.applies[clients] = self._crowd(clients, seconds, keyed=False)
            if clients == 1:
                continue
            if clients < MANY_CLIENTS:
                self.figures.keyed_applies[clients] = self._crowd(clients, seconds, keyed=True)
                continue
            with ThreadPoolExecutor(1) as pages:
                slowest = pages.submit(self._slowest_page, seconds)
                self.figures.keyed_applies[clients] = self._crowd(clients, seconds, keyed=True)
                self.figures.page_ms = 1000 * slowest.result()

    def _slowest_page(self, seconds: float) -> float:
        took: list[float] = []
        for _ in range(20):
            time.sleep(seconds / 25)
            began = time.perf_counter()
            self.get("/openings")
            took.append(time.perf_counter() - began)
        return max(took)

    def _crowd(self, clients: int, seconds: float, *, keyed: bool) -> float:
        made = self.in_database(
            lambda tx: lifecycle.create(tx, OpeningTerms("Hot"), CAPACITY, LOCAL)
        )
        if not keyed and clients < MANY_CLIENTS:
            self.figures.bare[clients] = self._bare(made.id, clients, seconds)
        before = self._web_seconds()
        bodies = [{"applicantId": n, "jobId": made.id} for n in range(1, 40_001)]
        result = self.load("/api/apply", bodies, clients, seconds, keyed=keyed)
        count = sum(result["answers"].values())
        placed = {"201 ACTIVE", "201 WAITLIST"}
        self.figures.failed_applies += sum(
            number for answer, number in result["answers"].items() if answer not in placed
        )
        if not keyed:
            self.figures.web_ms[clients] = 1000 * (self._web_seconds() - before) / count
        after = self.in_database(lambda tx: openings.get(tx, made.id))
        active = result["answers"]["201 ACTIVE"]
        self.figures.overbooked += max(active - CAPACITY, after.occupied - CAPACITY, 0)
        return count / result["seconds"]

    def deadlines(self, count: int, offers: int) -> None:
        """How long two workers take for offers of this many openings that end at the same instant.

        They do everything a worker does, so they also send a letter and a webhook for each.
        """
        workers = [self._start("worker") for _ in range(WORKERS)]
        try:
            self._wait_for_workers()
            self.in_database(lambda tx: history.due_offers(tx, count, offers // count))
            began = time.perf_counter()
            while self.in_database(lambda tx: _value(tx, history.OVERDUE)):
                time.sleep(0.2)
            self.figures.deadlines_s[count] = time.perf_counter() - began
        finally:
            for worker in workers:
                worker.kill()
                worker.communicate()

    def _wait_for_workers(self) -> None:
        running = "SELECT count(*) FROM queue.worker WHERE heartbeat_at > now() - interval '5 s'"
        while self.in_database(lambda tx: _value(tx, running)) < WORKERS:
            time.sleep(0.2)

    def _bare(self, opening_id: int, clients: int, seconds: float) -> float:
        script = self.folder / "bare.sql"
        script.write_text(
            f"UPDATE hiring.opening SET next_key = next_key WHERE id = {opening_id};\n"
        )
        pgbench = binaries.find_folder(None) / "pgbench"
        result = subprocess.run(
            [
                *(pgbench, "-n", "-M", "prepared", "-f", script, "-c", str(clients)),
                *("-j", "2", "-T", str(round(seconds)), self.url),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        return float(result.stdout.rpartition("tps = ")[2].split()[0])

    def _web_seconds(self) -> float:
        assert self._web
        return cpu_time.process_seconds(self._web.pid)

    def steps(self, size: int) -> None:
        """The cost of each step beside this many waiting applicants."""
        id = self.in_database(lambda tx: history.opening(tx, size))
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        # The new rows are still being written to the disk.
        os.sync()
        time.sleep(SETTLE)
        first = size + history.ACTIVE + 1
        newcomers = [{"applicantId": n, "jobId": id} for n in range(first, first + STEPS)]
        self._cost("apply", size, "/api/apply", newcomers)
        active = self.in_database(lambda tx: history.of_status(tx, id, "ACTIVE", STEPS))
        self._cost("withdraw", size, "/api/withdraw", [{"applicationId": n} for n in active])
        offered = self.in_database(
            lambda tx: history.of_status(tx, id, "PENDING_ACKNOWLEDGMENT", STEPS)
        )
        self._cost("acknowledge", size, "/api/acknowledge", [{"applicationId": n} for n in offered])
        self._position(id, size)
        asyncio.run(self._replay(id, size))

    def _cost(self, step: str, size: int, path: str, bodies: list[dict[str, int]]) -> None:
        # Warm up caches after the vacuum.
        self.load(path, bodies[:50], 1, 60)
        wal, server = self._wal(), self._server_seconds()
        result = self.load(path, bodies[50:], 1, 60)
        count = sum(result["answers"].values())
        assert set(result["answers"]) <= {"200", "201 WAITLIST"}, result
        self.figures.costs.setdefault(step, {})[size] = {
            "p50_ms": 1000 * result["p50"],
            "server_ms": 1000 * (self._server_seconds() - server) / count,
            "wal_kb": (self._wal() - wal) / count / 1000,
        }

    def _wal(self) -> int:
        with psycopg.connect(self.url) as connection:
            row = connection.execute(
                "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
            ).fetchone()
            return int(row[0]) if row else 0

    def _server_seconds(self) -> float:
        return cpu_time.server_seconds(cpu_time.postmaster_pid(self.folder / "postgres"))

    def _position(self, id: int, size: int) -> None:
        if not size:
            return
        last = self.in_database(
            lambda tx: _value(
                tx, "SELECT max(applicant_id) FROM hiring.application WHERE opening_id = %s", id
            )
        )
        took: list[float] = []
        for _ in range(30):
            began = time.perf_counter()
            self.get(f"/api/status/{last}")
            took.append(time.perf_counter() - began)
        self.figures.position_ms[size] = 1000 * statistics.median(took)

    async def _replay(self, id: int, size: int) -> None:
        if not size:
            return
        async with connect(self.url, size=1) as database:
            took = [await _timed_replay(database, id) for _ in range(3)]
        self.figures.replay_ms[size] = 1000 * statistics.median(took)


async def _timed_replay(database: Database, id: int) -> float:
    async with database.transaction() as tx:
        began = time.perf_counter()
        await replay.replay_at(tx, id)
        return time.perf_counter() - began


async def _value(tx: Any, sql: Any, *params: Any) -> Any:
    cursor = await tx.execute(sql, params)
    return (await cursor.fetchone())[0]


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _print(figures: HiringFigures, sizes: list[int]) -> None:
    crowd = Table(
        "one hot opening",
        "bare row updates/s",
        "applies/s",
        "of bare",
        "with a key/s",
        "web CPU ms each",
    )
    for clients, rate in figures.applies.items():
        bare = figures.bare.get(clients)
        keyed = figures.keyed_applies.get(clients)
        crowd.add_row(
            f"{clients} clients",
            f"{bare:,.0f}" if bare else "",
            f"{rate:,.0f}",
            f"{rate / bare:.2f}" if bare else "",
            f"{keyed:,.0f}" if keyed else "",
            f"{figures.web_ms[clients]:.2f}",
        )
    Console().print(crowd)
    cost = Table("step", "waiting", "p50 ms", "server CPU ms", "WAL kB")
    for step, by_size in figures.costs.items():
        for size, costs in by_size.items():
            cost.add_row(
                step,
                f"{size:,}",
                f"{costs['p50_ms']:.2f}",
                f"{costs['server_ms']:.2f}",
                f"{costs['wal_kb']:.1f}",
            )
    Console().print(cost)
    reads = Table("waiting", "a person's position, ms", "replay, ms")
    for size, took in figures.position_ms.items():
        reads.add_row(f"{size:,}", f"{took:.1f}", f"{figures.replay_ms[size]:,.0f}")
    Console().print(reads)
    ends = Table("offers that end together, in", "seconds")
    for count, took in figures.deadlines_s.items():
        ends.add_row(f"{count:,} openings" if count > 1 else "one opening", f"{took:,.1f}")
    Console().print(ends)
    for goal in _goals(figures, sizes):
        print(line(goal, "hiring"))


def _goals(figures: HiringFigures, sizes: list[int]) -> Iterator[Goal]:
    yield Goal("overbooked", figures.overbooked, 0, at_most=True)
    for clients, rate in figures.applies.items():
        yield Goal(f"applies_{clients}", rate, 300)
        if clients in figures.bare:
            yield Goal(f"applies_{clients}_of_bare", rate / figures.bare[clients], 0.5)
    for clients, rate in figures.keyed_applies.items():
        yield Goal(f"keyed_{clients}_of_plain", rate / figures.applies[clients], 0.9)
    yield Goal("failed_applies", figures.failed_applies, 0, at_most=True)
    yield Goal("page_ms", figures.page_ms, 1_000, at_most=True)
    for count, took in figures.deadlines_s.items():
        yield Goal(f"deadlines_{count}_s", took, 60, at_most=True)
    for step, by_size in figures.costs.items():
        growth = by_size[sizes[-1]]["p50_ms"] / by_size[sizes[0]]["p50_ms"]
        yield Goal(f"{step}_growth", growth, 1.3, at_most=True)
        cpu = by_size[sizes[-1]]["server_ms"] / by_size[sizes[0]]["server_ms"]
        yield Goal(f"{step}_growth_cpu", cpu, 1.3, at_most=True)
    worst = max(costs["wal_kb"] for costs in figures.costs["withdraw"].values())
    yield Goal("withdraw_wal_kb", worst, 10, at_most=True)
    if figures.position_ms:
        yield Goal("position_ms", max(figures.position_ms.values()), 50, at_most=True)
    for size, took in figures.replay_ms.items():
        yield Goal(f"replay_{size}_ms", took, 100 if size <= 10_000 else 5_000, at_most=True)


if __name__ == "__main__":
    main()
