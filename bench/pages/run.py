"""Measures the response time of every page over real HTTP, with one web process and a million
listings."""

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

import psycopg
from psycopg.conninfo import make_conninfo
from rich.console import Console
from rich.table import Table

from bench import cpu_time
from bench.pages import routes, sample_database
from bench.pages.routes import Route
from evaluation.goal import Goal
from evaluation.run import line
from jobmill import app
from jobmill.db import connect
from jobmill.db.embedded import ADMIN, EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.demo import demo_profile
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.matching import profiles
from jobmill.people import secrets
from jobmill.settings import Settings
from jobmill.tools import Tools
from jobmill.web.local_access import KEY_BYTES, LocalAccess, cookie_name

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results" / "pages.json"
WARM_UPS = 2
TARGET_MS = 100
NEXT = re.compile(r'rel="next" href="([^"]+)"')
OTHER_STATUSES = {
    "/activity/resume?phase=listing": 409,
    "/offer/none": 400,
    "/people/keys": 303,
    "/readyz": 503,
}
"""Nothing is paused, the link is invalid, an old address is redirected, and no worker runs."""
FILES = "files"
"""Downloads, which are requested once and have no goal."""


@dataclass(frozen=True)
class TimedPage:
    group: str
    path: str
    status: int
    kilobytes: float
    cpu: float
    """Milliseconds of processor time per request, of the web process and the database; a busy
    machine hardly changes it."""
    p50: float
    p95: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20, help="how often each is asked for")
    parser.add_argument("--only", default="", help="pages that match this expression")
    parser.add_argument("--data", type=Path, help="a folder for the database, filled once and kept")
    options = parser.parse_args()
    sizes = sample_database.Sizes()
    with tempfile.TemporaryDirectory() as scratch:
        data = options.data or Path(scratch, "postgres")
        with EmbeddedServer(data, durable=False).use() as url:
            token = asyncio.run(_prepare(url, sizes))
            with _served(url) as server:
                server.postmaster = cpu_time.postmaster_pid(data)
                before = os.getloadavg()
                pages = list(_walk(server, sizes, token, options.times, options.only))
                unvisited = routes.missed([page.path for page in pages])
    _print(pages)
    loads = [before[0], os.getloadavg()[0]]
    print(f"load average at the start and the end: {loads[0]:.1f}, {loads[1]:.1f}")
    for goal in _goals(pages, [] if options.only else unvisited):
        print(line(goal, "pages"))
    if not options.only:
        results = {
            "loads": loads,
            "sizes": asdict(sizes),
            "pages": [asdict(page) for page in pages],
        }
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


async def _prepare(url: str, sizes: sample_database.Sizes) -> str:
    """Fill the database if it is new; returns the personal link of an applicant with two
    applications."""
    async with connect(url) as database:
        async with database.transaction() as tx:
            await migrate(tx)
            is_new = not await profiles.find_all(tx)
        if is_new:
            await app.declare_stages(Tools(database), Settings())
            async with database.transaction() as tx:
                await profiles.save(tx, demo_profile.NAME, demo_profile.ENGINEER)
            began = time.perf_counter()
            with psycopg.connect(make_conninfo(url, user=ADMIN), autocommit=True) as connection:
                sample_database.fill(connection, sizes)
            print(f"filled in {time.perf_counter() - began:.0f} s")
        async with database.transaction() as tx:
            return LinkSigner(await secrets.get_signing_key(tx)).sign_personal(
                20_000, 1, dt.datetime.now(dt.UTC)
            )


@dataclass
class WebServer:
    port: int
    web: int
    """Its process."""
    cookie: str
    """Cookie of local access."""
    postmaster: int = 0

    def seconds(self) -> float:
        """The processor time of the web process and of the database."""
        return cpu_time.process_seconds(self.web) + cpu_time.server_seconds(self.postmaster)


@contextmanager
def _served(url: str) -> Iterator[WebServer]:
    """Serve the site in a separate process, so that the client uses none of its processor time."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        socket_number = listener.fileno()
        port = int(listener.getsockname()[1])
        key = os.urandom(KEY_BYTES)
        serving = subprocess.Popen(
            [sys.executable, "-m", "bench.pages.serve", url, str(socket_number), key.hex()],
            cwd=ROOT,
            pass_fds=[socket_number],
        )
        try:
            cookie = f"{cookie_name(port)}={LocalAccess(key).create_cookie()}"
            yield WebServer(port, serving.pid, cookie)
        finally:
            serving.terminate()
            serving.wait()


def _walk(
    server: WebServer, sizes: sample_database.Sizes, token: str, times: int, only: str
) -> Iterator[TimedPage]:
    for route in routes.walk(sizes, token):
        if not re.search(only, route.path):
            continue
        more = yield from _time(server, route, times)
        if more and route.pages:
            yield from _time(server, replace(route, path=more), times)


def _time(server: WebServer, route: Route, times: int) -> Generator[TimedPage, None, str | None]:
    """Yield the timing of a page; returns the path of its next page, if there is one."""
    moment = dt.datetime.now(dt.UTC) - dt.timedelta(days=10)
    path = route.path.replace("MOMENT", f"{moment:%Y-%m-%dT%H:%M}")
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    headers = {"Cookie": server.cookie}
    took: list[float] = []
    status, size = 0, 0
    used = 0.0
    warm_ups, times = (0, 1) if route.group == FILES else (WARM_UPS, times)
    for turn in range(warm_ups + times):
        used = server.seconds() if turn == warm_ups else used
        began = time.perf_counter()
        # As browsers do: compressing the page is part of its cost.
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"} | headers)
        answer = connection.getresponse()
        size, status = len(answer.read()), answer.status
        took.append(1000 * (time.perf_counter() - began))
    cpu = 1000 * (server.seconds() - used) / times
    connection.request("GET", path, headers=headers)
    text = connection.getresponse().read().decode()
    connection.close()
    last = sorted(took[warm_ups:])
    p95 = last[max(0, round(0.95 * len(last)) - 1)]
    yield TimedPage(route.group, path, status, size / 1000, cpu, statistics.median(last), p95)
    following = NEXT.search(text)
    return html.unescape(following[1]) if following else None


def _print(timed_pages: list[TimedPage]) -> None:
    table = Table("page", "status", "kB sent", "CPU ms", "p50 ms", "p95 ms")
    for page in timed_pages:
        figures = [f"{page:.1f}" for page in (page.kilobytes, page.cpu, page.p50, page.p95)]
        table.add_row(page.path[:90], str(page.status), *figures)
    Console(width=140).print(table)


def _goals(timed_pages: list[TimedPage], unvisited: list[str]) -> Iterator[Goal]:
    pages = [page for page in timed_pages if page.group != FILES]
    for group in sorted({page.group for page in pages}):
        worst = max(page.p95 for page in pages if page.group == group)
        yield Goal(f"{group}_p95_ms", worst, TARGET_MS, at_most=True)
    if pages:
        yield Goal("worst_p95_ms", max(page.p95 for page in pages), TARGET_MS, at_most=True)
        yield Goal("worst_cpu_ms", max(page.cpu for page in pages), TARGET_MS, at_most=True)
    broken = [page for page in timed_pages if page.status != OTHER_STATUSES.get(page.path, 200)]
    for page in broken:
        print(f"broken: {page.path}: {page.status}")
    yield Goal("broken", len(broken), 0, at_most=True)
    yield Goal("not_walked", len(unvisited), 0, at_most=True)
    for path in unvisited:
        print(f"not visited: {path}")


if __name__ == "__main__":
    main()
