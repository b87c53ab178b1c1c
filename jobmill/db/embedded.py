"""The bundled PostgreSQL server: the first process that needs it starts it, the last one stops it.

Next to the data folder are three files that are only locked (flock) and never read. The kernel releases a
lock when the process that holds it dies, so `kill -9` leaves nothing to clean up.

- `….turn`    held while a process starts or stops the server
- `….in-use`  shared by every process that uses the server
- `….alive`   inherited by the server and all its children; free only when none of them is left
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg

from jobmill.db import binaries
from jobmill.db.account import Account, choose_account
from jobmill.errors import Conflict, Unavailable

NAME = "jobmill"
ADMIN = "jobmill"
"""The superuser, which only creates the database."""
ROLE = "jobmill_app"
"""The owner of the database, which everything else connects as."""

PORT = 5432  # Not a TCP port: it is only a part of the socket's name.
START_LIMIT = 600.0  # Recovery after a crash may take long.
STOP_LIMIT = 60.0
CREATE_LIMIT = 60.0
ORPHAN_LIMIT = 2.0
KILL_LIMIT = 10.0
MAX_LOG_FILES = 5
SOCKET_PATH_LIMIT = 107 if sys.platform == "linux" else 103
INCLUDE_LINE = "include_if_exists = 'jobmill.conf'"


@dataclass(frozen=True)
class ServerStatus:
    running: bool
    pid: int | None
    version: int | None
    data: Path
    url: str


@dataclass(frozen=True)
class _Postmaster:
    pid: int
    socket: str
    ready: bool


class EmbeddedServer:
    """One PostgreSQL data folder and the server that may run on it."""

    def __init__(
        self, data: Path, bin: Path | None = None, *, durable: bool = True, connections: int = 100
    ) -> None:
        self.data = data.resolve()
        self._bin = bin
        self._durable = durable
        self._connections = connections
        self._share: int | None = None

    @contextlib.contextmanager
    def use(self) -> Generator[str]:
        """Yield the URL of a running server, which keeps running until the block ends."""
        url = self.start()
        try:
            yield url
        finally:
            self.release()

    def start(self) -> str:
        """Start the server, or use the running one, until `release`; may be called again."""
        with self._turn():
            share = self._share if self._share is not None else self._lock("in-use", fcntl.LOCK_SH)
            try:
                server = self._start_or_adopt()
            except BaseException:
                if self._share is None:
                    os.close(share)
                raise
            self._share = share
            return _url(server.socket)

    def release(self) -> None:
        """Stop using the server; the last process to do so stops it."""
        if self._share is None:
            return
        with self._turn():
            os.close(self._share)
            self._share = None
            with contextlib.suppress(BlockingIOError):
                os.close(self._lock("in-use", fcntl.LOCK_EX | fcntl.LOCK_NB))
                self._stop()

    def stop(self) -> None:
        """Stop the server even if other processes use it."""
        with self._turn():
            self._stop()

    def status(self) -> ServerStatus:
        """The current status; starts nothing and does not wait."""
        server = self._postmaster()
        return ServerStatus(
            running=server is not None and server.ready,
            pid=server.pid if server else None,
            version=self._version(),
            data=self.data,
            url=_url(server.socket if server else str(self._socket_folder())),
        )

    def maintain(self) -> None:
        """Restart the server if it died, and delete the oldest logs; long-running processes call it."""
        if self._postmaster() is None:
            self.start()
        self._delete_old_logs()

    def _start_or_adopt(self) -> _Postmaster:
        for last in (False, False, True):
            server = self._adopt() or self._launch()
            try:
                _ensure_database(server)
            except psycopg.OperationalError as error:
                # A server that is shutting down looks alive for a moment.
                gone = _wait(lambda looked=server: self._postmaster() != looked, ORPHAN_LIMIT)
                if last or not gone:
                    raise Unavailable(f"PostgreSQL runs but does not answer: {error}") from error
            else:
                return server
        raise AssertionError

    def _adopt(self) -> _Postmaster | None:
        """Wait for the server of another process to be ready; None if there is none."""
        if self._postmaster() is None and self._children_left():
            self._clear_orphans()
        return self._wait_ready()

    def _wait_ready(self) -> _Postmaster | None:
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline:
            server = self._postmaster()
            if server is not None and server.ready:
                return server
            if server is None and not self._children_left():
                return None
            time.sleep(0.02)
        raise Unavailable(f"PostgreSQL did not become ready: {self._read_log_tail()}")

    def _launch(self) -> _Postmaster:
        bin = binaries.find_folder(self._bin, major=self._version())
        account = choose_account(self.data, bin)
        if self._version() is None:
            self._create(bin, account)
        elif self._version() != binaries.read_major_version(bin):
            raise Conflict(
                f"PostgreSQL {self._version()} created {self.data}, but {bin} has version "
                f"{binaries.read_major_version(bin)}: set postgres_bin to the old version, run `jobmill db "
                "backup FILE`, move the data folder away, and run `jobmill db restore FILE` with the new one"
            )
        alive = self._lock("alive", fcntl.LOCK_EX)
        try:
            # The server that wrote these files is gone. Their process id belongs to a zombie or to another
            # program now, and PostgreSQL would mistake it for a running server.
            socket = self._make_socket_folder(account)
            (self.data / "postmaster.pid").unlink(missing_ok=True)
            (socket / f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)
            self._configure(account, socket)
            self._spawn(bin, account, alive)
        finally:
            os.close(alive)
        server = self._wait_ready()
        if server is None:
            raise Unavailable(f"PostgreSQL did not start: {self._read_log_tail()}")
        return server

    def _spawn(self, bin: Path, account: Account, alive: int) -> None:
        with (self.data / "start.log").open("wb") as log:
            # The shell exits at once, so the server is not a child of this process and does not become a
            # zombie. pg_ctl is no option: it passes the path of the data folder to a shell.
            command = [*account.prefix, str(bin / "postgres"), "-D", str(self.data)]
            subprocess.run(
                ["/bin/sh", "-c", '"$@" &', "sh", *command],
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=binaries.clean_environment(),
                pass_fds=(alive,),
                start_new_session=True,
                **account.popen(),
            )

    def _create(self, bin: Path, account: Account) -> None:
        if self.data.exists() and any(self.data.iterdir()):
            raise Conflict(f"{self.data} is neither empty nor a PostgreSQL data folder")
        # A crash must not leave an incomplete folder that looks complete, so rename it at the end.
        new = self._beside("new")
        alive = self._lock("alive", fcntl.LOCK_EX)
        try:
            if new.exists():
                shutil.rmtree(new)
            new.mkdir(mode=0o700)
            account.take_ownership(new)
            self._initdb(bin, account, new, alive)
            new.rename(self.data)
            sync_folder(self.data.parent)
        finally:
            os.close(alive)

    def _initdb(self, bin: Path, account: Account, folder: Path, alive: int) -> None:
        builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        done = subprocess.run(
            [
                *account.prefix,
                str(bin / "initdb"),
                *("-D", str(folder), "-U", ADMIN, "-E", "UTF8", "--auth=trust"),
                *(builtin if binaries.read_major_version(bin) >= 17 else []),
                *([] if self._durable else ["--no-sync"]),
            ],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=binaries.clean_environment(),
            pass_fds=(alive,),
            **account.popen(),
        )
        if done.returncode != 0:
            raise Unavailable(f"PostgreSQL cannot create {folder}: {done.stderr.strip()[-500:]}")

    def _configure(self, account: Account, socket: Path) -> None:
        main = self.data / "postgresql.conf"
        if INCLUDE_LINE not in main.read_text().splitlines():
            with main.open("a") as file:
                file.write(f"\n{INCLUDE_LINE}\n")
        new = self.data / "jobmill.conf.new"
        new.write_text(self._conf(socket))
        new.chmod(0o600)
        account.take_ownership(new)
        new.rename(self.data / "jobmill.conf")

    def _conf(self, socket: Path) -> str:
        lines = {
            "listen_addresses": "",
            "port": PORT,
            "unix_socket_directories": '"{}"'.format(str(socket).replace('"', '""')),
            "unix_socket_permissions": "0700",
            "max_connections": self._connections,
            "shared_buffers": "128MB",
            "max_wal_size": "2GB",
            "jit": "off",
            # Rows of queue tables change quickly, so vacuum must not wait a minute.
            "autovacuum_naptime": "10s",
            "idle_in_transaction_session_timeout": "10min",
            "synchronous_commit": "on",
            # Every log file has a new name; `_delete_old_logs` keeps the last few.
            "logging_collector": "on",
            "log_directory": "log",
            "log_filename": "%Y-%m-%d_%H%M%S.log",
            "log_rotation_size": "10MB",
            "log_rotation_age": "1d",
            "log_checkpoints": "off",
        }
        if not self._durable:
            lines |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        written = [f"{name} = '{_escaped(str(text))}'\n" for name, text in lines.items()]
        return (
            "# Rewritten at every start. Put your settings into postgresql.conf, after the include line.\n"
            + "".join(written)
        )

    def _stop(self) -> None:
        server = self._postmaster()
        if server is None:
            return
        # First a fast shutdown, which ends sessions and writes everything out; then an immediate one, which
        # leaves that to recovery at the next start. Neither loses a commit.
        for signal_number, limit in ((signal.SIGINT, STOP_LIMIT), (signal.SIGQUIT, 10.0)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(server.pid, signal_number)
            if _wait(lambda: self._postmaster() is None and not self._children_left(), limit):
                self._drop_socket_folder(Path(server.socket))
                return
        raise Unavailable(f"PostgreSQL (process {server.pid}) did not stop")

    def _postmaster(self) -> _Postmaster | None:
        """Read postmaster.pid; None unless its process is alive and works in this data folder."""
        try:
            lines = (self.data / "postmaster.pid").read_text(errors="surrogateescape").splitlines()
            pid, socket = int(lines[0]), lines[4]
        except (OSError, ValueError, IndexError):
            return None
        if not _runs_in(pid, self.data):
            return None
        return _Postmaster(pid, socket, ready=len(lines) > 7 and lines[7].strip() == "ready")

    def _children_left(self) -> bool:
        """Whether any process of the server is alive, as they all hold this lock."""
        try:
            os.close(self._lock("alive", fcntl.LOCK_SH | fcntl.LOCK_NB))
        except BlockingIOError:
            return True
        return False

    def _clear_orphans(self) -> None:
        """Kill the backends of a killed server; a busy one would notice only after its query."""
        # If there is no data yet, it is an initdb that will end by itself.
        limit = CREATE_LIMIT if self._version() is None else ORPHAN_LIMIT
        if _wait(lambda: self._postmaster() is not None or not self._children_left(), limit):
            return
        for pid in _processes():
            if _is_postgres(pid) and _runs_in(pid, self.data):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if not _wait(lambda: not self._children_left(), KILL_LIMIT):
            raise Unavailable(
                f"processes that this one cannot see still use {self.data} "
                "(in another container?): end them first"
            )

    def _version(self) -> int | None:
        try:
            return int((self.data / "PG_VERSION").read_text().split(".")[0])
        except (OSError, ValueError):
            return None

    def _socket_folder(self, uid: int | None = None) -> Path:
        """The data folder, which is private; or a short private folder if its path is not usable."""
        if _fits(self.data):
            return self.data
        uid = os.geteuid() if uid is None else uid
        name = f"{NAME}-{uid}-{hashlib.sha256(os.fsencode(self.data)).hexdigest()[:12]}"
        places = [tempfile.gettempdir(), "/tmp"]
        if uid == os.geteuid():
            places.insert(0, os.environ.get("XDG_RUNTIME_DIR", ""))
        for place in places:
            if place and os.access(place, os.W_OK) and _fits(Path(place) / name):
                return Path(place) / name
        raise Unavailable(
            f"no folder has a path short enough for a socket: tried {', '.join(places)}"
        )

    def _make_socket_folder(self, account: Account) -> Path:
        folder = self._socket_folder(account.uid)
        if folder == self.data:
            return folder
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            account.take_ownership(folder)
        info = folder.lstat()
        private = stat.S_ISDIR(info.st_mode) and not info.st_mode & 0o077
        if not private or info.st_uid != account.uid:
            raise Unavailable(
                f"{folder}, the folder for the socket of PostgreSQL, is not private: remove it"
            )
        return folder

    def _drop_socket_folder(self, folder: Path) -> None:
        if folder != self.data:
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _delete_old_logs(self) -> None:
        for path in sorted((self.data / "log").glob("*.log"))[:-MAX_LOG_FILES]:
            path.unlink(missing_ok=True)

    def _read_log_tail(self) -> str:
        start = self.data / "start.log"
        logs = sorted((self.data / "log").glob("*.log"))[-1:]
        if start.exists():
            began = start.stat().st_mtime_ns
            logs = [start, *(path for path in logs if path.stat().st_mtime_ns >= began)]
        text = "".join(path.read_text(errors="replace") for path in logs)
        return " | ".join(text.strip().splitlines()[-5:]) or "there is no log"

    @contextlib.contextmanager
    def _turn(self) -> Generator[None]:
        try:
            # The server may run as another user than root, and must be able to enter the folder.
            mode = 0o711 if os.geteuid() == 0 else 0o700
            self.data.parent.mkdir(mode=mode, parents=True, exist_ok=True)
            turn = self._lock("turn", fcntl.LOCK_EX)
        except OSError as error:
            raise Unavailable(f"cannot store data in {self.data.parent}: {error}") from error
        try:
            yield
        finally:
            os.close(turn)

    def _lock(self, name: str, operation: int) -> int:
        """Lock one of the lock files; closing the returned descriptor unlocks it."""
        file = os.open(self._beside(name), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, operation)
        except BaseException:
            os.close(file)
            raise
        return file

    def _beside(self, suffix: str) -> Path:
        return self.data.with_name(f"{self.data.name}.{suffix}")


def _ensure_database(server: _Postmaster) -> None:
    """Create the database and its role, which is no superuser: those may run programs on this machine."""
    with _connect_as_admin(server, "postgres") as admin:
        if admin.execute("SELECT FROM pg_roles WHERE rolname = %s", [ROLE]).rowcount == 0:
            admin.execute("CREATE ROLE jobmill_app LOGIN CREATEDB")
        owner = admin.execute(
            "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = %s", [NAME]
        ).fetchone()
        if owner is None:
            admin.execute("CREATE DATABASE jobmill OWNER jobmill_app")
        elif owner != (ROLE,):
            _give_database_to_role(server)


def _give_database_to_role(server: _Postmaster) -> None:
    """Earlier versions used the superuser for everything."""
    with _connect_as_admin(server, NAME) as admin, admin.transaction():
        statements = admin.execute(
            """
            WITH ours AS (
                SELECT oid, nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema$)'
            )
            SELECT format('ALTER SCHEMA %I OWNER TO jobmill_app', nspname) FROM ours
             WHERE nspname <> 'public'
            UNION ALL
            SELECT format('ALTER TABLE %I.%I OWNER TO jobmill_app', nspname, relname)
              FROM pg_class JOIN ours ON ours.oid = relnamespace
             WHERE relkind IN ('r', 'p', 'v', 'm')
                OR relkind = 'S' AND NOT EXISTS (SELECT FROM pg_depend AS d
                                                  WHERE d.objid = pg_class.oid AND d.deptype IN ('a', 'i'))
            UNION ALL
            SELECT format('ALTER ROUTINE %s OWNER TO jobmill_app', pg_proc.oid::regprocedure)
              FROM pg_proc JOIN ours ON ours.oid = pronamespace
            UNION ALL
            SELECT format('ALTER TYPE %I.%I OWNER TO jobmill_app', nspname, typname)
              FROM pg_type JOIN ours ON ours.oid = typnamespace WHERE typtype IN ('e', 'd')
            UNION ALL
            SELECT 'ALTER DATABASE jobmill OWNER TO jobmill_app'
            """
        ).fetchall()
        for (statement,) in statements:
            admin.execute(statement)


def _connect_as_admin(server: _Postmaster, database: str) -> psycopg.Connection:
    url = _url(server.socket, database, ADMIN)
    return psycopg.connect(url, autocommit=True, connect_timeout=10)


def _url(socket: str, database: str = NAME, role: str = ROLE) -> str:
    return f"postgresql://{role}@/{database}?host={quote(socket, safe='/')}&port={PORT}"


def _fits(folder: Path) -> bool:
    """Whether the path is usable for a socket: short, and without a comma, which separates hosts."""
    name = str(folder / f".s.PGSQL.{PORT}")
    return len(os.fsencode(name)) <= SOCKET_PATH_LIMIT and name.isprintable() and "," not in name


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "''")


def _runs_in(pid: int, folder: Path) -> bool:
    """Whether a process is alive and works in this folder, as all processes of the server do."""
    if not Path("/proc/self/cwd").exists():
        return _is_alive(pid)
    try:
        # A zombie still accepts signals but has no working directory.
        return os.path.samefile(f"/proc/{pid}/cwd", folder)
    except OSError:
        return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return error.errno == errno.EPERM
    return True


def _is_postgres(pid: int) -> bool:
    try:
        return Path(os.readlink(f"/proc/{pid}/exe")).name == "postgres"
    except OSError:
        return False


def _processes() -> list[int]:
    if not Path("/proc").is_dir():
        return []
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _wait(done: Callable[[], bool], limit: float) -> bool:
    deadline = time.monotonic() + limit
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def sync_folder(folder: Path) -> None:
    """Make new and renamed entries of a folder survive a power failure."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
