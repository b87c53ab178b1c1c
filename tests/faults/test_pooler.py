"""The product behind PgBouncer in transaction mode: pages through it, everything else around it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from fastapi import APIRouter
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

import jobmill
from jobmill.cli.support import environment
from jobmill.db import Database, connect, redact_passwords
from jobmill.errors import Unavailable
from jobmill.queue import Finish, Move, Work, Worker
from jobmill.settings import Settings
from jobmill.web import site as pages
from jobmill.web.dependencies import Db
from jobmill.web.workspace_menus import all_workspaces
from tests.cli import forked
from tests.cli.forked import as_url
from tests.cli.test_serve import Running
from tests.faults.pgbouncer import SERVER_CONNECTIONS, count_transactions, pgbouncer
from tests.hiring.helpers import make_opening
from tests.queue.helpers import SOON, fetch, new, put, stages
from tests.web.api.helpers import apply, make_job
from tests.web.conftest import served
from tests.web.helpers import site_with
from tests.web.test_every_route import RouteTester, routes
from tests.web.test_live_updates import words

CONCURRENT_REQUESTS = 8


@pytest.fixture
def pooler_url(url: str, home: Path) -> Iterator[str]:
    name = str(conninfo_to_dict(url)["dbname"])
    with psycopg.connect(url, autocommit=True) as connection:
        # Wrong server defaults show whether each transaction sets its own values.
        statement = sql.SQL("ALTER DATABASE {} SET timezone = 'Pacific/Kiritimati'")
        connection.execute(statement.format(sql.Identifier(name)))
    with pgbouncer(url, home / "pgbouncer") as pooler_url:
        yield pooler_url


@pytest.fixture
def pooled(url: str, pooler_url: str) -> Settings:
    return Settings(database_url=pooler_url, database_pooler="transaction", database_direct_url=url)


@pytest.fixture
async def direct_database(pooled: Settings) -> AsyncIterator[Database]:
    """The connection of workers and commands."""
    async with environment.open_database(pooled) as database:
        yield database


@pytest.fixture
async def web_database(pooled: Settings, direct_database: Database) -> AsyncIterator[Database]:
    """The connection of web pages."""
    async with environment.open_web_database(pooled, direct_database) as database:
        yield database


@pytest.fixture
def variables(home: Path, pooled: Settings) -> dict[str, str]:
    """The environment of a command."""
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        # The commands run the code of this checkout, wherever they are started.
        "PYTHONPATH": str(Path(jobmill.__file__).parents[1]),
        "JOBMILL_WEB_PORT": "0",
        "DATABASE_URL": pooled.database_url,
        "JOBMILL_DATABASE_POOLER": "transaction",
        "JOBMILL_DATABASE_DIRECT_URL": as_url(pooled.database_direct_url),
    }


async def test_a_direct_connection_fails_at_the_pooler(pooler_url: str) -> None:
    """Shows why the setting exists."""
    with pytest.raises(Unavailable, match=r"unsupported startup parameter.*options"):
        async with connect(pooler_url):
            pass


async def test_every_page_is_served_through_two_server_connections(
    web_database: Database,
) -> None:
    async with served(
        pages.create_app(web_database, local=True, public_per_minute=100_000)
    ) as client:
        job = await make_job(client)
        application = await apply(client, job)
        ids = {
            "job_id": job,
            "opening_id": job,
            "applicant_id": application["applicantId"],
            "application_id": application["applicationId"],
        }
        world = RouteTester(ids, client, {})
        paths = [
            world.url(route)
            for route in routes()
            if route.method == "GET" and route.path != "/live"
        ]
        answers = await ask(client, paths * 2)
    assert [answer for answer in answers if answer[1] >= 500] == []
    assert sum(status == 200 for _, status in answers) > 2 * 40


async def test_frequently_requested_pages_use_no_prepared_statements(
    pooled: Settings, direct_database: Database
) -> None:
    paths = [entry.path for workspace in all_workspaces() for entry in workspace.entries]
    # The driver would prepare a statement that a connection runs for the sixth time.
    paths = [path for path in paths for _ in range(30)]
    async with (
        environment.open_web_database(pooled, direct_database, size=3) as database,
        served(pages.create_app(database, local=True)) as client,
    ):
        answers = await ask(client, paths)
    assert Counter(status for _, status in answers) == {200: len(paths)}


async def ask(client: httpx2.AsyncClient, paths: Iterable[str]) -> list[tuple[str, int]]:
    """The status of each page, several at a time.

    Two server connections may be too few for a busy machine: a page then asks to be requested again.
    """
    limit = asyncio.Semaphore(CONCURRENT_REQUESTS)

    async def get(path: str) -> tuple[str, int]:
        async with limit:
            while (answer := await client.get(path)).status_code == 503:
                pass
            return path, answer.status_code

    return await asyncio.gather(*(get(path) for path in paths))


async def test_a_pooler_in_session_mode_works_with_the_same_settings(url: str, home: Path) -> None:
    with pgbouncer(url, home / "session", pool_mode="session", server_connections=8) as pooler_url:
        with pytest.raises(Unavailable, match=r"unsupported startup parameter.*options"):
            async with connect(pooler_url):
                pass
        async with (
            connect(pooler_url, direct_url=url) as database,
            served(pages.create_app(database, local=True)) as client,
        ):
            answers = await asyncio.gather(*(client.get("/activity") for _ in range(40)))
    assert {answer.status_code for answer in answers} == {200}


async def test_each_transaction_of_a_page_has_the_session_settings(web_database: Database) -> None:
    router = APIRouter()

    @router.get("/session-settings")
    async def show(db: Db) -> list[tuple[str, str, int]]:
        async with db.transaction() as tx:
            # Keep the server connection, so that concurrent requests use the other.
            await tx.execute("SELECT pg_sleep(0.02)")
            return await fetch(
                tx,
                """
                SELECT current_setting('timezone'),
                       current_setting('idle_in_transaction_session_timeout'), pg_backend_pid()
                """,
            )

    async with site_with(web_database, router, local=True) as client:
        answers = await asyncio.gather(*(client.get("/session-settings") for _ in range(20)))
    rows = [row for answer in answers for row in answer.json()]
    assert {(timezone, timeout) for timezone, timeout, _ in rows} == {("UTC", "48s")}
    assert len({pid for _, _, pid in rows}) == SERVER_CONNECTIONS


async def test_a_setting_of_one_page_does_not_reach_the_next(
    web_database: Database, pooler_url: str
) -> None:
    async with web_database.transaction(by="ada") as tx:
        assert await fetch(tx, "SELECT current_setting('jobmill.actor')") == ["ada"]
    with psycopg.connect(pooler_url, prepare_threshold=None, autocommit=True) as connection:
        for _ in range(10):
            cursor = connection.execute("SELECT current_setting('timezone')")
            assert cursor.fetchone() == ("Pacific/Kiritimati",)
            cursor = connection.execute("SELECT current_setting('jobmill.actor', true)")
            assert cursor.fetchone() in [(None,), ("",)]


async def test_a_worker_uses_up_no_retry_while_pages_use_the_pooler(
    direct_database: Database, web_database: Database
) -> None:
    async def run(work: Work) -> Move:
        return Finish()

    table = stages(tea=run)
    items = [new("tea", f"cup-{number}") for number in range(200)]
    await put(direct_database, table, *items)
    async with served(pages.create_app(web_database, local=True)) as client:
        worker = Worker(direct_database, table, lease=SOON)
        working = asyncio.create_task(worker.drain())
        statuses = [(await client.get("/activity")).status_code for _ in range(20)]
        assert await working == len(items)
    assert set(statuses) == {200}
    rows = await fetch(
        direct_database, "SELECT status::text, retry_count, attempts FROM queue.items"
    )
    assert Counter(rows) == {("SUCCESS", 0, 1): len(items)}


async def test_a_worker_on_the_database_of_the_pages_claims_and_settles_directly(
    direct_database: Database, web_database: Database
) -> None:
    async def run(work: Work) -> Move:
        return Finish()

    table = stages(tea=run)
    await put(direct_database, table, *(new("tea", f"cup-{number}") for number in range(20)))
    assert await Worker(web_database, table).drain() == 20
    rows = await fetch(direct_database, "SELECT status::text, retry_count FROM queue.items")
    assert Counter(rows) == {("SUCCESS", 0): 20}


async def test_open_pages_receive_changes(
    web_database: Database, direct_database: Database
) -> None:
    async with (
        served(pages.create_app(web_database, local=True)) as client,
        client.stream("GET", "/live?topic=hiring") as stream,
    ):
        events = words(stream)
        async with asyncio.timeout(10):
            assert await anext(events) == "hiring"
            for database in (direct_database, web_database):
                async with database.transaction() as tx:
                    await make_opening(tx)
                assert await anext(events) == "hiring"


def run(variables: dict[str, str], home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return forked.jobmill(*arguments, folder=home, variables=variables)


def checks(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return {check["subject"]: check for check in json.loads(done.stdout)}


def test_doctor_checks_the_pooler_and_the_server(variables: dict[str, str], home: Path) -> None:
    results = checks(run(variables, home, "doctor", "--json"))
    assert results["database"]["result"] == "ok"
    assert results["database"]["finding"].endswith("answers at database_direct_url")
    assert results["connection pooler"]["result"] == "ok"
    assert "the same database" in results["connection pooler"]["finding"]


def test_doctor_distinguishes_a_dead_pooler_from_a_dead_server(
    variables: dict[str, str], home: Path
) -> None:
    nowhere = "postgresql://me:s3cret@127.0.0.1:1/x"
    done = run(variables | {"DATABASE_URL": nowhere}, home, "doctor", "--json")
    results = checks(done)
    assert done.returncode == 1
    assert (results["database"]["result"], results["connection pooler"]["result"]) == ("ok", "fail")
    done = run(variables | {"JOBMILL_DATABASE_DIRECT_URL": nowhere}, home, "doctor", "--json")
    results = checks(done)
    assert done.returncode == 1
    assert (results["database"]["result"], results["connection pooler"]["result"]) == ("fail", "ok")
    assert results["database"]["advice"] == "check database_direct_url and the server"
    assert "s3cret" not in done.stdout


def test_doctor_refuses_a_pooler_in_statement_mode(
    variables: dict[str, str], home: Path, url: str
) -> None:
    with pgbouncer(url, home / "statement", pool_mode="statement") as pooler_url:
        done = run(variables | {"DATABASE_URL": pooler_url}, home, "doctor", "--json")
    check = checks(done)["connection pooler"]
    assert (done.returncode, check["result"]) == (1, "fail")
    assert "statement pooling" in check["finding"]
    assert "pool_mode" in check["advice"]


def test_doctor_notices_two_different_databases(
    variables: dict[str, str], home: Path, server: str
) -> None:
    done = run(
        variables | {"JOBMILL_DATABASE_DIRECT_URL": as_url(server)}, home, "doctor", "--json"
    )
    assert done.returncode == 1
    assert "different databases" in checks(done)["connection pooler"]["finding"]


def test_commands_bypass_the_pooler(variables: dict[str, str], home: Path, url: str) -> None:
    assert run(variables, home, "db", "migrate").stdout == "up to date\n"
    assert run(variables, home, "db", "url").stdout == as_url(url) + "\n"
    status = json.loads(run(variables, home, "db", "status", "--json").stdout)
    assert status["place"] == redact_passwords(url)
    assert run(variables, home, "db", "backup", "all.dump").returncode == 0
    done = run(variables, home, "db", "restore", "all.dump", "--replace", "--yes")
    # PgBouncer keeps its server connections open after its clients have left.
    assert "stop Jobmill, any connection pooler" in done.stderr


@pytest.mark.parametrize("command", [("web",), ("up", "--no-demo")])
async def test_the_processes_serve_pages_through_the_pooler(
    command: tuple[str, ...], variables: dict[str, str], home: Path, pooler_url: str
) -> None:
    running = Running(command, home, variables)
    try:
        running.up()
        assert f"web pages through {redact_passwords(pooler_url)}" in running.lines["database"]
        async with running.client() as client:
            answers = await ask(client, ["/activity"] * 40)
        assert {status for _, status in answers} == {200}
        assert count_transactions(pooler_url) >= len(answers)
        running.tell()
        assert running.ended() == 0
    finally:
        running.close()
