from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from jobmill.cli.support import environment
from jobmill.db import CONNECTION_ERRORS, Database, migrate
from jobmill.settings import Settings
from tests.cli.conftest import Jobmill
from tests.cli.forked import as_url


def test_an_external_database_is_described(jobmill: Jobmill, url: str) -> None:
    done = jobmill("db", "status", "--json", DATABASE_URL=as_url(url))
    status = json.loads(done.stdout)
    assert (status["kind"], status["running"]) == ("external", True)
    assert status["applied"] == list(migrate.list_migrations())
    assert (status["pending"], status["unknown"]) == ([], [])
    assert status["bytes"] > 1_000_000
    assert 0 < status["connections"] <= status["max_connections"]
    assert jobmill("db", "url", DATABASE_URL=as_url(url)).stdout == as_url(url) + "\n"


def several_hosts(url: str) -> str:
    """A key-value conninfo with two hosts, of which only the second responds."""
    parts = conninfo_to_dict(url)
    hosts = {"host": f"127.0.0.1,{parts['host']}", "port": f"1,{parts['port']}"}
    return make_conninfo(url, target_session_attrs="read-write", **hosts)


def test_every_command_accepts_a_key_value_conninfo(jobmill: Jobmill, home: Path, url: str) -> None:
    pairs = {"DATABASE_URL": several_hosts(url)}
    status = json.loads(jobmill("db", "status", "--json", **pairs).stdout)
    assert (status["running"], status["place"]) == (True, several_hosts(url))
    doctor = json.loads(jobmill("doctor", "--json", **pairs).stdout)
    assert [check["result"] for check in doctor if check["subject"] == "database"] == ["ok"]
    for command in (
        ("db", "migrate"),
        ("db", "psql", "-c", "CREATE TABLE note ()"),
        ("db", "backup", home / "all.dump"),
        ("db", "restore", home / "all.dump", "--replace", "--yes"),
        ("db", "psql", "-c", "SELECT FROM note"),
        ("queue", "stats"),
    ):
        done = jobmill(*command, **pairs)
        assert done.returncode == 0, (command, done.stderr)


def test_a_key_value_conninfo_is_printed_as_a_url(jobmill: Jobmill, url: str) -> None:
    pairs = several_hosts(url)
    printed = jobmill("db", "url", DATABASE_URL=pairs).stdout.strip()
    assert printed.startswith("postgresql://")
    assert conninfo_to_dict(printed) == conninfo_to_dict(pairs)
    with psycopg.connect(printed) as connection:
        assert connection.info.dbname == conninfo_to_dict(url)["dbname"]


def test_the_bundled_database_is_described_without_starting_it(
    jobmill: Jobmill, home: Path
) -> None:
    done = jobmill("db", "status", "--json")
    assert json.loads(done.stdout)["running"] is False
    done = jobmill("db", "url")
    assert "not running" in done.stderr
    assert done.stdout.startswith("postgresql://jobmill_app@/jobmill?host=")
    assert not (home / "data").exists()


def test_backup_and_restore_of_the_bundled_database(jobmill: Jobmill, home: Path) -> None:
    assert jobmill("db", "migrate").stdout.startswith("applied 0001")
    assert jobmill("db", "migrate").stdout == "up to date\n"
    assert json.loads(jobmill("db", "migrate", "--json").stdout) == {"applied": []}
    sql(jobmill, "CREATE TABLE note (text text); INSERT INTO note VALUES ('kept')")

    done = jobmill("db", "backup", home / "a b.dump", "--json")
    assert json.loads(done.stdout)["bytes"] == (home / "a b.dump").stat().st_size
    assert jobmill("db", "backup", home / "a b.dump").returncode == 4
    sql(jobmill, "UPDATE note SET text = 'changed'")

    done = jobmill("db", "restore", home / "a b.dump")
    assert (done.returncode, "--replace" in done.stderr) == (4, True)
    done = jobmill("db", "restore", home / "a b.dump", "--replace", stdin="n\n")
    assert (done.returncode, "will be lost" in done.stderr) == (1, True)
    assert sql(jobmill, "SELECT text FROM note") == "changed"
    assert jobmill("db", "restore", home / "a b.dump", "--replace", "--yes").returncode == 0
    assert sql(jobmill, "SELECT text FROM note") == "kept"
    assert json.loads(jobmill("db", "status", "--json").stdout)["running"] is False


def sql(jobmill: Jobmill, statement: str) -> str:
    done = jobmill("db", "psql", "--no-psqlrc", "-qtA", "-c", statement)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_psql_passes_on_its_exit_code(jobmill: Jobmill, url: str) -> None:
    done = jobmill("db", "psql", "-c", "SELECT 1/0", DATABASE_URL=as_url(url))
    assert done.returncode == 1
    assert "division by zero" in done.stderr


def test_a_missing_file_is_exit_code_3(jobmill: Jobmill, url: str) -> None:
    done = jobmill("db", "restore", "nowhere.dump", DATABASE_URL=as_url(url))
    assert (done.returncode, done.stderr) == (3, "jobmill: the file nowhere.dump does not exist\n")


def test_a_newer_database_is_refused(jobmill: Jobmill, url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO jobmill_migration VALUES ('9999_later.sql', 'x')")
    done = jobmill("db", "migrate", DATABASE_URL=as_url(url))
    assert (done.returncode, "newer Jobmill" in done.stderr) == (4, True)
    status = json.loads(jobmill("db", "status", "--json", DATABASE_URL=as_url(url)).stdout)
    assert status["unknown"] == ["9999_later.sql"]


async def test_an_open_database_is_migrated_and_survives_a_server_restart(home: Path) -> None:
    settings = Settings(data_dir=home / "data")
    bundled = environment.bundled_server(settings)
    assert bundled is not None
    async with environment.open_database(settings) as database:
        async with database.transaction() as tx:
            assert [*await migrate.list_applied(tx)] == [*migrate.list_migrations()]
            await tx.execute("CREATE TABLE note ()")
        killed = bundled.status().pid
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        async with asyncio.timeout(30):
            while bundled.status().pid in (None, killed):
                await asyncio.sleep(0.05)
        await wait_for_note(database)
    assert not bundled.status().running


async def wait_for_note(database: Database) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                async with database.transaction() as tx:
                    await tx.execute("SELECT FROM note")
                return
            except CONNECTION_ERRORS:
                await asyncio.sleep(0.05)
