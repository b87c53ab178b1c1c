"""Measures every page over real HTTP, one web process, beside a million listings: how long a reader waits for it."""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import html
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import cast

import psycopg
from fastapi import FastAPI
from rich.console import Console
from rich.table import Table

from bench.pages import routes, world
from bench.pages.routes import Route
from evaluation.goal import Goal
from evaluation.run import line
from jobmill import app
from jobmill.db import connect
from jobmill.db.embedded import EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.demo import demo_profile
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.matching import profiles
from jobmill.people import secrets
from jobmill.settings import Settings
from jobmill.tools import Tools
from jobmill.web import site

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results" / "pages.json"
WARM_UPS = 2
WANTED_MS = 100
NEXT = re.compile(r'rel="next" href="([^"]+)"')
FILES = "files"
"""Whole downloads, which are no pages: asked for once, and held to nothing."""


@dataclass(frozen=True)
class Timed:
    group: str
    path: str
    status: int
    kilobytes: float
    cpu: float
    """Milliseconds of a core each, of the web process and the database: what a busy machine does not change much."""
    p50: float
    p95: float


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--times", type=int, default=20, help="how often each is asked for")
    asked.add_argument("--only", default="", help="pages that match this expression")
    asked.add_argument("--data", type=Path, help="a folder for the database, filled once and kept")
    options = asked.parse_args()
    sizes = world.Sizes()
    with tempfile.TemporaryDirectory() as scratch:
        data = options.data or Path(scratch, "postgres")
        with EmbeddedServer(data, durable=False).use() as url:
            token = asyncio.run(_prepare(url, sizes))
            with _served(url) as server:
                server.postmaster = int((data / "postmaster.pid").read_text().split()[0])
                before = os.getloadavg()
                found = list(_walk(server, sizes, token, options.times, options.only))
                unseen = asyncio.run(_missed(url, [one.path for one in found]))
    _print(found)
    loads = [before[0], os.getloadavg()[0]]
    print(f"load average at the start and the end: {loads[0]:.1f}, {loads[1]:.1f}")
    for goal in _goals(found, [] if options.only else unseen):
        print(line(goal, "pages"))
    if not options.only:
        told = {"loads": loads, "sizes": asdict(sizes), "pages": [asdict(one) for one in found]}
        RESULTS.write_text(json.dumps(told, indent=1) + "\n")


async def _prepare(url: str, sizes: world.Sizes) -> str:
    """Fill the database where it is new; the link of somebody who applied twice."""
    async with connect(url) as database:
        async with database.transaction() as tx:
            await migrate(tx)
            is_new = not await profiles.find_all(tx)
        if is_new:
            await app.declare_stages(Tools(database), Settings())
            async with database.transaction() as tx:
                await profiles.save(tx, demo_profile.NAME, demo_profile.PROFILE)
            began = time.perf_counter()
            with psycopg.connect(url, autocommit=True) as connection:
                world.fill(connection, sizes)
            print(f"filled in {time.perf_counter() - began:.0f} s")
        async with database.transaction() as tx:
            return LinkSigner(await secrets.get_signing_key(tx)).sign_personal(
                20_000, 1, dt.datetime.now(dt.UTC)
            )


async def _missed(url: str, walked: list[str]) -> list[str]:
    async with connect(url, size=1) as database:
        return routes.missed(cast(FastAPI, site.create_app(database).app), walked)


@dataclass
class Server:
    port: int
    web: int
    """Its process."""
    postmaster: int = 0

    def seconds(self) -> float:
        """What both have used of a core so far."""
        first = self.postmaster
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return sum(_seconds(pid) for pid in (self.web, first, *map(int, children)))


def _seconds(pid: int) -> float:
    """What a process, and those of its children that have ended, have used."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _served(url: str) -> Iterator[Server]:
    """A process of its own, so that whoever asks takes nothing from it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        given = listener.fileno()
        serving = subprocess.Popen(
            [sys.executable, "-m", "bench.pages.serve", url, str(given)], cwd=ROOT, pass_fds=[given]
        )
        try:
            yield Server(int(listener.getsockname()[1]), serving.pid)
        finally:
            serving.terminate()
            serving.wait()


def _walk(server: Server, sizes: world.Sizes, token: str, times: int, only: str) -> Iterator[Timed]:
    for route in routes.walk(sizes, token):
        if not re.search(only, route.path):
            continue
        more = yield from _time(server, route, times)
        if more and route.pages:
            yield from _time(server, replace(route, path=more), times)


def _time(server: Server, route: Route, times: int) -> Generator[Timed, None, str | None]:
    """Gives the path of the next page, if there is one."""
    moment = dt.datetime.now(dt.UTC) - dt.timedelta(days=10)
    path = route.path.replace("MOMENT", f"{moment:%Y-%m-%dT%H:%M}")
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    took: list[float] = []
    status, size = 0, 0
    used = 0.0
    warm_ups, times = (0, 1) if route.group == FILES else (WARM_UPS, times)
    for turn in range(warm_ups + times):
        used = server.seconds() if turn == warm_ups else used
        began = time.perf_counter()
        # As browsers ask: packing the page is a part of its price.
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        size, status = len(answer.read()), answer.status
        took.append(1000 * (time.perf_counter() - began))
    cpu = 1000 * (server.seconds() - used) / times
    connection.request("GET", path)
    text = connection.getresponse().read().decode()
    connection.close()
    last = sorted(took[warm_ups:])
    p95 = last[max(0, round(0.95 * len(last)) - 1)]
    yield Timed(route.group, path, status, size / 1000, cpu, statistics.median(last), p95)
    following = NEXT.search(text)
    return html.unescape(following[1]) if following else None


def _print(found: list[Timed]) -> None:
    table = Table("page", "status", "kB sent", "CPU ms", "p50 ms", "p95 ms")
    for one in found:
        figures = [f"{one:.1f}" for one in (one.kilobytes, one.cpu, one.p50, one.p95)]
        table.add_row(one.path[:90], str(one.status), *figures)
    Console(width=140).print(table)


def _goals(found: list[Timed], unseen: list[str]) -> Iterator[Goal]:
    pages = [one for one in found if one.group != FILES]
    for group in sorted({one.group for one in pages}):
        worst = max(one.p95 for one in pages if one.group == group)
        yield Goal(f"{group}_p95_ms", worst, WANTED_MS, at_most=True)
    if pages:
        yield Goal("worst_p95_ms", max(one.p95 for one in pages), WANTED_MS, at_most=True)
        yield Goal("worst_cpu_ms", max(one.cpu for one in pages), WANTED_MS, at_most=True)
    # 503 is the honest answer of a place where no worker runs.
    yield Goal("broken", sum(one.status == 500 for one in found), 0, at_most=True)
    yield Goal("not_walked", len(unseen), 0, at_most=True)
    for path in unseen:
        print(f"nobody walks {path}")


if __name__ == "__main__":
    main()
