from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from jobmill import app, queue
from jobmill.cli.servers.listener import is_local, listen
from jobmill.cli.servers.worker import choose_phases
from jobmill.db import Database
from jobmill.db.embedded import EmbeddedServer
from jobmill.errors import Invalid
from jobmill.queue import Finish, Move, NewItem, Stage, Stages, Work, inspect
from jobmill.settings import Settings
from tests.cli import forked
from tests.cli.forked import ForkedCommand, as_url
from tests.cli.test_queue import Run
from tests.people.helpers import PASSWORD, make_person
from tests.queue.helpers import fetch

HTML = {"Accept": "text/html"}


class Running:
    """A running `jobmill` process and what it prints."""

    def __init__(self, words: tuple[str, ...], folder: Path, variables: dict[str, str]) -> None:
        self.errors = folder / f"{'-'.join(words).replace('/', '-')}.err"
        self.process = ForkedCommand(words, folder, variables, self.errors)
        self.lines: dict[str, str] = {}

    def up(self) -> Running:
        """Wait until it prints how to stop it."""
        for line in self.process.stdout:
            name, _, text = line.strip().partition(" ")
            self.lines[name] = text.strip()
            if name == "stop":
                return self
        pytest.fail(self.errors.read_text())

    def client(self, **options: Any) -> httpx2.AsyncClient:
        """A client that opens the printed link."""
        link = self.lines["page"]
        cookies = httpx2.get(link, timeout=30).cookies
        return httpx2.AsyncClient(
            base_url=httpx2.URL(link).join("/"), cookies=cookies, timeout=30, **options
        )

    def tell(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def ended(self, within: float = 60.0) -> int:
        return self.process.wait(within)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


Start = Callable[..., Running]


@pytest.fixture
def variables(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "JOBMILL_WEB_PORT": "0"}


@pytest.fixture
def run(home: Path, variables: dict[str, str]) -> Run:
    """Runs `jobmill …` until it exits."""

    def call(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return forked.jobmill(*words, folder=home, variables=variables | more)

    return call


@pytest.fixture
def start(home: Path, variables: dict[str, str]) -> Iterator[Start]:
    """Starts `jobmill …`; processes that still run at the end are killed."""
    started: list[Running] = []

    def call(*words: str, **more: str) -> Running:
        started.append(Running(words, home, variables | more))
        return started[-1]

    yield call
    for running in started:
        running.close()


@pytest.fixture
def on(url: str) -> dict[str, str]:
    return {"DATABASE_URL": as_url(url)}


async def until(true: Callable[[], Awaitable[Any]], within: float = 60.0) -> Any:
    """Call `true` until its result is truthy, and return that."""
    deadline = time.monotonic() + within
    while not (answer := await true()):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
    return answer


async def status(client: httpx2.AsyncClient, path: str) -> int:
    return (await client.get(path, headers=HTML)).status_code


async def test_up_starts_everything_and_ctrl_c_stops_it(start: Start, home: Path) -> None:
    # The options of the command win over the settings.
    settings = {"JOBMILL_DATA_DIR": str(home / "data"), "JOBMILL_WEB_HOST": "127.0.0.9"}
    process = start("up", "--no-demo", "--host", "localhost", "--port", "0", **settings).up()
    assert "//localhost:" in process.lines["page"]
    assert str(home / "data" / "postgres") in process.lines["database"]
    assert "upkeep: " in process.lines["work"]
    async with process.client() as client:
        assert await status(client, "/today") == 200

        async def ready() -> bool:
            return (await client.get("/readyz")).json()["ready"]

        await until(ready)
        assert await status(client, "/readyz") == 200
    process.tell(signal.SIGINT)
    assert process.ended() == 0
    assert not EmbeddedServer(home / "data" / "postgres").status().running
    # /readyz logs a warning until the worker has checked schedules and deadlines.
    logged = [line for line in process.errors.read_text().splitlines() if "/readyz" not in line]
    assert logged == ["Stopping; Ctrl-C again stops at once."]


async def test_up_starts_a_demo_and_restarts_without_it(
    start: Start, on: dict[str, str], database: Database
) -> None:
    process = start("up", **on).up()
    assert "fictional" in process.lines["demo"]
    async with process.client() as client:
        ended = await client.post("/demo/end", data={"confirmed": "yes"}, headers=HTML)
        assert (ended.status_code, ended.headers["location"]) == (303, "/setup")
        # The server restarts meanwhile; requests wait at the same address.
        another = httpx2.AsyncClient(base_url=client.base_url, cookies=client.cookies, timeout=30)

        async def opens() -> bool:
            # A connection that the old server had accepted is reset; browsers connect again.
            with contextlib.suppress(httpx2.ReadError, httpx2.RemoteProtocolError):
                return await status(another, "/today") == 200
            return False

        async with another:
            await until(opens)
    process.tell()
    assert process.ended() == 0
    assert await fetch(database, "SELECT count(*) FROM catalog.company") == [0]
    process = start("up", **on).up()
    assert "demo" not in process.lines
    process.tell()
    assert process.ended() == 0


async def test_open_admits_the_browser_without_showing_the_link_to_other_users(
    start: Start, run: Run, on: dict[str, str], home: Path
) -> None:
    assert run("open").returncode == 5
    process = start("web", **on).up()
    for output in ("--print", "--json"):
        done = run("open", output)
        link = json.loads(done.stdout)["url"] if output == "--json" else done.stdout.strip()
        process.lines["page"] = link
        async with process.client() as client:
            assert await status(client, "/today") == 200
    browser = home / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > "{home}/arguments"\n')
    browser.chmod(0o700)
    assert run("open", BROWSER=str(browser)).returncode == 0
    arguments = (home / "arguments").read_text()
    assert "token" not in arguments
    page = Path(arguments.strip().removeprefix("file://"))
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert f"{httpx2.URL(link).join('/')}sign-in/local?token=" in page.read_text()
    process.tell()
    assert process.ended() == 0
    assert run("open").returncode == 5


async def test_up_runs_the_queue_and_leaves_no_item_processing(
    start: Start, on: dict[str, str], database: Database
) -> None:
    process = start("up", "--no-demo", **on).up()
    async with database.transaction() as tx:
        await queue.submit_all(tx, [NewItem("upkeep", "prune", f"x{n}") for n in range(20)])

    async def done() -> bool:
        # Items of the schedules count, too.
        [n] = await fetch(database, "SELECT count(*) FROM queue.ending WHERE status = 'SUCCESS'")
        return n >= 20 and await fetch(database, "SELECT count(*) FROM queue.live") == [0]

    await until(done)
    process.tell()
    assert process.ended() == 0
    assert await fetch(database, "SELECT count(*) FROM queue.live") == [0]
    async with database.transaction() as tx:
        assert await inspect.list_workers(tx) == []


async def running(database: Database) -> list[Any]:
    return await fetch(database, "SELECT id FROM queue.live WHERE status = 'PROCESSING'")


async def test_a_stopped_worker_finishes_running_items(
    start: Start, on: dict[str, str], database: Database
) -> None:
    process = start("worker", "--only", "upkeep/prune", **on).up()
    async with database.transaction() as tx:
        # Pruning waits for this lock.
        await tx.execute("LOCK TABLE queue.ending IN SHARE MODE")
        await until(lambda: running(database))
        process.tell()
        with pytest.raises(subprocess.TimeoutExpired):
            process.ended(within=0.5)
    assert process.ended() == 0
    pruned = "SELECT status FROM queue.items WHERE stage = 'prune'"
    assert await fetch(database, pruned) == ["SUCCESS"]


async def test_a_second_ctrl_c_stops_immediately_without_losing_items(
    start: Start, on: dict[str, str], database: Database
) -> None:
    process = start("worker", "--only", "upkeep/prune", **on).up()
    async with database.transaction() as tx:
        await tx.execute("LOCK TABLE queue.ending IN SHARE MODE")
        [id] = await until(lambda: running(database))
        process.tell(signal.SIGINT)
        await asyncio.sleep(0.3)
        process.tell(signal.SIGINT)
        assert process.ended() == 130
    assert "Stopped at once" in process.errors.read_text()
    another = start("worker", **on).up()

    async def done() -> bool:
        return await fetch(database, "SELECT status FROM queue.items WHERE id = %s", [id]) == [
            "SUCCESS"
        ]

    await until(done)
    another.tell()
    assert another.ended() == 0


async def test_a_crashed_service_stops_the_others(
    start: Start, on: dict[str, str], database: Database
) -> None:
    async with database.transaction() as tx:
        # A worker that has registered would wait for its table to return.
        await tx.execute("LOCK TABLE queue.worker")
        process = start("up", "--no-demo", **on).up()
        await tx.execute("ALTER TABLE queue.worker RENAME TO workers")
    assert process.ended() == 1
    last = process.errors.read_text().splitlines()[-1]
    assert last.startswith("jobmill: the worker crashed: UndefinedTable")
    assert last.endswith("everything was stopped")


async def test_pages_survive_a_restart_of_the_database(start: Start, home: Path) -> None:
    server = EmbeddedServer(home / "postgres", durable=False)
    with server.use() as url:
        process = start("web", DATABASE_URL=url).up()
        async with process.client() as client:
            assert await status(client, "/today") == 200
            server.stop()
            pages = ("/today", "/readyz", "/metrics", "/healthz")
            away = await asyncio.gather(*(client.get(page, headers=HTML) for page in pages))
            assert [answer.status_code for answer in away] == [503, 503, 503, 200]
            assert "Temporarily unavailable" in away[0].text
            assert away[1].json()["parts"] == {
                "database": {"ok": False, "detail": "does not respond"}
            }
            server.start()

            async def back() -> bool:
                return await status(client, "/today") == 200

            await until(back, within=20)
            assert await status(client, "/readyz") == 200
        process.tell()
        assert process.ended() == 0


async def test_the_web_process_raises_an_alert_when_all_workers_are_dead(
    start: Start, on: dict[str, str], database: Database
) -> None:
    async with database.transaction() as tx:
        await tx.execute("INSERT INTO queue.tick VALUES ('scheduler', now() - interval '1 h')")
    process = start("web", **on).up()
    assert await until(lambda: fetch(database, "SELECT rule FROM queue.alert")) == ["scheduler"]
    process.tell()
    assert process.ended() == 0


async def test_nothing_starts_without_its_database(run: Run) -> None:
    for command in ("up", "web", "worker"):
        done = run(command, DATABASE_URL="postgresql://127.0.0.1:1/x")
        assert done.returncode == 5
        assert done.stderr.startswith("jobmill: no PostgreSQL server answers")


async def test_a_draining_worker_runs_due_items_and_exits(
    run: Run, on: dict[str, str], database: Database
) -> None:
    submit = ("queue", "submit", "upkeep", "prune")
    for key, delay in (("now", "0"), ("later", "60")):
        assert run(*submit, key, "--delay", delay, **on).returncode == 0
    done = run("worker", "--drain", "--only", "upkeep/prune", **on)
    assert done.returncode == 0
    assert done.stdout.endswith("nothing is left that is due\n")
    left = await fetch(database, "SELECT key FROM queue.live JOIN queue.item USING (id)")
    # A schedule may add an item at any time, also after the last check.
    recurring = {schedule.new.key for schedule in app.SCHEDULES}
    assert set(left) - recurring == {"later"}


def test_an_unknown_phase_is_refused(run: Run, on: dict[str, str]) -> None:
    done = run("worker", "--only", "tea/boil", **on)
    assert done.returncode == 2
    assert "known phases: company/fetch, " in done.stderr
    assert ", upkeep/prune" in done.stderr


async def end(work: Work) -> Move:
    return Finish()


def test_phases_are_chosen_by_name_or_by_kind() -> None:
    boil, steep, find = ("tea", "boil"), ("tea", "steep"), ("cup", "find")
    stages: Stages = dict.fromkeys([boil, steep, find], Stage(end))
    assert choose_phases(stages, ["tea/steep"]) == [steep]
    assert choose_phases(stages, ["tea", "tea/boil", "cup/find"]) == [boil, steep, find]
    with pytest.raises(Invalid, match="tea/pour"):
        choose_phases(stages, ["tea/pour"])


def test_a_port_in_use_is_reported_with_its_setting(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for command in ("up", "web"):
            done = run(command, JOBMILL_WEB_PORT=port)
            assert done.returncode == 5
            assert f"127.0.0.1:{port}: Address already in use" in done.stderr
            assert "JOBMILL_WEB_PORT" in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_listening_on_all_addresses_requires_host_names(host: str, run: Run) -> None:
    for command in ("up", "web"):
        done = run(command, JOBMILL_WEB_HOST=host)
        assert done.returncode == 2
        assert f"web_host is {host}, which means all addresses" in done.stderr
        assert "JOBMILL_WEB_NAMES" in done.stderr


@pytest.mark.parametrize(
    "more",
    [
        {"JOBMILL_WEB_HOST": "0.0.0.0", "JOBMILL_WEB_NAMES": "mill.example"},
        {"JOBMILL_WEB_NAMES": "mill.example"},
        {"JOBMILL_TRUSTED_PROXIES": "127.0.0.1"},
    ],
)
def test_nothing_is_served_to_other_machines_before_there_is_an_admin(
    more: dict[str, str], run: Run, on: dict[str, str]
) -> None:
    for command in ("up", "web"):
        done = run(command, **on, **more)
        assert done.returncode == 5
        assert "`jobmill person add NAME EMAIL --role admin`" in done.stderr
        assert "running" not in done.stdout


async def test_other_machines_are_served_once_an_admin_can_sign_in(
    start: Start, on: dict[str, str], database: Database
) -> None:
    person = await make_person(database, role="admin")
    process = start(
        "web", JOBMILL_WEB_HOST="0.0.0.0", JOBMILL_WEB_NAMES="mill.example,127.0.0.1", **on
    ).up()
    assert process.lines["page"].startswith("http://mill.example:")
    port = httpx2.URL(process.lines["page"]).port
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        # Requests from this machine are treated like all others.
        assert await status(client, "/today") == 303
        assert await status(client, "/healthz") == 200
        body = {"email": person.email, "password": PASSWORD}
        assert (await client.post("/api/session", json=body)).status_code == 200
        assert await status(client, "/today") == 200
        stranger = await client.get("/healthz", headers={"Host": "0.0.0.1"})
        assert stranger.status_code == 400
    process.tell()
    assert process.ended() == 0


@pytest.mark.parametrize(
    ("settings", "local"),
    [
        ({}, True),
        ({"web_host": "127.0.0.2"}, True),
        ({"web_host": "localhost"}, True),
        ({"web_names": "mill.example"}, False),
        ({"public_url": "https://mill.example/"}, False),
        ({"public_url": "http://localhost:8000/"}, True),
        ({"trusted_proxies": "127.0.0.1"}, False),
        ({"web_host": "0.0.0.0", "web_names": "localhost"}, False),
    ],
)
def test_pages_are_local_only_on_a_loopback_address(settings: dict[str, str], local: bool) -> None:
    read = Settings.model_validate({"web_port": 0} | settings)
    with listen(read) as listener:
        assert is_local(listener, read) is local


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost"])
def test_pages_are_served_to_this_machine(host: str) -> None:
    with listen(Settings(web_host=host, web_port=0)) as listener:
        assert listener.getsockname()[1] > 0
