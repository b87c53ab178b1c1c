"""A real PgBouncer in front of the server of a test."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row

from jobmill.db.account import choose_account

SERVER_CONNECTIONS = 2
"""Fewer than the clients have, so that consecutive transactions of a client change servers."""

START_LIMIT = 10.0


def find_pgbouncer() -> str:
    """The program; the test is skipped if it is not installed."""
    program = shutil.which("pgbouncer") or shutil.which("/usr/sbin/pgbouncer")
    if not program:
        pytest.skip("PgBouncer is not installed: apt-get install pgbouncer")
    return program


@contextmanager
def pgbouncer(
    direct_url: str,
    folder: Path,
    *,
    pool_mode: str = "transaction",
    server_connections: int = SERVER_CONNECTIONS,
) -> Iterator[str]:
    """Start PgBouncer; yields a connection string to the same database through it."""
    program = find_pgbouncer()
    folder.mkdir()
    direct = conninfo_to_dict(direct_url)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    ini, log = folder / "pgbouncer.ini", folder / "pgbouncer.log"
    ini.write_text(_configuration(direct, port, pool_mode, server_connections))
    server_folder = Path(str(direct.get("host", "")))
    # PgBouncer refuses to run as root, and must reach the socket of the server.
    account = choose_account(
        server_folder if server_folder.is_absolute() else folder, Path(program).parent
    )
    for path in (folder, ini):
        account.take_ownership(path)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*account.prefix, program, str(ini)], stdout=output, stderr=output, **account.popen()
        )
    parameters = {name: direct[name] for name in ("dbname", "user") if name in direct}
    url = make_conninfo("", host="127.0.0.1", port=port, **parameters)
    try:
        _wait_until_ready(url, process, log)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def count_transactions(pooler_url: str) -> int:
    """How many transactions clients have run through PgBouncer so far."""
    name = conninfo_to_dict(pooler_url)["dbname"]
    console = make_conninfo(pooler_url, dbname="pgbouncer")
    with psycopg.connect(console, autocommit=True, row_factory=dict_row) as connection:
        rows = connection.execute("SHOW STATS").fetchall()
    return sum(row["total_xact_count"] for row in rows if row["database"] == name)


def _configuration(
    direct: dict[str, str | int | None], port: int, pool_mode: str, server_connections: int
) -> str:
    # With auth_type=any, PgBouncer logs in as this user for every client.
    names = ("host", "port", "user", "password")
    target = " ".join(f"{name}='{direct[name]}'" for name in names if direct.get(name))
    return f"""
[databases]
* = {target}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {pool_mode}
default_pool_size = {server_connections}
max_client_conn = 200
"""


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_LIMIT
    while True:
        try:
            psycopg.connect(url, connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"PgBouncer did not start:\n{log.read_text()}")
            time.sleep(0.05)
