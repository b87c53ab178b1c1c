"""Two real servers with synchronous streaming replication, from the bundled programs."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from jobmill.db import account, binaries

STANDBY = "standby"
ANSWER_LIMIT = 60
"""Seconds for a statement or a program of the harness itself; it should fail, never hang."""


class PostgresServer:
    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.socket = folder / "socket"
        self._bin = binaries.find_folder()
        folder.mkdir(parents=True)
        self.socket.mkdir()
        self._account = account.choose_account(self.data, self._bin)
        for path in (folder, self.socket):
            self._account.take_ownership(path)
        self._log = folder / "server.log"
        self._process: subprocess.Popen[bytes] | None = None

    def initialize(self) -> None:
        self._run("initdb", "-D", self.data, "-U", "jobmill", "--auth=trust", "--no-sync")

    def copy_from(self, primary: PostgresServer) -> None:
        """Become a standby of `primary`, up to date and streaming once started."""
        origin = f"host={primary.socket} user=jobmill application_name={STANDBY}"
        self._run("pg_basebackup", "-D", self.data, "-d", origin, "-R", "-c", "fast", "--no-sync")

    def start(self) -> None:
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.socket),
            "fsync": "off",
            "max_connections": "200",
            "wal_receiver_timeout": "0",
            "wal_retrieve_retry_interval": "200ms",
        }
        flags = [flag for name, value in options.items() for flag in ("-c", f"{name}={value}")]
        self._command = [*self._account.prefix, self._bin / "postgres", "-D", self.data, *flags]
        self._launch()
        self.wait_for("SELECT 1")

    def _launch(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env=binaries.clean_environment(),
                **self._account.popen(),
            )

    def url(self, **more: str) -> str:
        return make_conninfo("", host=str(self.socket), user="jobmill", dbname="postgres", **more)

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        options = f"-c statement_timeout={ANSWER_LIMIT}s"
        url = self.url(connect_timeout="2", options=options)
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def freeze(self) -> None:
        """Freeze the server: connections stay open, and its socket still accepts new ones."""
        self._signal_all(signal.SIGSTOP)

    def kill(self) -> None:
        if self._process is not None:
            self._signal_all(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _signal_all(self, number: signal.Signals) -> None:
        """Send a signal to the postmaster first, so that it starts no more children, then to its children."""
        assert self._process
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for process in [pid, *map(int, children)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def _run(self, program: str, *arguments: str | Path) -> None:
        subprocess.run(
            [*self._account.prefix, self._bin / program, *arguments],
            check=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_LIMIT,
            env=binaries.clean_environment(),
            **self._account.popen(),
        )

    def wait_for(self, query: str) -> None:
        """Repeat a query until it returns a row."""
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(psycopg.Error):
                if self.execute(query):
                    return
            if self._process and self._process.poll() is not None:
                # A backend that was forked while its server was killed still holds the shared memory.
                self._launch()
            assert time.monotonic() < deadline, f"{query} has no answer"
            time.sleep(0.05)


class Replicas:
    """A primary that commits only what its standby has, and a URL that finds the current primary."""

    def __init__(self, folder: Path) -> None:
        self.primary = PostgresServer(folder / "a")
        self.standby = PostgresServer(folder / "b")
        self.writable = self.primary
        self.url = make_conninfo(
            "",
            host=f"{self.primary.socket},{self.standby.socket}",
            user="jobmill",
            dbname="postgres",
            target_session_attrs="read-write",
        )

    def start(self) -> None:
        self.primary.initialize()
        self.primary.start()
        self._replicate()

    def _replicate(self) -> None:
        """Make the standby a copy of the primary that has all it commits."""
        self.standby.copy_from(self.primary)
        self.standby.start()
        self.primary.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{STANDBY}'")
        self.primary.execute("SELECT pg_reload_conf()")
        self.primary.wait_for("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")

    def promote(self) -> None:
        self.standby.execute("SELECT pg_promote()")
        self.writable = self.standby

    def replace_primary(self) -> None:
        """After a failover: the promoted server is the primary, the other its new standby."""
        self.primary, self.standby = self.standby, self.primary
        self.standby.kill()
        shutil.rmtree(self.standby.data)
        self._replicate()

    def stop(self) -> None:
        self.primary.kill()
        self.standby.kill()


@contextmanager
def replicas(folder: Path) -> Iterator[Replicas]:
    pair = Replicas(folder)
    try:
        pair.start()
        yield pair
    finally:
        pair.stop()
