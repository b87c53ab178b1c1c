"""Real PostgreSQL for every test that needs one.

`tx`        a transaction rolled back at the end: fast, for one connection
`url`       a database of the test's own, by its URL: for whole processes
`database`  the same, opened: for commits and concurrency

`@pytest.mark.server_clock(ahead)` makes the server's clock of `url` and `database` differ from ours.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import LiteralString

import argon2
import psycopg
import pytest
from hypothesis import HealthCheck, settings
from psycopg import sql
from psycopg.conninfo import make_conninfo

from jobmill import db
from jobmill.db import Database, Tx, connect, embedded
from jobmill.db.embedded import EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.people import passwords
from jobmill.web import site

from . import compiled_templates, server_clock
from .cli import forked
from .parallel import (  # noqa: F401 - Hooks of pytest.
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_runtestloop,
)

# Searching a growing heap for garbage takes half of the time that collecting the tests takes.
gc.disable()

# How long an example takes depends on what else the machine does. Fixtures are databases, which the
# examples of a test share. A list in a test's own settings would replace this one.
settings.register_profile(
    "jobmill",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("jobmill")

MEMORY = Path("/dev/shm")
ROOM = 4 * 10**9


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.add_cleanup(compiled_templates.use_shared_folder().cleanup)
    if session.config.getoption("processes") > 1:
        forked.start_shared_server()


def pytest_collection_finish() -> None:
    gc.freeze()
    # What a test leaves is small beside what the product loads: rarer collections take 5% less CPU time.
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """Hash passwords at the lowest cost: the real one takes a tenth of a second and 64 MB."""
    cheap = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "HASHER", cheap)
        patch.setattr(passwords, "DUMMY_HASH", cheap.hash("an unknown password"))
        yield


@pytest.fixture(scope="session", autouse=True)
def patient_pages() -> Iterator[None]:
    """Pages wait long for the database: on a busy machine it is slow, not gone. Tests of the limit set it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(site.create_app.__kwdefaults__, "database_timeout", 60.0)
        patch.setattr(db, "CHECK_LIMIT", 15.0)
        yield


@pytest.fixture(scope="session")
def scratch() -> Iterator[Path]:
    """A folder for servers, in memory if there is room, which is ten times faster."""
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM
    with tempfile.TemporaryDirectory(dir=MEMORY if roomy else None) as folder:
        yield Path(folder)


@pytest.fixture
def home(scratch: Path) -> Iterator[Path]:
    """A folder for a separate server of one test."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def server(scratch: Path) -> Iterator[str]:
    """A server for temporary databases: bundled, or the one in JOBMILL_TEST_DATABASE_URL."""
    if external := os.environ.get("JOBMILL_TEST_DATABASE_URL"):
        yield external
        return
    with EmbeddedServer(scratch / "shared" / "postgres", durable=False).use() as url:
        server = make_conninfo(url, dbname="postgres")
        # Tests forge old and changed rows, past the triggers that prevent it.
        run(
            as_superuser(server),
            "GRANT SET ON PARAMETER session_replication_role TO {}",
            embedded.ROLE,
        )
        # It would visit every database, and none lives long enough to need it.
        run(as_superuser(server), "ALTER SYSTEM SET autovacuum = off")
        run(as_superuser(server), "SELECT pg_reload_conf()")
        yield server
        close_connections(server)


@pytest.fixture(scope="session")
def superuser(server: str) -> str:
    """The URL of the server for its superuser."""
    return as_superuser(server)


def as_superuser(url: str) -> str:
    external = os.environ.get("JOBMILL_TEST_DATABASE_URL")
    return url if external else make_conninfo(url, user=embedded.ADMIN)


@pytest.fixture(scope="session")
async def template(server: str) -> AsyncIterator[str]:
    """The name of a migrated database that tests clone."""
    name = f"template_{uuid.uuid4().hex}"
    run(server, "CREATE DATABASE {}", name)
    async with await psycopg.AsyncConnection.connect(server, dbname=name) as tx:
        await migrate(tx)
    yield name
    drop(server, name)


@contextmanager
def clone(server: str, template: str) -> Iterator[str]:
    """A database like the template, by its URL."""
    name = f"test_{uuid.uuid4().hex}"
    run(server, "CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", name, template)
    yield make_conninfo(server, dbname=name)
    drop(server, name)


@pytest.fixture(scope="session")
def rolled_back(server: str, template: str) -> Iterator[str]:
    """One database for all tests that are rolled back. Sequences advance there nevertheless; those of the
    template start at 1 for every test."""
    with clone(server, template) as url:
        yield url


@pytest.fixture
async def tx(rolled_back: str) -> AsyncIterator[Tx]:
    async with await psycopg.AsyncConnection.connect(rolled_back) as connection:
        yield connection
        await connection.rollback()


@pytest.fixture
def url(server: str, template: str, request: pytest.FixtureRequest) -> Iterator[str]:
    marker = request.node.get_closest_marker("server_clock")
    with clone(server, template) as url:
        if marker:
            server_clock.shift(url, *marker.args)
        yield url


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    async with connect(url) as database:
        yield database


def drop(server: str, name: str) -> None:
    """As a superuser, because only one may end a vacuum that is under way."""
    run(as_superuser(server), "DROP DATABASE {} WITH (FORCE)", name)


def run(server: str, statement: LiteralString, *names: str) -> None:
    """Run a statement outside of transactions, on a connection that is kept for the next one."""
    connection_to(server).execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@cache
def connection_to(server: str) -> psycopg.Connection:
    return psycopg.connect(server, autocommit=True)


def close_connections(server: str) -> None:
    for url in {server, as_superuser(server)}:
        connection_to(url).close()
    connection_to.cache_clear()
